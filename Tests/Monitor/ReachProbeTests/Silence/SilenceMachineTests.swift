import ReachCore
@testable import ReachKernel
@testable import ReachProbe
import ReachTesting
import Testing

@Suite struct SilenceMachineTests {
    private func chance(_ seed: UInt64) -> () -> Double {
        var generator = SeededGenerator(seed: seed)
        return { Double.random(in: 0..<1, using: &generator) }
    }

    // MARK: - Timers

    @Test(arguments: [NeighbourState.stale, .failed, .incomplete, .none])
    func `while nothing is sent to the gateway there is no timer`(state: NeighbourState) {
        var bench = SilenceBench(3, neighbour: state)
        bench.update()
        #expect(bench.machine.deadline == nil)
        bench.pass(.seconds(100))
        #expect(bench.readings.isEmpty)
    }

    @Test
    func
        `while programs send data the counters are read each second, and then more rarely`()
    {
        var bench = SilenceBench(3)
        bench.update()
        bench.pass(.seconds(10))
        #expect(bench.readings == (0...10).map(Double.init))
        bench.senders = []
        bench.pass(.seconds(35))
        #expect(bench.readings.count <= 11 + 11)
        bench.route.neighbour = .stale
        bench.update()
        #expect(bench.machine.deadline == nil)
    }

    @Test func `without a telling gateway the counters are read for a minute after the last data`() {
        var bench = SilenceBench(3, neighbour: nil)
        bench.update()
        bench.pass(.seconds(200))
        #expect(bench.machine.deadline != nil)
        bench.senders = []
        bench.pass(.seconds(70))
        #expect(bench.machine.deadline == nil)
        #expect(!bench.machine.noteActivity(at: bench.now).isEmpty)
    }

    @Test func `without timeouts no socket is looked at`() {
        var bench = SilenceBench(3)
        bench.update()
        bench.pass(.seconds(100))
        #expect(bench.machine.statistics == SilenceStatistics())
    }

    @Test func `a kernel that shows no sockets is reported once, and nothing is watched any more`() {
        var bench = SilenceBench(3)
        bench.showsSockets = false
        bench.update()
        bench.pass(.seconds(5))
        bench.success = 0
        bench.pass(.seconds(3))
        #expect(bench.givenUp == 0, "one failure may pass")
        bench.pass(.seconds(60))
        bench.update()
        #expect(bench.givenUp == 1 && bench.closed.isEmpty)
        #expect(bench.machine.deadline == nil)
    }

