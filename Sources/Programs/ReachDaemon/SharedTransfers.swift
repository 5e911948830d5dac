internal import ReachLoop
internal import ReachTransfer

/// The transfer engine that probes and connectivity checks share. Confined to the loop.
///
/// The engine is created at the first transfer, so a daemon that sends nothing has none. The queue has an engine of its
/// own, whose transfers may outlive a network change.
final class SharedTransfers {
    private let loop: EventLoop
    private var created: TransferEngine?

    init(loop: EventLoop) { self.loop = loop }

    /// - Throws: If libcurl is not available.
    func engine() throws(TransferFailure) -> TransferEngine {
        if let created { return created }
        let engine = try TransferEngine(loop: loop)
        created = engine
        // libcurl and its libraries were loaded just now.
        StartPages.releaseSoon(on: loop)
        return engine
    }

    /// Discards open connections and resolved names after a network change.
    func newEpoch() { created?.newEpoch() }
}
