internal import ReachCore
internal import ReachLoop

/// Spreads the pauses of what wastes the loop's time: of each owner one connection resumes at a time, however many it
/// has. Confined to the loop.
final class RestLines {
    private let loop: EventLoop
    private var resting: [ConnectionOwner: Int] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// Calls `resume` after a pause.
    func rest(_ owner: ConnectionOwner, _ resume: @escaping () -> Void) {
        let count = resting[owner, default: 0] + 1
        resting[owner] = count
        loop.schedule(at: SystemClock.boot + TurnBudget.restTime * count) { [weak self] in
            if let self, let count = resting[owner] { resting[owner] = count > 1 ? count - 1 : nil }
            resume()
        }
    }
}

/// Limits what all transfers decode in one turn of the loop: a connection's piece is some kilobytes, and may stand for
/// megabytes. Confined to the loop.
final class DecodingShares {
    private let loop: EventLoop
    private var turn: UInt64 = 0
    private var decoded = 0

    /// Some two milliseconds.
    private static let limit = 2 << 20

    init(loop: EventLoop) { self.loop = loop }

    func addDecoded(_ count: Int) {
        if turn != loop.turn { (turn, decoded) = (loop.turn, 0) }
        decoded += count
    }

    /// Whether there is nothing left in this turn.
    var isSpent: Bool { turn == loop.turn && decoded >= Self.limit }
}