    // MARK: - Verdicts

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `a path that goes dark under traffic is closed within 4 s, and its return is noticed within 4 s`(seed: UInt64)
    {
        let chance = chance(seed)
        var bench = SilenceBench(3, draw: chance)
        bench.update()
        bench.pass(.seconds(10) + .milliseconds(Int64(chance() * 1000)))
        bench.success = 0
        let dark = bench.seconds
        bench.pass(.seconds(20))
        #expect(bench.closed.count == 1)
        #expect(bench.closed.first.map { $0.at - dark < 4 } == true, "\(bench.closed)")
        #expect(bench.closed.first?.evidence.destinations == 3)
        bench.success = 1
        let light = bench.seconds
        bench.pass(.seconds(10))
        #expect(bench.checks.first.map { $0 - light < 4 } == true, "\(bench.checks)")
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `half of all packets lost at random in both directions for 10 minutes close nothing`(seed: UInt64) {
        let chance = chance(seed)
        var bench = SilenceBench(2 + Int(seed % 8), draw: chance)
        bench.update()
        bench.pass(.seconds(5))
        bench.success = 0.25
        bench.pass(.seconds(600))
        #expect(bench.closed.isEmpty, "\(bench.closed)")
        // The case is hard enough that sockets alone would have been wrong.
        #expect((2...24).contains(bench.tests.count), "\(bench.tests.count)")
    }

    @Test func `one dead server among many leads to no test, dead servers and nothing else to few`() {
        var bench = SilenceBench(5)
        bench.add(host: 100, isDead: true)
        bench.update()
        bench.pass(.seconds(120))
        #expect(bench.tests.isEmpty && bench.closed.isEmpty)
        for host in UInt32(101)...140 { bench.add(host: host, isDead: true) }
        bench.pass(.seconds(120))
        #expect(bench.tests.isEmpty && bench.closed.isEmpty)
        bench.senders.removeAll { !$0.isDead }
        bench.pass(.seconds(600))
        #expect(bench.closed.isEmpty)
        #expect((1...16).contains(bench.tests.count))
    }

    @Test
    func
        `each user's sockets cause few tests, all users' one in two seconds, and none a verdict`()
    {
        for users in [UInt32(1), 500] {
            var bench = SilenceBench()
            bench.update()
            // 30 new sockets a second that send to where no one is, so that there is always one that repeats.
            for second in UInt32(0)..<300 {
                for number in 0..<UInt32(30) {
                    bench.add(host: number, user: (second * 30 + number) % users, isDead: true)
                }
                if bench.senders.count > 900 { bench.senders.removeFirst(30) }
                bench.pass(.seconds(1))
            }
            #expect(bench.closed.isEmpty)
            #expect(bench.tests.count <= (users == 1 ? 10 : 150), "\(bench.tests.count)")
            #expect(bench.tests.count >= 5)
        }
    }

    @Test func `a user whose sockets led to a test does not keep others' from leading to the next`() {
        var bench = SilenceBench()
        bench.add(host: 101, user: 666, isDead: true)
        bench.add(host: 102, user: 666, isDead: true)
        bench.update()
        bench.pass(.seconds(200))
        #expect(bench.closed.isEmpty && !bench.tests.isEmpty)
        for host in UInt32(0)..<3 { bench.add(host: host) }
        bench.pass(.seconds(10))
        bench.success = 0
        let dark = bench.seconds
        bench.pass(.seconds(6))
        #expect(bench.closed.first.map { $0.at - dark < 4.5 } == true, "\(bench.closed)")
    }

    @Test(arguments: [(0, 0), (1, 0), (17, 0), (18, 1)])
    func `a test for which this machine has too few ports or descriptors closes nothing`(handshakes: Int, closed: Int) {
        var bench = SilenceBench(3)
        bench.mostHandshakes = handshakes
        bench.update()
        bench.pass(.seconds(10))
        bench.success = 0
        bench.pass(.seconds(20))
        #expect(bench.closed.count == closed && !bench.tests.isEmpty)
    }

    @Test func `what a program receives during a test without an answer keeps the path open`() {
        var bench = SilenceBench(3)
        bench.hasServers = false
        bench.isAnsweredLate = true
        bench.update()
        bench.pass(.seconds(10))
        bench.success = 0
        bench.pass(.seconds(5))
        #expect(bench.closed.isEmpty && !bench.tests.isEmpty)
    }

    @Test func `after a restart nothing is left of a test, of users, or of paths`() {
        var bench = SilenceBench(3)
        bench.update()
        bench.pass(.seconds(10))
        bench.success = 0
        while bench.tests.isEmpty { bench.pass(.milliseconds(25)) }
        let commands = bench.machine.restart()
        #expect(commands.count == 1 && bench.machine.deadline == nil)
        bench.pass(.seconds(60))
        #expect(bench.closed.isEmpty)
    }

    @Test func `a path that is gone is watched no longer, and counts as a new one when it returns`() {
        var bench = SilenceBench(3)
        bench.update()
        bench.pass(.seconds(5))
        bench.success = 0
        while bench.closed.isEmpty { bench.pass(.milliseconds(25)) }
        #expect(bench.machine.deadline != nil)
        // At most what is under way is cancelled.
        for command in bench.machine.update([], at: bench.now) {
            guard case .cancel = command else {
                Issue.record("\(command)")
                continue
            }
        }
        #expect(bench.machine.deadline == nil)
        let (calls, readings) = (bench.calls.count, bench.readings.count)
        bench.pass(.seconds(60))
        #expect(bench.calls.count == calls && bench.readings.count == readings)
        bench.success = 1
        bench.reopen()
        #expect(bench.machine.deadline != nil)
        bench.pass(.seconds(10))
        #expect(bench.calls.count == calls && bench.closed.count == 1)
    }

    @Test func `endpoints that are down close nothing while any program receives something`() {
        var bench = SilenceBench(3)
        for host in UInt32(100)...110 { bench.add(host: host, isDead: true) }
        bench.hasServers = false
        bench.update()
        bench.pass(.seconds(300))
        #expect(bench.closed.isEmpty && bench.tests.isEmpty)
    }

    @Test func `a silent path is called more and more rarely, and only while programs try to send`() {
        var bench = SilenceBench(3)
        bench.update()
        bench.pass(.seconds(5))
        bench.success = 0
        bench.pass(.seconds(900))
        #expect(bench.closed.count == 1)
        let gaps = zip(bench.calls, bench.calls.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { (2...100).contains($0) }, "\(gaps)")
        #expect(bench.calls.count < 110)
        bench.senders = []
        bench.pass(.seconds(100))
        let calls = bench.calls.count
        bench.pass(.seconds(600))
        #expect(bench.calls.count == calls)
    }

    @Test func `a metered path without budget is not tested`() {
        var bench = SilenceBench(3)
        let path = SilencePath(
            bench.route, .working, servers: [SilenceBench.server], allowed: bench.now + .seconds(86_400))
        bench.update()
        _ = bench.machine.update([path], at: bench.now)
        bench.pass(.seconds(5))
        bench.success = 0
        bench.pass(.seconds(60))
        #expect(bench.tests.isEmpty && bench.closed.isEmpty)
        #expect(bench.machine.statistics.surveys > 0)
    }
}

/// Paths by whose round-trip time new connections look silent, and paths on which a user is ignored.
@Suite struct SilenceOfSlowPathsTests {
    private let now = BootTime(nanoseconds: 1_000_000_000_000)
    private let route = DefaultRoute.sample()

