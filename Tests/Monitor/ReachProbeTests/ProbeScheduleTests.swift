import ReachCore
import ReachProbe
import Testing

@Suite struct ProbeScheduleTests {
    private static let interval = Duration.seconds(30)

    private static func grid(_ probe: String = "web", machine: String = "machine") -> ProbeGrid {
        ProbeGrid(interval: interval, machine: machine, probe: probe)
    }

    private static func time(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    private static func schedule(at start: BootTime = time(1000)) -> ProbeSchedule {
        ProbeSchedule(interval: interval, failingInterval: .seconds(5), grid: grid(), now: start)
    }

    @Test func `the phases of 500 probes are spread over 30 s, stable over a restart, and differ by machine`() {
        func starts(_ machine: String) -> [Int64] {
            (0..<500).map { number in
                Self.grid("probe-\(number)", machine: machine).tick(after: Self.time(86_400)).time.nanoseconds
            }
        }
        let first = starts("4c4c4544")
        #expect(first == starts("4c4c4544"))
        #expect(zip(first, starts("4c4c4545")).count { abs($0 - $1) < 100_000_000 } < 20)
        var buckets: [Int64: Int] = [:]
        for start in first { buckets[(start - 86_400_000_000_000) / 1_000_000_000, default: 0] += 1 }
        let mean = 500.0 / 30
        #expect(Double(buckets.values.max() ?? 0) <= 3 * mean)
        #expect(buckets.count >= 30)
    }

    @Test func `ticks keep the interval on average, and each is at most a twentieth off`() {
        let grid = Self.grid()
        let first = grid.tick(after: Self.time(500))
        var offsets: [Int64] = []
        for number in first.number..<first.number + 10_000 {
            offsets.append(
                grid.time(of: number).nanoseconds - first.time.nanoseconds - (number - first.number) * 30_000_000_000)
        }
        #expect((offsets.max() ?? 0) - (offsets.min() ?? 0) <= 3_000_000_000)
        #expect((offsets.max() ?? 0) - (offsets.min() ?? 0) > 2_900_000_000)
        let mean = offsets.reduce(0, +) / Int64(offsets.count) - ((offsets.max() ?? 0) + (offsets.min() ?? 0)) / 2
        #expect(abs(mean) < 50_000_000)
    }

    @Test func `a tick never comes twice, whenever the grid is queried`() {
        let grid = Self.grid()
        var random = SeededTimes(seed: 7)
        var now = Self.time(10)
        var last: Int64 = -1
        for _ in 0..<10_000 {
            let tick = grid.tick(after: now)
            #expect(tick.time > now)
            #expect(tick.number >= last)
            last = tick.number
            now = tick.time + .nanoseconds(random.next(below: 40_000_000_000))
        }
    }

    @Test func `the next tick comes from the grid, never from the end of an attempt`() throws {
        var schedule = Self.schedule()
        for _ in 0..<50 {
            let due = try #require(schedule.deadline)
            #expect(schedule.timeReached(at: BootTime(nanoseconds: due.nanoseconds - 1)) == false)
            #expect(schedule.timeReached(at: due) == true)
            schedule.begin(at: due)
            schedule.finish(failures: 0, at: due + .seconds(4))
            let next = try #require(schedule.deadline)
            #expect(next == Self.grid().tick(after: due).time)
        }
    }

    @Test func `a tick during an attempt is skipped and counted`() throws {
        var schedule = Self.schedule()
        let first = try #require(schedule.deadline)
        #expect(schedule.timeReached(at: first) == true)
        schedule.begin(at: first)
        let second = try #require(schedule.deadline)
        #expect(schedule.timeReached(at: second) == false)
        #expect(schedule.skipped == 1)
        schedule.finish(failures: 0, at: second + .seconds(1))
        #expect(schedule.deadline == Self.grid().tick(after: second).time)
    }

    @Test func `a probe that missed 100 ticks while paused makes up for them with one attempt`() throws {
        var schedule = Self.schedule()
        schedule.pause(at: Self.time(1010))
        #expect(schedule.deadline == nil)
        #expect(schedule.timeReached(at: Self.time(2000)) == false)
        let back = Self.time(1010 + 100 * 30)
        #expect(schedule.resume(at: back) == true)
        schedule.begin(at: back)
        schedule.finish(failures: 0, at: back + .milliseconds(10))
        let next = try #require(schedule.deadline)
        #expect(next == Self.grid().tick(after: back).time)
        #expect(schedule.timeReached(at: BootTime(nanoseconds: next.nanoseconds - 1)) == false)
    }

    @Test func `a pause in which nothing was due causes no extra attempt`() throws {
        var schedule = Self.schedule()
        let due = try #require(schedule.deadline)
        schedule.pause(at: Self.time(1000.1))
        #expect(schedule.resume(at: Self.time(1000.2)) == false)
        #expect(schedule.deadline == due)
    }

    @Test func `an attempt that a pause made void is made up for`() throws {
        var schedule = Self.schedule()
        let due = try #require(schedule.deadline)
        #expect(schedule.timeReached(at: due) == true)
        schedule.begin(at: due)
        schedule.pause(at: due + .seconds(1))
        #expect(schedule.resume(at: due + .seconds(2)) == true)
        #expect(schedule.resume(at: due + .seconds(2)) == false)
    }

    @Test func `an hour of sleep leads to one attempt, not 120`() throws {
        var schedule = Self.schedule()
        let woken = Self.time(1000 + 3600)
        #expect(schedule.timeReached(at: woken) == true)
        schedule.begin(at: woken)
        schedule.finish(failures: 0, at: woken + .milliseconds(5))
        #expect(schedule.timeReached(at: woken + .milliseconds(6)) == false)
        #expect(try #require(schedule.deadline) > woken)
    }

    @Test func `after failures attempts follow three times at 5 s, then at doubling distances up to the interval`()
        throws
    {
        var schedule = Self.schedule()
        let due = try #require(schedule.deadline)
        #expect(schedule.timeReached(at: due) == true)
        schedule.begin(at: due)
        var start = due
        var distances: [Double] = []
        for failures in 1...7 {
            schedule.finish(failures: failures, at: start + .milliseconds(100))
            let next = try #require(schedule.deadline)
            if next != Self.grid().tick(after: start).time { distances.append((next - start) / .seconds(1)) }
            #expect(schedule.timeReached(at: next) == true)
            schedule.begin(at: next)
            start = next
        }
        #expect(distances.allSatisfy { [5.0, 10.0, 20.0].contains($0) })
        #expect(distances.starts(with: [5.0, 5.0, 5.0]))
        #expect(distances.contains(10.0))
    }

    @Test func `random histories follow the rules`() {
        for seed in UInt64(1)...40 { ScheduleWalk(seed: seed).run() }
    }
}

/// Times drawn from a seed.
struct SeededTimes {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next(below limit: Int64) -> Int64 {
        state = StableHash.mix(state)
        return Int64(state % UInt64(limit))
    }
}

/// Drives a schedule at random and checks its promises.
private struct ScheduleWalk {
    private var random: SeededTimes
    private var now = BootTime(nanoseconds: 5_000_000_000_000)
    private var schedule: ProbeSchedule
    private var isRunning = false

