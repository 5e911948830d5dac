package import ReachCore

/// The snapshot of the network, and who watches it.
extension ReachabilityEngine {
    package typealias NetworkHandler = (NetworkSnapshot?) -> Void

    /// The last snapshot; `nil` before the first, while the kernel cannot be observed, and without handlers.
    var network: NetworkSnapshot? { networkWatches.snapshot }

    /// Calls `handler` with every new snapshot of the network, and at once with the current one if there is one; with
    /// `nil` while the kernel cannot be observed. The handler may call ``setConnectivity(_:)``, and must not release
    /// the engine.
    ///
    /// Without handlers no snapshot is made, since each link that the kernel does not prefer costs lookups.
    ///
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func watchNetwork(_ handler: @escaping NetworkHandler) -> UInt64 {
        let id = watches.newNumber()
        networkWatches.add(id, handler)
        // Before the first evaluation the network is not known yet: nothing is reported, not even `nil`.
        if observationError != nil {
            handler(nil)
        } else if let network {
            handler(network)
        } else {
            publishNetwork()
            noteSupport()
        }
        return id
    }

    /// Makes a snapshot from the last verdict, and publishes it if it differs from the one before.
    func publishNetwork() {
        guard !networkWatches.isEmpty, let view = observer?.view, let internet = internet.verdict else { return }
        do throws(NetlinkError) {
            let finder = finder(in: view)
            let routes = try finder.defaultRoutes(preferred: internet, anchors: options.anchors)
            let hasNewGateways = try view.noteGateways(of: routes)
            let forgotten = view.forgetGateways(besides: routes)
            if hasNewGateways || mayCarry(forgotten, routes) { return evaluate([NetworkTable.Effect(cause: .network)]) }
            send(
                NetworkSnapshot(
                    internet: internet, epoch: self.internet.epoch, routes: view.table.addingGateways(to: routes),
                    links: try finder.connectedLinks(), ownAddresses: view.table.globalAddresses))
            if neighbours.setGateways(of: routes) { neighbours.track(through: observer) }
        } catch {
            observer?.recover(from: error)
        }
    }

    /// Publishes a snapshot if it differs from the one before; `nil` while the kernel cannot be observed.
    func send(_ snapshot: NetworkSnapshot?) {
        if networkWatches.update(snapshot) { networkWatches.send(snapshot) }
    }
}

extension ReachabilityEngine {
    /// The options of an engine, which ``apply(_:because:)`` replaces.
    package struct Options: Sendable {
        /// The reference addresses, which stand for the Internet.
        package var anchors: [IPAddress] = ReferenceAddresses.standard
        /// The time for which a change of status must last before it is reported.
        package var holdDown = HoldDown()
        /// The firewall mark of the packets whose paths count; `nil` for packets without one.
        package var mark: UInt32?
        /// The host by which the Internet is reached where no default route leads to it: a name or an address.
        package var proxy: Target?
        /// The options of the observer, including the policy for the classes of links.
        package var observer = KernelObserver.Options()
        /// The time for which the last state stays, marked stale, once the kernel can no longer be observed. Then the
        /// state is unknown. It is long enough for a resync in a storm.
        package var stalePatience: Duration = .seconds(10)
        /// The time that a new watch waits for its name to be resolved, before it begins with "unknown".
        package var namePatience: Duration = .seconds(2)

        /// What is known of the leases of links at the start; `nil` where no one reads leases.
        package var leases: LeaseFindings?

        package init() {}
    }
}

/// Who watches the network, and the snapshot that they have. Confined to the loop.
final class NetworkWatches {
    typealias Handler = (NetworkSnapshot?) -> Void

    /// The last snapshot; `nil` before the first, while the kernel cannot be observed, and without handlers.
    private(set) var snapshot: NetworkSnapshot?
    private var handlers: [(id: UInt64, handler: Handler)] = []

    var isEmpty: Bool { handlers.isEmpty }

    func add(_ id: UInt64, _ handler: @escaping Handler) { handlers.append((id, handler)) }

    func remove(_ id: UInt64) {
        handlers.removeAll { $0.id == id }
        if handlers.isEmpty { snapshot = nil }
    }

    /// - Returns: Whether the handlers need it: it differs from the one before, or there is none.
    func update(_ snapshot: NetworkSnapshot?) -> Bool {
        guard snapshot == nil || snapshot != self.snapshot else { return false }
        self.snapshot = snapshot
        return true
    }

    /// Calls the handlers that no earlier handler has removed.
    func send(_ snapshot: NetworkSnapshot?) {
        for (id, handler) in handlers where handlers.contains(where: { $0.id == id }) { handler(snapshot) }
    }
}