    /// Connections that began this long ago: each timeout is twice as long as the one before, from a second on.
    private func connections(_ count: UInt32, repetitions: Int, age: Duration, user: UInt32 = 1000) -> SilenceSample {
        var sample = SilenceSample()
        let timeout = Duration.seconds(1 << repetitions)
        for host in 0..<count {
            sample.add(
                StalledSocket(
                    remote: IPAddress(ipv4: 0xc633_6400 + host), user: user, repetitions: repetitions,
                    doublings: repetitions, timeout: timeout,
                    untilNext: timeout - (age - .seconds((1 << repetitions) - 1)),
                    roundTrip: .zero))
        }
        return sample
    }

    /// The times of the tests that follow from a look at the sockets of a path.
    private func tests(
        of sample: SilenceSample, _ machine: inout SilenceMachine, on route: DefaultRoute
    ) -> [(time: Duration, ticket: SilenceCommand.Ticket)] {
        _ = machine.counted(TCPCounters(timeouts: 0, dataSegments: 0), at: now)
        let surveys = machine.counted(TCPCounters(timeouts: 9, dataSegments: 0), at: now)
        return surveys.flatMap { command -> [SilenceCommand] in
            guard case .survey(let looked, _, let ticket) = command else { return [] }
            return machine.surveyed(ticket, looked == route ? .sample(sample) : .heard, after: .zero, at: now)
        }.compactMap { if case .test(_, _, _, let time, let ticket) = $0 { (time, ticket) } else { nil } }
    }

    @Test(
        arguments: [
            (.milliseconds(20), 1, 1.25, 1.5), (.zero, 1, 1.25, 1.5), (.seconds(3), 1, 1.25, nil),
            (.seconds(3), 3, 14, 4.5), (.seconds(1), 2, 5, 4), (.seconds(60), 5, 62, nil),
            (.milliseconds(600), 2, 4, 2.4),
        ] as [(Duration, Int, Double, Double?)])
    func `new connections count once an answer could have come, and a test waits as long`(
        roundTrip: Duration, repetitions: Int, age: Double, time: Double?
    ) {
        var machine = SilenceMachine()
        let path = SilencePath(
            route, .working, servers: [SilenceBench.server], roundTrip: roundTrip, allowed: now)
        _ = machine.update([path], at: now)
        let sample = connections(4, repetitions: repetitions, age: .milliseconds(Int64(age * 1000)))
        let expected: [Duration] = time.map { [.milliseconds(Int64($0 * 1000))] } ?? []
        let times = tests(of: sample, &machine, on: route).map(\.time)
        #expect(times == expected)
    }