    init(seed: UInt64) {
        random = SeededTimes(seed: seed)
        let grid = ProbeGrid(interval: .seconds(10), machine: "m", probe: "p\(seed)")
        schedule = ProbeSchedule(interval: .seconds(10), failingInterval: .seconds(2), grid: grid, now: now)
    }

    func run() {
        var walk = self
        for _ in 0..<3000 { walk.step() }
    }

    private mutating func step() {
        now = now + .nanoseconds(random.next(below: 3_000_000_000))
        switch random.next(below: 8) {
        case 0:
            schedule.pause(at: now)
            isRunning = false
            #expect(schedule.deadline == nil)
        case 1:
            let wasPaused = schedule.isPaused
            if schedule.resume(at: now) {
                #expect(wasPaused && !isRunning)
                isRunning = true
                schedule.begin(at: now)
            }
            #expect(!schedule.isPaused)
        case 2...4 where isRunning:
            isRunning = false
            schedule.finish(failures: Int(random.next(below: 6)), at: now)
        default:
            let wasDue = schedule.deadline.map { $0 <= now } ?? false
            let starts = schedule.timeReached(at: now)
            #expect(starts == (wasDue && !isRunning))
            if starts {
                isRunning = true
                schedule.begin(at: now)
            }
        }
        if let deadline = schedule.deadline { #expect(deadline - now <= .seconds(21)) }
    }
}

@Suite struct StartToleranceTests {
    private static func specifications(_ count: Int, every interval: Duration) throws -> [ProbeSpecification] {
        try (0..<count).map { try ControllerScene.specification("p\($0)", every: interval) }
    }

    /// What one of these probes gets, in milliseconds.
    private static func tolerance(_ count: Int, every interval: Duration) throws -> Double {
        let all = try specifications(count, every: interval)
        return Double(StartTolerance(of: all).time(for: all[0]).nanoseconds) / 1e6
    }

    @Test func `some eight attempts are due within the tolerance, and it is never longer than a person notices`() throws
    {
        #expect(try Self.tolerance(3, every: .seconds(30)) == 50)
        #expect(try Self.tolerance(1000, every: .seconds(10)) == 50)
        #expect(abs(try Self.tolerance(10_000, every: .seconds(60)) - 48) < 0.1)
        #expect(abs(try Self.tolerance(10_000, every: .seconds(10)) - 8) < 0.1)
    }

    @Test func `a short interval gets no more than its jitter`() throws {
        #expect(try Self.tolerance(3, every: .milliseconds(200)) == 10)
        #expect(
            StartTolerance(of: []).time(for: try Self.specifications(1, every: .seconds(30))[0]) == .milliseconds(50))
    }
}

@Suite struct ProbeAdmissionTests {
    /// All that get a turn, one after the other.
    private static func turns(_ admission: inout ProbeAdmission<Int>) -> [Int] {
        var order: [Int] = []
        while let id = admission.next() {
            order.append(id)
            admission.release(id)
        }
        return order
    }

    @Test func `those who wait come in the order of their last requests, and those who withdrew never`() {
        var admission = ProbeAdmission<Int>(limit: 1)
        let starts = (0...1000).filter { admission.request($0) }
        #expect(starts == [0])
        for id in 1...1000 where id % 3 != 0 { admission.release(id) }
        #expect(admission.waitingCount == 333)
        let isNow = admission.request(1)
        #expect(!isNow)
        admission.release(0)
        #expect(Self.turns(&admission) == (1...333).map { $0 * 3 } + [1])
        #expect(admission.runningCount == 0 && admission.waitingCount == 0)
    }

    @Test func `who withdraws and asks again many times gets one turn, at the end`() {
        var admission = ProbeAdmission<Int>(limit: 1)
        let starts = [-1, 7].filter { admission.request($0) }
        #expect(starts == [-1])
        for _ in 0..<200 {
            for id in 0..<5 { _ = admission.request(id) }
            for id in 0..<5 { admission.release(id) }
        }
        for id in 0..<5 { _ = admission.request(id) }
        admission.release(-1)
        #expect(Self.turns(&admission) == [7, 0, 1, 2, 3, 4])
    }
}
