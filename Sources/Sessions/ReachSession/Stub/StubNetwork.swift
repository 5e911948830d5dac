internal import ReachCore
internal import ReachLoop
internal import ReachQueueRuntime

/// The network of a ``StubTransport``: every target is reachable over one link, or none is. Confined to the loop.
final class StubNetwork: QueueNetwork {
    private let loop: EventLoop
    private var link: LinkClass?
    private var epoch: UInt64 = 1
    private var networkHandlers: [UInt64: (NetworkSnapshot?) -> Void] = [:]
    private var targetHandlers: [UInt64: (target: Target, handle: (TargetEvent) -> Void)] = [:]
    private var lastNumber: UInt64 = 0
    private let loopReference = LoopReference<StubNetwork>()

    init(_ transport: StubTransport, on loop: EventLoop) {
        self.loop = loop
        link = transport.link
        loopReference.owner = self
        transport.observe { [loopReference, mailbox = loop.mailbox] link in
            mailbox.post { _ in loopReference.owner?.change(to: link) }
        }
    }

    deinit { loopReference.owner = nil }

    func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void {
        let number = nextNumber()
        networkHandlers[number] = handler
        // Outside the call that begins it, as with an engine.
        loop.afterEvents { [loopReference] in
            guard let self = loopReference.owner else { return }
            self.networkHandlers[number]?(self.snapshot)
        }
        return { [weak self] in self?.networkHandlers[number] = nil }
    }

    func follow(
        _ target: Target, for owner: UInt32?, _ handler: @escaping (TargetEvent) -> Void
    ) -> () -> Void {
        let number = nextNumber()
        targetHandlers[number] = (target, handler)
        loop.afterEvents { [loopReference] in
            guard let self = loopReference.owner else { return }
            self.targetHandlers[number]?.handle(self.event(of: target, before: nil))
        }
        return { [weak self] in self?.targetHandlers[number] = nil }
    }

    func routes(to addresses: [RoutedAddress]) -> [AddressRoute]? { addresses.map { _ in .byDefault() } }

    func followRoutes(to addresses: Set<IPAddress>, _ handler: @escaping () -> Void) -> () -> Void { {} }

    private func change(to link: LinkClass?) {
        guard link != self.link else { return }
        let before = targetHandlers.mapValues { state(of: $0.target) }
        self.link = link
        epoch += 1
        for handler in networkHandlers.values { handler(snapshot) }
        for (number, watch) in targetHandlers { watch.handle(event(of: watch.target, before: before[number])) }
    }

    private func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: - Values

    private static let interface: (index: InterfaceIndex, name: String) = (1, "stub")

    private var snapshot: NetworkSnapshot {
        let families: [IPAddress.Family] = link == nil ? [] : [.ipv4, .ipv6]
        let routes = families.map { family in
            DefaultRoute(
                key: DefaultRoute.Key(family: family, interface: Self.interface.index), name: Self.interface.name,
                traits: PathTraits(linkClass: link ?? .other, isMetered: link == .wwan))
        }
        return NetworkSnapshot(internet: verdict, epoch: epoch, routes: routes)
    }

    private var verdict: Verdict { Verdict(ipv4: path, ipv6: path) }

    private var path: NetworkPath {
        guard let link else { return NetworkPath(status: .notReachable, reason: .noRoute) }
        var path = NetworkPath(status: .reachable)
        path.interface = Self.interface.name
        path.interfaceIndex = Self.interface.index
        path.linkClass = link
        path.isMetered = link == .wwan
        return path
    }

    private func state(of target: Target) -> ReachabilityState {
        var state = ReachabilityState(target: target, since: SystemClock.now.wall)
        state.adopt(verdict)
        state.epoch = epoch
        return state
    }

    private func event(of target: Target, before: ReachabilityState?) -> TargetEvent {
        .change(
            ReachabilityChange(
                at: SystemClock.now, cause: before == nil ? .start : link == nil ? .linkDown : .linkUp,
                aspects: before == nil ? [] : [.status],
                previous: before, state: state(of: target)))
    }
}
