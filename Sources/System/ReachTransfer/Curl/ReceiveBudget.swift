internal import ReachCore

/// Limits what one connection receives below TLS: a value; the caller has the clock and the turns of the loop.
///
/// Records and frames without content, such as new keys of TLS 1.3 or window updates of HTTP/2, end in no callback of
/// libcurl, and OpenSSL and libcurl read on for as long as there are more. So the bytes are counted where they are
/// read. Each read has a price, which content pays back; what is left is framing. A connection that brings much framing
/// rests.
struct ReceiveBudget: Equatable {
    /// What is received in one turn of the loop, whatever it is.
    private static let turnLimit = 512 << 10
    /// The price of a read in bytes: a record takes two reads, and the keys of one take as long as many bytes.
    private static let readPrice = 256
    /// How many bytes a byte of content pays for.
    private static let worth = 4
    /// The framing that may come without content: some thousand frames, two milliseconds.
    private static let capacity = 64 << 10
    /// The time in which ``capacity`` comes back.
    static let restTime = TurnBudget.restTime
    /// The most framing of a connection whose content is less than a quarter of it.
    private static let framingLimit = 4 << 20

    /// How much framing may come now.
    private var left = capacity
    private var refilled: BootTime
    private var turn: UInt64 = 0
    private var inTurn = 0
    /// The price of all that was received, less what content paid back.
    private var framing = 0
    private var received = 0
    private var content = 0

    init(at now: BootTime) { refilled = now }

    /// Begins a turn of the loop.
    ///
    /// - Parameter now: Asked for in a new turn only.
    mutating func begin(turn: UInt64, at now: @autoclosure () -> BootTime) {
        guard self.turn != turn else { return }
        (self.turn, inTurn) = (turn, 0)
        guard left < Self.capacity else { return }
        let now = now()
        let passed = min(max(0, (now - refilled).nanoseconds), Self.restTime.nanoseconds)
        refilled = now
        left = min(Self.capacity, left + Int(Int64(Self.capacity) * passed / Self.restTime.nanoseconds))
    }

    /// Adds bytes as received, encrypted.
    mutating func addRead(_ count: Int) {
        received += count
        inTurn += count
        left -= count + Self.readPrice
        framing += count + Self.readPrice
    }

    /// Adds content that the connection brought or took: lines of heads, and bytes of bodies.
    mutating func addContent(_ count: Int) {
        content += count
        // A compressed body may be a thousand times as long.
        let paid = min(count, Self.capacity) * Self.worth
        left = min(Self.capacity, left + paid)
        framing = max(0, framing - paid)
    }

    var mayRead: Bool { left > 0 && inTurn < Self.turnLimit }

    /// Whether it has to rest before it reads on, and not only to let others have their turn.
    var mustRest: Bool { left <= 0 }

    /// Whether the connection brings framing, and hardly anything else.
    var isMostlyFraming: Bool { framing > Self.framingLimit && content < (received - content) / 4 }
}
