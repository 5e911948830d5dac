import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// The gate as a value: what each event makes of each state.
@Suite struct PathGateTests {
    private let policy = QueuePolicy()
    private var random = SeededGenerator(seed: 3)
    private var gate = PathGate(missing: .validated, at: PathGateTests.at(0))

    private static func at(_ seconds: Double) -> BootTime {
        BootTime(nanoseconds: Int64((seconds * 1e6).rounded()) * 1000 + 1_000_000_000_000)
    }

    private mutating func path(_ path: QueuePath?, at time: Double, isProved: Bool = false) -> PathGate.Change? {
        gate.update(path: path, missing: .path, isProved: isProved, at: Self.at(time), policy, using: &random)
    }

    private mutating func advance(to time: Double, isProved: Bool = false) -> PathGate.Change? {
        gate.advance(to: Self.at(time), isProved: isProved)
    }

    private mutating func start(_ user: UInt32 = 1, at time: Double) {
        gate.canaryStarted(of: user, at: Self.at(time), policy, using: &random)
    }

    private mutating func fail(_ user: UInt32 = 1, at time: Double) {
        gate.canaryFailed(of: user, at: Self.at(time), policy, using: &random)
    }

    /// Seconds until the next canary of the user, to a destination that was tried or to another.
    private func wait(_ user: UInt32 = 1, at time: Double, elsewhere: Bool = false) -> Double {
        guard let record = gate.canaries[user] else { return 0 }
        let last = elsewhere ? BootTime(nanoseconds: .min) : Self.at(time)
        let left = record.next(lastStart: last) - Self.at(time)
        return Double(left.nanoseconds) / 1e9
    }

    @Test mutating func `a path that comes after the first look settles, is tried, and is open when it is proved`() {
        #expect(path(nil, at: 0) == nil)
        #expect(path(.wifi, at: 10) == .gained)
        #expect(advance(to: 10.19) == nil)
        #expect(advance(to: 10.2) == .canary(after: .milliseconds(10_200)))
        #expect(!gate.isOpen && gate.isUnproved)
        start(at: 11.3)
        #expect(gate.prove(at: Self.at(11.31)) == .opened(after: .milliseconds(11_310)))
        #expect(gate.isOpen && gate.canaries.isEmpty)
        #expect(path(nil, at: 12) == .closed(wasOpen: true))
        #expect(path(nil, at: 12) == nil)
    }

    @Test mutating func `a canary that fails delays urgent requests as well, and one that only runs does not`() throws {
        _ = path(nil, at: 0)
        _ = path(.wifi, at: 10)
        _ = advance(to: 10.2)
        start(at: 12)
        #expect(try #require(gate.canaries[1]).urgent <= Self.at(12))
        fail(at: 13)
        let record = try #require(gate.canaries[1])
        #expect(record.urgent == record.next(lastStart: Self.at(13)) && record.urgent >= Self.at(14))
    }

    @Test mutating func `what the first look finds is open at once`() {
        #expect(path(.wifi, at: 1) == .opened(after: .zero))
        #expect(gate.times?.others == Self.at(1))
    }

    @Test mutating func `a path that goes before it has settled or was proved was never open`() {
        _ = path(nil, at: 0)
        _ = path(.wifi, at: 10)
        #expect(path(nil, at: 10.1) == .closed(wasOpen: false))
        _ = path(.wifi, at: 11)
        _ = advance(to: 12)
        #expect(path(nil, at: 13) == .closed(wasOpen: false))
        #expect(gate.since == Self.at(0), "the outage goes on")
    }

    @Test mutating func `a path by which something was answered needs no canary`() {
        _ = path(.wifi, at: 0)
        _ = path(nil, at: 1)
        _ = path(.wifi, at: 5)
        #expect(advance(to: 5.2, isProved: true) == .opened(after: .milliseconds(4200)))
        // Another path of the same condition, which is proved, ends the trial of the first.
        _ = path(nil, at: 6)
        _ = path(.wwan, at: 7)
        _ = advance(to: 8)
        #expect(path(.wired, at: 9, isProved: true) == .opened(after: .seconds(3)))
    }

    @Test mutating func `the first starts are spread over a tenth of the outage, urgent ones over a hundredth`() throws
    {
        for (outage, least) in [(1.0, 0.25), (60, 6), (3600, 60)] {
            _ = path(.wifi, at: 0)
            _ = path(nil, at: 1)
            _ = path(.wifi, at: 1 + outage)
            let times = try #require(gate.times)
            let others = times.others - Self.at(1.2 + outage)
            #expect(others >= .zero && others <= .seconds(least * 1.04), "\(outage): \(others)")
            #expect(times.urgent - Self.at(1 + outage) <= .seconds(least * 0.104), "urgent ones do not settle")
            gate = PathGate(missing: .validated, at: Self.at(0))
        }
    }

