internal import ReachLoop
internal import ReachTransfer

/// The one transfer engine of all that the daemon sends by itself: its probes, and its questions to endpoints. Confined to the
/// loop.
///
/// It is made when something is first to be sent, and not for a daemon that sends nothing. The queue has an engine of its own,
/// whose transfers may outlive a change of the network.
final class SharedTransfers {
    private let loop: EventLoop
    private var made: TransferEngine?

    init(loop: EventLoop) { self.loop = loop }

    /// - Throws: Where libcurl cannot be used.
    func engine() throws(TransferFailure) -> TransferEngine {
        if let made { return made }
        let engine = try TransferEngine(loop: loop)
        made = engine
        return engine
    }

    /// The network is another one: connections and name servers' answers of before are not used any more.
    func newEpoch() { made?.newEpoch() }
}
