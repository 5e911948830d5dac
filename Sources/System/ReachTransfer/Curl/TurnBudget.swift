/// Limits how much of one response is read before everything else on the loop has a turn. A value; the attempt counts.
///
/// libcurl reads 16 KiB a hundred times before it returns. In chunks of one byte each that is 270,000 pieces, and takes
/// up to a second, while the kernel's notices wait. So an attempt is held back after a part of it. A response that
/// causes much work for few bytes is paused for a while, so that it costs a small share of a processor.
struct TurnBudget: Equatable {
    /// When to resume reading.
    enum Pause: Equatable {
        /// After everything that is ready now.
        case turn
        /// After ``restTime``.
        case rest
    }

    /// The number of the turn that the counts are of.
    private var turn: UInt64 = 0
    /// Pieces of a body in this turn, however small.
    private var pieces = 0
    private var payload = 0
    /// Bytes from the connection in this turn, framing included.
    private var wire = 0
    /// Bytes of a compressed body as received.
    private var encoded = 0
    private var allPayload = 0
    private var allWire = 0

    /// 256 pieces take less than a millisecond.
    private static let pieceLimit = 256
    private static let byteLimit = 512 << 10
    /// The same for content that is decoded, which takes two milliseconds.
    private static let decodedLimit = 2 << 20
    /// Bytes of payload a piece; less is a waste of time.
    private static let usefulPiece = 64
    /// The pause of an attempt that wastes time: it reads at most one buffer, some 16 KiB, between two pauses. Several
    /// attempts take turns.
    static let restTime: Duration = .milliseconds(25)
    /// The most bytes of framing in a response whose payload is less than a quarter of that. A response with one byte a
    /// chunk ends after 3 million chunks.
    private static let overheadLimit = 16 << 20
    /// The same of a compressed body that stands for hardly anything, which no encoder makes.
    private static let nothingLimit = 4 << 20

    /// A body that grows more than so many times is decoded between pauses.
    private static let usualGrowth = 64

    mutating func begin(turn: UInt64) {
        if self.turn != turn { (self.turn, pieces, payload, wire) = (turn, 0, 0, 0) }
    }

    /// - Parameter count: Bytes of the body.
    mutating func addPiece(_ count: Int) {
        pieces += 1
        payload += count
        allPayload += count
    }

    /// - Parameter count: Bytes as received, with the framing.
    mutating func addWire(_ count: Int) {
        wire += count
        allWire += count
    }

    /// - Parameter count: Bytes of a compressed body, as received.
    mutating func addEncoded(_ count: Int) {
        encoded += count
        // It may stand for nothing.
        wire += count
    }

    /// How the attempt has to pause now; `nil` while it may read.
    var pause: Pause? {
        if pieces >= Self.pieceLimit, payload < pieces * Self.usefulPiece { return .rest }
        if wire >= Self.byteLimit / 2, payload < wire / 4 { return .rest }
        let isMuch = payload >= (encoded > 0 ? Self.decodedLimit : Self.byteLimit) || wire >= Self.byteLimit
        guard pieces >= Self.pieceLimit || isMuch else { return nil }
        return afterContent
    }

    /// The pause of a response that is ordinary, but for how much it grows when it is decoded.
    var afterContent: Pause { encoded > 0 && allPayload / Self.usualGrowth > encoded ? .rest : .turn }

    /// Whether the response consists almost entirely of framing.
    var isMostlyFraming: Bool {
        let (overhead, nothing) = (allWire - allPayload, encoded - allPayload)
        return overhead > Self.overheadLimit && allPayload < overhead / 4
            || nothing > Self.nothingLimit && allPayload < nothing / 4
    }
}
