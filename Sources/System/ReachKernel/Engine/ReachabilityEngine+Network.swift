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
        lastID += 1
        networkWatches.add(lastID, handler)
        let id = lastID
        // Before the first evaluation the network is not known yet: nothing is reported, not even `nil`.
        if observationError != nil {
            handler(nil)
        } else if let network {
            handler(network)
        } else {
            publishNetwork()
        }
        return id
    }

    /// Makes a snapshot from the last verdict, and publishes it if it differs from the one before.
    func publishNetwork() {
        guard !networkWatches.isEmpty, let view = observer?.view, let internet else { return }
        do throws(NetlinkError) {
            let finder = PathFinder(view: view, mark: options.mark)
            let routes = try finder.defaultRoutes(preferred: internet, anchors: options.anchors)
            let hasNewGateways = try view.noteGateways(of: routes)
            let forgotten = view.forgetGateways(besides: routes)
            if hasNewGateways || mayCarry(forgotten, routes) { return evaluate([NetworkTable.Effect(cause: .network)]) }
            // Nothing that was evaluated depends on what was forgotten.
            if !forgotten.isEmpty { _ = view.takeIdentityChange() }
            send(
                NetworkSnapshot(
                    internet: internet, epoch: epoch.value, routes: view.table.addingGateways(to: routes),
                    links: try finder.connectedLinks(), ownAddresses: view.table.globalAddresses))
            if neighbours.setGateways(of: routes) { neighbours.track(through: observer) }
        } catch {
            observer?.recover(from: error)
        }
    }

    /// Publishes a snapshot if it differs from the one before; `nil` while the kernel cannot be observed.
    func send(_ snapshot: NetworkSnapshot?) {
        guard networkWatches.update(snapshot) else { return }
        carryingLinks.forget()
        networkWatches.send(snapshot)
    }
}
