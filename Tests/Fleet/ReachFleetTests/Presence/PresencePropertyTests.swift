import Glibc
import ReachCore
import ReachFleet
import Testing

/// What readers say of the past against what was true.
@Suite struct PresencePropertyTests {
    /// `REACH_FLEET_SEEDS=10000` for a long run.
    private static let seeds = getenv("REACH_FLEET_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 500

    /// A renewal that is missed and reconnecting: a shorter absence may go unnoticed, and its edges are so exact.
    private static let edge = 62
    /// The longest wait before an agent tries again.
    private static let wait = 310

    @Test func `no figure contradicts what was true, and what nobody can know is unknown`() throws {
        try Self.expectNone("second") { Self.fault($0) }
    }

    @Test func `all who speak of a host's past say the same`() throws {
        try Self.expectNone("its") { Self.contradiction($0) }
    }

    private static func expectNone(_ what: String, _ fault: (SimulatedPresence) -> String?) throws {
        var faults: [String] = []
        for seed in 0..<seeds {
            if let fault = fault(try SimulatedPresence(seed: seed)) { faults.append("seed \(seed), \(what) \(fault)") }
        }
        #expect(faults.prefix(3) == [], "\(faults.count) of \(seeds)")
    }

    // MARK: - The truth

    private static func fault(_ world: SimulatedPresence) -> String? {
        let claims = claims(world.evidence.past)
        // So often that every interval that counts is looked at.
        for time in stride(from: 0, to: claims.count, by: 7) where !isRight(claims[time], at: time, world) {
            return "\(time): \(claims[time]), and it was \(world.truth[time]): \(world.evidence.words)"
        }
        return nil
    }

    private static func isRight(_ claim: PresenceInterval.Word, at time: Int, _ world: SimulatedPresence) -> Bool {
        let last = world.truth.count - 1
        let near = world.truth[max(0, time - edge)...min(time + edge, last)]
        let before = world.truth[max(0, time - wait)...time]
        // Of two machines with one identity either is here.
        let isCopied = world.copy.map { $0.overlaps(time - wait..<time + edge + 1) } ?? false
        // When one of them ends its connection, nothing tells whether the other's lasts, until that ends as well.
        let wasCopied = world.copy.map { $0.lowerBound <= time } ?? false
        switch claim {
        case .here: return near.contains { $0 == .here || $0 == .serverAway } || isCopied
        case .limited: return near.contains { $0 == .limited || $0 == .away }
        case .away:
            // A host that has its path again is away until it has tried again.
            return near.contains { $0 == .away || $0 == .limited } || before.contains(.away) || wasCopied
        case .left: return near.contains(.off) || before.contains(.off) || wasCopied
        case .unknown:
            return near.contains(.serverAway) || before.contains(.serverAway) || time < max(3600, world.dropped + wait)
        }
    }

    /// The word of each second.
    private static func claims(_ past: HostPast) -> [PresenceInterval.Word] {
        var words = [PresenceInterval.Word](repeating: .unknown, count: SimulatedPresence.length)
        for interval in past.intervals {
            let start = interval.start.map(second) ?? 0
            let end = interval.end.map(second) ?? words.count
            for index in max(0, start)..<max(0, start, min(end, words.count)) { words[index] = interval.word }
        }
        for span in past.unknown {
            let start = span.lowerBound == .min ? 0 : max(0, second(Timestamp(nanosecondsSince1970: span.lowerBound)))
            let end = min(words.count, second(Timestamp(nanosecondsSince1970: span.upperBound)))
            for index in start..<max(start, end) { words[index] = .unknown }
        }
        return words
    }

    private static func second(_ time: Timestamp) -> Int {
        Int((time.nanosecondsSince1970 - at(0).nanosecondsSince1970) / 1_000_000_000)
    }

    // MARK: - All mouths

    private static func contradiction(_ world: SimulatedPresence) -> String? {
        let (past, claims) = (world.evidence.past, claims(world.evidence.past))
        let away = claims.count { $0 == .away || $0 == .limited }
        let none = claims.count { $0 == .unknown || $0 == .left }
        let figures = world.evidence.availability
        // Whole seconds of each interval's edges.
        let exactness = Duration.seconds(2 * past.intervals.count + 2)
        func differs(_ time: Duration, _ seconds: Int) -> Bool { abs(time - .seconds(seconds)) > exactness }
        if differs(figures.down, away) { return "report: down \(figures.down), and the intervals have \(away) s" }
        if differs(figures.unknown, none) { return "report: unknown \(figures.unknown), intervals \(none) s" }
        if let fault = present(world, past) { return fault }
        return strip(past, claims)
    }

    private static func present(_ world: SimulatedPresence, _ past: HostPast) -> String? {
        let presence = world.evidence.roster.hosts[0].presence(world.evidence.engine)
        let words: [PresenceInterval.Word] =
            switch presence.word {
            case .here: [.here, .unknown]
            case .limited: [.limited, .unknown]
            // Who has gone a moment ago may be reconnecting.
            case .silent: presence.isNew(world) ? [.away, .here, .unknown] : [.away]
            case .left: [.left]
            case .unseen: [.unknown]
            }
        guard let last = past.intervals.last, !words.contains(last.word) else { return nil }
        return "status: \(presence.word), and the last interval is \(last.word)"
    }

    /// The page's bar has 48 half-hours, of which twelve are simulated.
    private static func strip(_ past: HostPast, _ claims: [PresenceInterval.Word]) -> String? {
        let strip = AbsenceStrip.text(past, asOf: at(Double(SimulatedPresence.length)), known: at(0))
        for (index, cell) in (strip ?? String(repeating: "0", count: AbsenceStrip.cells)).suffix(12).enumerated() {
            let words = claims[index * 1800..<(index + 1) * 1800]
            let cellStart = at(Double(index * 1800)), cellEnd = at(Double((index + 1) * 1800))
            let isAway = past.intervals.contains {
                ($0.word == .away || $0.word == .limited) && $0.start ?? cellStart < cellEnd
                    && $0.end ?? cellEnd > cellStart
            }
            let isKnown = words.contains { $0 != .unknown && $0 != .left }
            let isRight =
                switch cell {
                case "0": !isAway
                case "1", "2": isAway
                default: !isKnown || index == 0 || words.contains(.unknown)
                }
            if !isRight { return "page: half-hour \(index) is \(cell), intervals \(Set(words))" }
        }
        return nil
    }
}

extension HostPresence {
    fileprivate func isNew(_ world: SimulatedPresence) -> Bool {
        since.map { $0.duration(to: world.evidence.engine.now) <= .seconds(60) } ?? false
    }
}

private func abs(_ time: Duration) -> Duration { time < .zero ? .zero - time : time }
