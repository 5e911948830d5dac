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
        var faults: [String] = []
        for seed in 0..<Self.seeds {
            if let fault = Self.fault(try SimulatedPresence(seed: seed)) {
                faults.append("seed \(seed), second \(fault)")
            }
        }
        #expect(faults.prefix(3) == [], "\(faults.count) of \(Self.seeds)")
    }

    private static func fault(_ world: SimulatedPresence) -> String? {
        let claims = claims(world.evidence.past)
        // So often that every interval that counts is looked at.
        for time in stride(from: 0, to: claims.count, by: 7) {
            let near = world.truth[max(0, time - edge)...min(time + edge, claims.count - 1)]
            let before = world.truth[max(0, time - wait)...time]
            let isRight: Bool
            switch claims[time] {
            case .here: isRight = near.contains { $0 == .here || $0 == .serverAway }
            case .limited: isRight = near.contains { $0 == .limited || $0 == .away }
            case .away:
                // A host that has its path again is away until it has tried again.
                isRight = near.contains { $0 == .away || $0 == .limited } || before.contains(.away)
            case .left: isRight = near.contains(.off) || before.contains(.off)
            case .unknown:
                isRight = near.contains(.serverAway) || before.contains(.serverAway) || time < 3600
            }
            if !isRight { return "\(time): \(claims[time]), and it was \(world.truth[time]): \(world.evidence.words)" }
        }
        return nil
    }

    /// The word of each second.
    private static func claims(_ past: HostPast) -> [PresenceInterval.Word] {
        var words = [PresenceInterval.Word](repeating: .unknown, count: SimulatedPresence.length)
        for interval in past.intervals {
            let start = interval.start.map(second) ?? 0
            let end = interval.end.map(second) ?? words.count
            for index in max(0, start)..<max(0, start, min(end, words.count)) { words[index] = interval.word }
        }
        return words
    }

    private static func second(_ time: Timestamp) -> Int {
        Int((time.nanosecondsSince1970 - at(0).nanosecondsSince1970) / 1_000_000_000)
    }
}
