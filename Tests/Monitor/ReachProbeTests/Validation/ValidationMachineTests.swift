import ReachCore
import ReachProbe
import ReachTesting
import Testing

@Suite struct ValidationMachineTests {
    private let portal = ValidationResult.portal(url: "http://login.example/")

    /// A bench with a path that was proven to work at second 0.
    private func working(_ options: ValidationOptions = ValidationOptions()) -> ValidationBench {
        var bench = ValidationBench(options)
        bench.update([.sample()])
        bench.forget()
        return bench
    }

    @Test(arguments: [
        (ValidationResult.full, Connectivity.full), (.portal(url: "http://x/"), .portal),
        (.limited(.noAnswer), .limited),
    ])
    func `the first check is made at once, and believed at once`(result: ValidationResult, found: Connectivity) {
        var bench = ValidationBench()
        #expect(bench.connectivity == .unknown)
        bench.answer = result
        bench.update([.sample()])
        #expect(bench.probes == [0])
        #expect(bench.connectivity == found)
        #expect(bench.machine.survey.internet.portal == result.portal)
    }

    @Test func `a working path is checked every five minutes`() {
        var bench = working()
        bench.pass(.seconds(1000))
        #expect(bench.probes == [300, 600, 900])
    }

    @Test func `a path in trouble is checked after 1, 2, 4 seconds and so on up to the interval`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample()])
        bench.pass(.seconds(1200))
        #expect(bench.probes == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111])
    }

    @Test func `success restores the steady interval, and the next trouble begins with a second`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample()])
        bench.pass(.seconds(10))
        bench.answer = .full
        bench.pass(.seconds(10))
        #expect(bench.connectivity == .full)
        bench.forget()
        bench.pass(.seconds(300))
        #expect(bench.probes == [315])
        bench.answer = .limited(.noAnswer)
        bench.forget()
        bench.pass(.seconds(300))
        #expect(bench.probes.prefix(3) == [615, 616, 618])
    }

    @Test func `three strikes in a row demote, but two do not`() {
        var bench = working()
        bench.answer = .limited(.noAnswer)
        bench.pass(.seconds(302))
        #expect(bench.probes == [300, 301])
        #expect(bench.connectivity == .full)
        bench.answer = .full
        bench.pass(.seconds(2))
        bench.answer = .limited(.noAnswer)
        bench.pass(.seconds(301))
        #expect(bench.connectivity == .full)
        bench.pass(.seconds(1))
        #expect(bench.connectivity == .limited)
        #expect(bench.machine.trouble(of: DefaultRoute.sample().key) == .noAnswer)
    }

    @Test func `the configured number of consecutive proofs promotes`() {
        var options = ValidationOptions()
        options.strikesToPromote = 2
        options.strikesToDemote = 1
        var bench = working(options)
        bench.answer = portal
        bench.pass(.seconds(300))
        #expect(bench.connectivity == .portal)
        bench.answer = .full
        bench.forget()
        bench.pass(.milliseconds(1000))
        #expect(bench.connectivity == .portal)
        // The next check does not wait five minutes.
        bench.pass(.seconds(1))
        #expect(bench.connectivity == .full)
        #expect(bench.probes == [301, 302])
    }

    /// Packets are lost, so that only a share of all checks is a proof, while requests of other programs fail and
    /// succeed.
    @Test(arguments: [0.2, 0.35, 0.5, 0.65])
    func `the state of a path that works intermittently does not flap`(share: Double) {
        var most = 0
        for seed in UInt64(1)...10 {
            var chance = SeededGenerator(seed: seed)
            var bench = working()
            var changes = 0
            bench.answers = { Double.random(in: 0..<1, using: &chance) < share ? .full : .limited(.noAnswer) }
            for second in 0..<1800 {
                if second % 10 == 0 { bench.doubt() }
                if second % 10 == 5 { bench.noteAnswer() }
                let before = bench.connectivity
                bench.pass(.seconds(1))
                if bench.connectivity != before { changes += 1 }
            }
            most = max(most, changes)
        }
        print("path that works for \(share) of all checks: \(most) changes in half an hour")
        #expect(most <= 14)
    }

    @Test
    func `a path that is lost again and again needs more proofs, in little more time, and one that lasted needs one`() {
        var bench = working()
        func loseAndFind() -> (proofs: Int, seconds: Double) {
            bench.answer = .limited(.noAnswer)
            bench.doubt()
            bench.pass(.seconds(10))
            #expect(bench.connectivity == .limited)
            bench.answer = .full
            bench.forget()
            bench.noteAnswer()
            let back = bench.seconds
            while bench.connectivity != .full { bench.pass(.milliseconds(50)) }
            return (bench.probes.count, bench.seconds - back)
        }
        for proofs in [1, 2, 3, 4, 5, 6, 6] {
            let found = loseAndFind()
            #expect(found.proofs == proofs && found.seconds < 1.5)
            bench.pass(.seconds(300))
        }
        bench.pass(.seconds(400))
        #expect(loseAndFind().proofs == 1)
    }

    @Test func `a portal's page stays the one that was reported first`() {
        var bench = ValidationBench()
        bench.answer = portal
        bench.update([.sample()])
        bench.answer = .portal(url: "http://login.example/?session=2")
        bench.pass(.seconds(10))
        #expect(bench.machine.survey.internet.portal == "http://login.example/")
        bench.answer = .limited(.noAnswer)
        bench.pass(.seconds(10))
        #expect(bench.machine.survey.internet == ConnectivityReport(ipv4: .limited, ipv6: .none))
    }

    @Test func `the result of a check of another network is ignored`() {
        var bench = ValidationBench()
        bench.answer = nil
        bench.update([.sample()])
        let old = bench.open[0]
        bench.update([.sample(gateway: "192.0.2.254")])
        #expect(bench.cancelled == [old])
        #expect(bench.probes == [0, 0])
        bench.reply(portal, to: old)
        #expect(bench.connectivity == .unknown)
        bench.reply(.full, to: bench.open[0])
        #expect(bench.connectivity == .full)
    }

    @Test func `proof for one gateway does not count for another`() {
        var bench = ValidationBench()
        bench.answer = portal
        bench.update([.sample()])
        bench.answer = nil
        bench.update([.sample(gateway: "192.0.2.254")])
        #expect(bench.connectivity == .unknown)
        #expect(bench.machine.survey.internet.portal == nil)
    }

    @Test func `another source address leads to a new check, and the state holds until its result`() {
        var bench = working()
        bench.answer = nil
        bench.pass(.seconds(300))
        let old = bench.open[0]
        bench.update([.sample(source: "192.0.2.3")])
        #expect(bench.cancelled == [old])
        #expect(bench.connectivity == .full)
        bench.reply(.limited(.noAnswer), to: old)
        #expect(bench.connectivity == .full)
        // It may be another network, so one result is enough.
        bench.reply(.limited(.noAnswer), to: bench.open[0])
        #expect(bench.connectivity == .limited)
    }

    @Test func `after sleep every path is checked again, once`() {
        var bench = working()
        bench.pass(.seconds(3))
        bench.restart()
        #expect(bench.probes == [3])
        bench.pass(.seconds(299))
        #expect(bench.probes == [3])
    }

    @Test func `without a path there is no check and no connectivity`() {
        var bench = working()
        bench.update([])
        #expect(bench.connectivity == .none)
        #expect(bench.machine.deadline == nil)
        bench.update(nil)
        #expect(bench.connectivity == .unknown)
    }

    @Test func `families are checked and reported separately, and the better one counts`() {
        var bench = ValidationBench()
        bench.answer = nil
        bench.update([.sample(), .sample(.ipv6, gateway: "2001:db8::1", source: "2001:db8::2")])
        #expect(bench.probed.map(\.key.family) == [.ipv4, .ipv6])
        bench.reply(.limited(.noAnswer), to: bench.open[1])
        #expect(bench.machine.survey.internet == ConnectivityReport(ipv4: .unknown, ipv6: .limited, isUndecided: true))
        #expect(bench.connectivity == .unknown)
        bench.reply(.full, to: bench.open[0])
        #expect(bench.machine.survey.internet == ConnectivityReport(ipv4: .full, ipv6: .limited))
        #expect(bench.connectivity == .full)
    }

    @Test func `another link is checked for its own state, not for that of the Internet`() {
        var bench = ValidationBench()
        bench.answer = nil
        bench.update([.sample(), .sample(interface: 3, isPreferred: false)])
        bench.reply(.full, to: bench.open[1])
        #expect(bench.connectivity == .unknown)
        #expect(bench.machine.survey.interfaces["eth1"] == ConnectivityReport(ipv4: .full, ipv6: .none))
        // The link becomes the preferred one.
        bench.update([.sample(interface: 3)])
        #expect(bench.connectivity == .full)
    }

    @Test func `where the kernel chooses another link of which the same is proved, the survey is another one`() {
        var bench = ValidationBench()
        bench.update([.sample(), .sample(interface: 3, isPreferred: false)])
        let before = bench.machine.survey
        bench.update([.sample(isPreferred: false), .sample(interface: 3)])
        #expect(bench.machine.survey != before && bench.connectivity == .full)
        bench.update([.sample(), .sample(interface: 3, isPreferred: false)])
        #expect(bench.machine.survey == before)
    }

    @Test func `an inconclusive check changes nothing, and is repeated`() {
        var bench = working()
        bench.answer = .inconclusive
        bench.pass(.seconds(320))
        #expect(bench.probes == [300, 301, 303, 307, 315])
        #expect(bench.connectivity == .full)
    }

    @Test func `a gateway that answers again triggers a check at once`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample(neighbour: .failed)])
        bench.pass(.seconds(100))
        bench.answer = .full
        bench.forget()
        bench.update([.sample(neighbour: .reachable)])
        #expect(bench.probes == [100])
        // An entry that ages triggers nothing.
        bench.update([.sample(neighbour: .stale)])
        #expect(bench.probes == [100])
    }

    @Test func `doubts share one check, at most one in five seconds`() {
        var bench = working()
        bench.pass(.seconds(100))
        for _ in 0..<50 { bench.doubt() }
        #expect(bench.probes == [100])
        bench.pass(.seconds(1))
        bench.doubt()
        #expect(bench.probes == [100])
        bench.pass(.seconds(10))
        #expect(bench.probes == [100, 105])
        bench.answer = nil
        bench.doubt()
        bench.doubt()
        #expect(bench.open.count == 1)
    }

    @Test func `jitter moves a check by at most a twentieth`() {
        var numbers = [0.0, 0.999_999, 0.25][...]
        var bench = ValidationBench(draw: { numbers.popFirst() ?? 0.5 })
        bench.update([.sample()])
        bench.pass(.seconds(890))
        #expect(bench.probes.map { ($0 * 10).rounded() / 10 } == [0, 285, 600])
        bench.pass(.seconds(10))
        #expect(bench.probes.count == 4)
    }
}
