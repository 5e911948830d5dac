package import ReachCore
package import ReachRecords

/// A history that a test writes, with times in seconds.
package struct HistoryScript {
    package private(set) var log = HistoryLog()
    private var boot = "first"
    /// The second of the wall clock when the boot began.
    private var origin = 0

    package init() {}

    /// Restarts the machine while its wall clock shows `origin`.
    package mutating func boot(_ name: String, origin: Int) {
        boot = name
        self.origin = origin
    }

    package mutating func add(_ content: HistoryEntry.Content, at second: Int, wallClockAheadBy skew: Int = 0) {
        let moment = Self.moment(second: second, boot: second - origin, skew: skew)
        log.entries.append(HistoryEntry(content, at: moment, boot: boot))
    }

    package mutating func add(
        _ status: ReachabilityStatus, at second: Int, target: String = "internet", wallClockAheadBy skew: Int = 0
    ) {
        add(.state(HistoryEntry.State(target: target, status: status)), at: second, wallClockAheadBy: skew)
    }

    package mutating func add(_ state: HistoryEntry.State, atMillisecond time: Int) {
        let (wall, boot) = (Int64(time) * 1_000_000, Int64(time - origin * 1000) * 1_000_000)
        let moment = Instant(
            wall: Timestamp(nanosecondsSince1970: wall), boot: BootTime(nanoseconds: boot))
        log.entries.append(HistoryEntry(.state(state), at: moment, boot: self.boot))
    }

    package mutating func lastSeen(at second: Int) { log.lastSeen = .at(second) }

    package func timeline(_ target: String = "internet", since: Int? = nil, now: Int, isRunning: Bool = true)
        -> HistoryTimeline
    {
        HistoryTimeline(
            of: target, in: log, since: since.map { .seconds($0) }, now: self.now(now), boot: boot, isRunning: isRunning
        )
    }

    /// The timeline of any history, which is the same for the same seed.
    package static func randomTimeline(seed: UInt64) -> HistoryTimeline {
        var random = SeededGenerator(seed: seed)
        var script = HistoryScript()
        var second = 0
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            second += Int.random(in: 0...500, using: &random)
            switch Int.random(in: 0...8, using: &random) {
            case 0: script.add(.stopped, at: second)
            case 1: script.add(.started(lastSeen: random.oneIn(2) ? nil : .at(second - 50)), at: second)
            case 2: script.add(.dropped(count: 3), at: second)
            case 3: script.add(.unwatched(target: "internet"), at: second)
            case 4: script.boot("boot \(second)", origin: second)
            default: script.add(random.pick(ReachabilityStatus.allCases), at: second)
            }
        }
        return script.timeline(since: Int.random(in: 1...40_000, using: &random), now: second + 10)
    }

    package func now(_ second: Int) -> Instant { Self.moment(second: second, boot: second - origin, skew: 0) }

    package var currentBoot: String { boot }

    private static func moment(second: Int, boot: Int, skew: Int) -> Instant {
        Instant(wall: .at(second + skew), boot: BootTime(nanoseconds: Int64(boot) * 1_000_000_000))
    }
}

extension Timestamp {
    package static func at(_ second: Int) -> Timestamp {
        Timestamp(nanosecondsSince1970: Int64(second) * 1_000_000_000)
    }
}

extension HistoryTimeline {
    /// The spans as text, such as `0-10 up, 10-20 down`.
    package var shown: String {
        spans.map {
            "\($0.from.nanosecondsSince1970 / 1_000_000_000)-\($0.to.nanosecondsSince1970 / 1_000_000_000) \($0.observation)"
        }.joined(separator: ", ")
    }
}