    @Test mutating func `the time asleep is no outage, whether the path or the wake is noticed first`() throws {
        for isWakeFirst in [true, false] {
            for seed in UInt64(1)...20 {
                (gate, random) = (PathGate(missing: .validated, at: Self.at(0)), SeededGenerator(seed: seed))
                _ = path(.wifi, at: 0)
                _ = path(nil, at: 10)
                if isWakeFirst { gate.wake(after: .seconds(370), at: Self.at(381), policy) }
                _ = path(.wifi, at: 381)
                if !isWakeFirst { gate.wake(after: .seconds(370), at: Self.at(381.1), policy) }
                let times = try #require(gate.times)
                #expect(times.others <= Self.at(381.2 + 1.2), "a tenth of 11 s")
                #expect(times.urgent <= Self.at(381.12))
                #expect(advance(to: 381.2) == .canary(after: .milliseconds(1200)))
            }
        }
        _ = gate.prove(at: Self.at(382))
        _ = path(nil, at: 400)
        gate.wake(after: .seconds(3600), at: Self.at(4000), policy)
        _ = path(.wifi, at: 4010)
        #expect(advance(to: 4010.2)?.outage == .milliseconds(10_200), "what was slept before is forgotten")
    }

    /// The longest delay after the path has settled, over many random numbers.
    private mutating func longestDelay(
        settled: Double, _ events: (inout PathGateTests) -> Void
    ) throws -> Duration {
        var longest = Duration.zero
        for seed in UInt64(1)...20 {
            (gate, random) = (PathGate(missing: .validated, at: Self.at(0)), SeededGenerator(seed: seed))
            _ = path(.wifi, at: 0)
            events(&self)
            longest = max(longest, try #require(gate.times).others - Self.at(settled))
        }
        return longest
    }

    @Test mutating func `an outage while awake is spread over, although the machine slept in the one before`() throws {
        let longest = try longestDelay(settled: 36_110.2) { test in
            _ = test.path(nil, at: 10)
            test.gate.wake(after: .seconds(28_800), at: Self.at(28_900), test.policy)
            _ = test.path(.wifi, at: 28_909)
            // It is lost before it has settled.
            _ = test.path(nil, at: 28_909.1)
            _ = test.path(.wifi, at: 36_110)
        }
        #expect(longest > .seconds(30), "of sixty")
    }

    @Test mutating func `of a sleep that ended before the path was lost nothing is subtracted`() throws {
        let longest = try longestDelay(settled: 501.2) { test in
            _ = test.path(nil, at: 380.9)
            test.gate.wake(after: .seconds(370), at: Self.at(381), test.policy)
            _ = test.path(.wifi, at: 501)
        }
        #expect(longest > .seconds(6), "a tenth of 120 s")
        #expect(advance(to: 501.2)?.outage == .milliseconds(120_200), "less 0.1 s in which it may have slept")
    }

    @Test mutating func `the delay of a gate that takes part in another's trial outlasts a wake`() throws {
        _ = path(.wifi, at: 0)
        _ = path(nil, at: 1)
        _ = path(.wifi, at: 3601)
        var other = PathGate(missing: .path, at: Self.at(3601.1))
        _ = other.begin(on: .wifi, missing: [], settledAt: Self.at(3601.2), like: gate, at: Self.at(3601.1))
        gate.wake(after: .seconds(1), at: Self.at(3601.15), policy)
        other.wake(after: .seconds(1), at: Self.at(3601.15), policy)
        let times = try #require(gate.times)
        #expect(times.others > Self.at(3602))
        #expect(other.times == times)
    }

    @Test func `starts keep their distance for what of the outage was no sleep`() {
        for (slept, least) in [(0.2, 6.0), (30, 3), (59.5, 0.25), (3600, 0.25)] {
            var spacing = StartSpacing(at: Self.at(0))
            spacing.begin(after: .seconds(60), first: Self.at(100), policy)
            spacing.wake(after: .seconds(slept), first: Self.at(100), policy)
            let length = spacing.until - Self.at(100)
            #expect(length <= .seconds(least) && length >= .seconds(least * 0.99), "\(slept): \(length)")
        }
    }

    @Test mutating func `the delay after an outage is drawn once, however often the path goes meanwhile`() throws {
        _ = path(.wifi, at: 0)
        _ = path(nil, at: 1)
        _ = path(.wifi, at: 601)
        let first = try #require(gate.times?.others)
        #expect(first > Self.at(602), "a second or more of sixty")
        for number in 0..<30 {
            let time = 602 + 3 * Double(number)
            _ = path(nil, at: time)
            _ = path(.wifi, at: time + 2)
            let times = try #require(gate.times)
            let settled = Self.at(time + 2.2)
            #expect(times.others >= first && times.others <= max(first, settled + .milliseconds(250)))
        }
    }

    @Test mutating func `each canary that fails doubles the wait, up to half a minute, and never below curl's`() {
        _ = path(nil, at: 0)
        _ = path(.wifi, at: 10)
        _ = advance(to: 10.2)
        var now = 20.0
        for least in [1.0, 2, 4, 8, 16, 30, 30, 30] {
            start(at: now)
            now += 0.5
            fail(at: now)
            let wait = wait(at: now)
            #expect(wait >= least && wait <= least * 1.25, "\(least): \(wait)")
            now += wait
        }
    }

    @Test mutating func `gains without canaries that fail lengthen nothing`() {
        _ = path(nil, at: 0)
        for number in 0..<40 {
            let time = 10.0 + Double(number)
            #expect(path(.wifi, at: time) == .gained)
            #expect(gate.deadline == Self.at(time + 0.2))
            #expect(advance(to: time + 0.2) != nil)
            #expect(wait(at: time + 0.2) == 0)
            _ = path(nil, at: time + 0.6)
        }
    }

    @Test mutating func `a canary that the path took with it counts nothing`() {
        _ = path(nil, at: 0)
        for number in 0..<10 {
            let time = 10 + 10 * Double(number)
            _ = path(.wifi, at: time)
            _ = advance(to: time + 0.5)
            start(at: time + 0.5)
            _ = path(nil, at: time + 0.6)
            gate.canaryWithdrawn(of: 1)
        }
        #expect(wait(at: 100.5) <= 1.25)
    }

    @Test mutating func `failures count while the path flaps, and neither on another path nor a minute later`() {
        let elsewhere = QueuePath.wifi.with { $0.sources = [IPAddress(ipv4: 0xC633_6402)] }
        for (back, next, isForgotten) in [
            (20.0, QueuePath.wifi, false), (20, .wwan, true), (20, elsewhere, true), (90, .wifi, true),
        ] {
            gate = PathGate(missing: .validated, at: Self.at(0))
            _ = path(nil, at: 0)
            _ = path(.wifi, at: 10)
            _ = advance(to: 10.2)
            for time in [11.0, 12, 13, 14, 15] {
                start(at: time)
                fail(at: time + 0.1)
            }
            _ = path(nil, at: 16)
            _ = path(next, at: back)
            #expect(gate.canaries.isEmpty == isForgotten, "\(back) \(next.interface)")
        }
    }

    @Test mutating func `one user's canaries that fail delay neither others nor what goes elsewhere`() {
        _ = path(nil, at: 0)
        _ = path(.wifi, at: 10)
        _ = advance(to: 10.2)
        for time in [20.0, 30, 40, 50, 60] {
            start(at: time)
            fail(at: time + 5)
        }
        #expect(wait(at: 65) >= 15)
        #expect(wait(2, at: 65) == 0)
        #expect(wait(at: 65, elsewhere: true) <= 0)
        // Only failures hold up urgent requests.
        start(2, at: 65)
        #expect(gate.canaries[2]?.urgent == BootTime(nanoseconds: .min))
    }

    @Test mutating func `a gate of a new condition takes part in the trial of an older one`() {
        _ = path(nil, at: 0)
        _ = path(.wifi, at: 10)
        _ = advance(to: 10.2)
        start(at: 10.5)
        var other = PathGate(missing: .path, at: Self.at(11))
        let settled = Self.at(10.2)
        #expect(
            other.begin(on: .wifi, missing: [], settledAt: settled, like: gate, at: Self.at(11))
                == .canary(after: .zero))
        #expect(other.canaries == gate.canaries)
        other = PathGate(missing: .path, at: Self.at(11))
        #expect(
            other.begin(on: .wifi, missing: [], settledAt: settled, like: nil, at: Self.at(11)) == .opened(after: .zero)
        )
    }
}

extension PathGate.Change {
    fileprivate var outage: Duration? {
        switch self {
        case .canary(let outage), .opened(let outage): outage
        case .closed, .gained: nil
        }
    }
}
