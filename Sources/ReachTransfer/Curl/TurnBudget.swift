/// How much of one answer is read before everything else on the loop is looked at again: a value; the attempt counts.
///
/// libcurl reads a hundred times 16 KiB before it returns. In chunks of one byte each that is 270,000 pieces, and takes as
/// long as a second, while the kernel's notices wait. So an attempt is held back after so much of it; and one that makes
/// more work than it brings bytes is then left alone for a while, so that it costs a small share of a processor.
struct TurnBudget: Equatable {
    /// When to go on reading.
    enum Pause: Equatable {
        /// After whatever else is ready now.
        case turn
        /// After ``restTime``.
        case rest
    }

    /// A number of its own for each turn, by which the counts begin again.
    private var turn: UInt64 = 0
    /// Pieces of a body in this turn, however small.
    private var pieces = 0
    private var payload = 0
    /// Bytes from the connection in this turn, framing included.
    private var wire = 0
    private var allPayload = 0
    private var allWire = 0

    /// 256 pieces take less than a millisecond.
    private static let pieceLimit = 256
    private static let byteLimit = 512 << 10
    /// Less payload for each piece is a waste of time.
    private static let usefulPiece = 64
    /// For an attempt that wastes time: it then reads at most one buffer in each, some 16 KiB. Several share it.
    static let restTime: Duration = .milliseconds(25)
    /// Of framing, over the whole answer, where the payload is less than a quarter of it. A server that sends one byte a
    /// chunk is ended after 3 million of them.
    private static let overheadLimit = 16 << 20

    mutating func begin(turn: UInt64) {
        if self.turn != turn { (self.turn, pieces, payload, wire) = (turn, 0, 0, 0) }
    }

    /// - Parameter count: Bytes of the body.
    mutating func addPiece(_ count: Int) {
        pieces += 1
        payload += count
        allPayload += count
    }

    /// - Parameter count: Bytes as they came, chunk sizes and all.
    mutating func addWire(_ count: Int) {
        wire += count
        allWire += count
    }

    /// What the attempt has to do now; `nil` while it may go on reading.
    var pause: Pause? {
        if pieces >= Self.pieceLimit, payload < pieces * Self.usefulPiece { return .rest }
        if wire >= Self.byteLimit / 2, payload < wire / 4 { return .rest }
        return pieces >= Self.pieceLimit || max(payload, wire) >= Self.byteLimit ? .turn : nil
    }

    /// Hardly anything but framing for long.
    var isAbsurd: Bool { allWire - allPayload > Self.overheadLimit && allPayload < (allWire - allPayload) / 4 }
}