    @Test func `the answer by one silent path has that path checked, and no other`() throws {
        var machine = SilenceMachine()
        let routes = [route, DefaultRoute.sample(interface: 7)]
        _ = machine.update(
            routes.map { SilencePath($0, .silent, servers: [SilenceBench.server], allowed: now) }, at: now)
        for timeouts in [0, 9] as [UInt64] {
            _ = machine.counted(TCPCounters(timeouts: timeouts, dataSegments: 0), at: now)
        }
        let calls = machine.timeReached(at: now + .seconds(1)).compactMap { command in
            if case .test(let route, _, 1, _, let ticket) = command { (route, ticket) } else { nil }
        }
        #expect(calls.map(\.0) == routes)
        for (route, ticket) in calls.reversed() {
            let commands = machine.tested(
                ticket, SilenceTestResult(isAnswered: true, handshakes: 1), at: now + .seconds(1))
            #expect(commands == [.check(route.key)])
        }
    }

    @Test func `a user who is ignored on one path is not on another`() throws {
        var machine = SilenceMachine()
        let other = DefaultRoute.sample(interface: 7)
        let paths = [route, other].map { SilencePath($0, .working, servers: [SilenceBench.server], allowed: now) }
        _ = machine.update(paths, at: now)
        let sample = connections(4, repetitions: 2, age: .seconds(6))
        let first = try #require(tests(of: sample, &machine, on: route).first)
        _ = machine.tested(first.ticket, SilenceTestResult(isAnswered: true, handshakes: 1), at: now)
        let later = now + .seconds(3)
        for case .survey(let looked, _, let ticket) in machine.counted(
            TCPCounters(timeouts: 99, dataSegments: 0), at: later)
        {
            let commands = machine.surveyed(ticket, .sample(sample), after: .zero, at: later)
            #expect(commands.isEmpty == (looked == route), "\(looked.name)")
        }
        #expect(machine.statistics.tests == 2)
    }
}

/// The paths of both families of one interface, of which only IPv4 carries traffic.
@Suite struct SilenceOfBothFamiliesTests {
    private let now = BootTime(nanoseconds: 1_000_000_000_000)
    private let ipv4 = DefaultRoute.sample(), ipv6 = DefaultRoute.sample(.ipv6, gateway: "2001:db8::1")

    private func paths(_ states: [(DefaultRoute, SilencePath.State)]) -> [SilencePath] {
        states.map { SilencePath($0.0, $0.1, servers: [SilenceBench.server], allowed: now) }
    }

