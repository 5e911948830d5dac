internal import ReachCore

/// The random waits before connecting, so that many hosts do not come back in the same second.
struct ReconnectDelay: Sendable {
    /// The longest wait after this host's own path returned.
    static let afterPath: Duration = .seconds(5)
    static let longest: Duration = .seconds(300)
    static let firstRefusal: Duration = .seconds(300)
    static let longestRefusal: Duration = .seconds(3600)

    private let host: String
    private let spread: Duration
    private var random: SplitMix64
    private var ceiling: Duration?
    private var refusals = 0

    /// - Parameters:
    ///   - spread: The longest first wait after the engine went away.
    ///   - seed: For the random part.
    init(host: String, spread: Duration, seed: UInt64) {
        self.host = host
        self.spread = spread
        random = SplitMix64(seed: seed)
    }

    mutating func reset() {
        ceiling = nil
        refusals = 0
    }

    /// The wait after the engine went away or did not answer: the first within `spread`, then doubling with full
    /// jitter.
    ///
    /// - Parameter server: A text that all hosts of the lost server know alike. Each host then has its place in the
    ///   spread by its own hash, which fills the time evenly.
    mutating func afterLoss(of server: String?) -> Duration {
        guard let ceiling else {
            self.ceiling = max(spread, .seconds(1))
            return spread * (server.map { StableHash.fraction(of: host, $0) } ?? fraction())
        }
        let next = min(ceiling * 2, Self.longest)
        self.ceiling = next
        return next * fraction()
    }

    mutating func afterPathReturned() -> Duration { Self.afterPath * fraction() }

    /// The wait after the server refused the key: 5 min, doubling to 1 h, a tenth of it random.
    mutating func afterRefusal() -> Duration {
        let wait = min(Self.firstRefusal * (1 << min(refusals, 4)), Self.longestRefusal)
        refusals += 1
        return wait * (0.9 + 0.1 * fraction())
    }

    private mutating func fraction() -> Double { Double(random.next() >> 11) * 0x1p-53 }
}
