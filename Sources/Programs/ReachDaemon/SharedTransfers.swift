internal import ReachLoop
internal import ReachTransfer

/// The transfer engine that probes and connectivity checks share. Confined to the loop.
///
/// The engine is created at the first transfer, so a daemon that sends nothing has none. The queue has an engine of its
/// own, whose transfers may outlive a network change.
final class SharedTransfers {
    private let loop: EventLoop
    private var created: TransferEngine?
    /// Chooses the interface for queries to a name server, of probes and checks that are bound to an interface.
    var serverRoute: NameService.ServerRoute?

    init(loop: EventLoop) { self.loop = loop }

    /// - Throws: If libcurl is not available.
    func engine() throws(TransferFailure) -> TransferEngine {
        if let created { return created }
        let engine = try TransferEngine(loop: loop)
        engine.resolver.route = serverRoute
        created = engine
        return engine
    }

    /// Discards open connections and resolved names after a network change.
    func newEpoch() { created?.newEpoch() }
}