    /// A machine that has begun the tests of both paths, and the tickets of these.
    private func tested() throws -> (SilenceMachine, ipv4: SilenceCommand.Ticket, ipv6: SilenceCommand.Ticket) {
        var machine = SilenceMachine()
        _ = machine.update(paths([(ipv4, .working), (ipv6, .working)]), at: now)
        _ = machine.counted(TCPCounters(timeouts: 0, dataSegments: 0), at: now)
        let surveys = machine.counted(TCPCounters(timeouts: 9, dataSegments: 0), at: now)
        var sample = SilenceSample()
        for host in UInt32(1)...3 { sample.add(.sample(to: host, repetitions: 4)) }
        var tickets: [IPAddress.Family: SilenceCommand.Ticket] = [:]
        for case .survey(let route, _, let ticket) in surveys where route.key.family == .ipv4 {
            for case .test(let route, _, _, _, let ticket) in machine.surveyed(
                ticket, .sample(sample), after: .zero, at: now)
            {
                tickets[route.key.family] = ticket
            }
        }
        return (machine, try #require(tickets[.ipv4]), try #require(tickets[.ipv6]))
    }

    /// Ends a test without an answer, and lets the last look at the sockets find nothing.
    private func endSilently(_ machine: inout SilenceMachine, _ ticket: SilenceCommand.Ticket) -> [DefaultRoute.Key] {
        let end = now + .milliseconds(1500)
        let result = SilenceTestResult(isAnswered: false, handshakes: 26)
        for case .survey(_, _, let ticket) in machine.tested(ticket, result, at: end) {
            return machine.surveyed(ticket, .sample(SilenceSample()), after: .zero, at: end).compactMap {
                if case .close(let key, _) = $0 { key } else { nil }
            }
        }
        return []
    }

    @Test func `both close together, whichever test ends first`() throws {
        var (machine, first, second) = try tested()
        #expect(endSilently(&machine, first) == [ipv4.key])
        _ = machine.update(paths([(ipv4, .silent), (ipv6, .working)]), at: now)
        #expect(endSilently(&machine, second) == [ipv6.key])
        (machine, first, second) = try tested()
        #expect(endSilently(&machine, second).isEmpty)
        #expect(endSilently(&machine, first) == [ipv4.key, ipv6.key])
    }

    @Test func `the path without traffic does not close alone`() throws {
        var (machine, first, second) = try tested()
        #expect(endSilently(&machine, second).isEmpty)
        let answered = SilenceTestResult(isAnswered: true, handshakes: 1)
        #expect(machine.tested(first, answered, at: now).isEmpty)
        #expect(machine.statistics.silent == 0)
        (machine, first, second) = try tested()
        #expect(machine.tested(first, answered, at: now) == [.cancel(second)])
        (machine, first, second) = try tested()
        #expect(
            Set(machine.update(paths([(ipv6, .working)]), at: now).prefix(2)) == [.cancel(first), .cancel(second)])
    }
}

@Suite struct SilentPathTests {
    private let evidence = SilenceEvidence(transmissions: 9, destinations: 3, duration: .seconds(3), handshakes: 24)

    @Test func `silence closes a path at once, the next check follows at once, and an answer opens it again`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(20))
        bench.forget()
        bench.answer = .limited(.noAnswer)
        bench.silence(evidence)
        #expect(bench.connectivity == .limited)
        #expect(bench.probes == [20])
        #expect(bench.machine.trouble(of: DefaultRoute.sample().key) == .noAnswer)
        bench.pass(.seconds(8))
        #expect(bench.probes == [20, 21, 23, 27])
        bench.answer = .full
        bench.noteAnswer()
        #expect(bench.connectivity == .full)
    }

    @Test func `only a path that is believed to work can become silent`() {
        var bench = ValidationBench()
        bench.answer = .portal(url: "http://login.example/")
        bench.update([.sample()])
        bench.forget()
        bench.silence(evidence)
        bench.silence(evidence, interface: 77)
        #expect(bench.connectivity == .portal && bench.probes.isEmpty)
    }

    @Test func `a check that is under way decides as usual`() throws {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(10))
        bench.answer = nil
        bench.doubt()
        let ticket = try #require(bench.open.first)
        bench.silence(evidence)
        #expect(bench.connectivity == .limited)
        #expect(bench.open == [ticket])
        bench.reply(.full, to: ticket)
        #expect(bench.connectivity == .full)
    }

    @Test func `when a server answers again, a check that hangs is replaced`() throws {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(10))
        bench.answer = nil
        bench.silence(evidence)
        let hanging = try #require(bench.open.first)
        bench.pass(.seconds(1))
        bench.answer = .full
        bench.noteAnswer(by: 2)
        #expect(bench.cancelled == [hanging])
        #expect(bench.connectivity == .full)
    }

    @Test func `the last check says what was silent, until one finds something else`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(10))
        bench.answer = .limited(.noAnswer)
        bench.silence(evidence)
        bench.pass(.seconds(10))
        #expect(bench.machine.lastChecks(of: .internet)[.ipv4]?.silence == evidence)
        bench.answer = .full
        bench.pass(.seconds(60))
        #expect(bench.machine.lastChecks(of: .internet)[.ipv4]?.found == .full)
        #expect(bench.machine.lastChecks(of: .internet)[.ipv4]?.silence == nil)
    }
}
