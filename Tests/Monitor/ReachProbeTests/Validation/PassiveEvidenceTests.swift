import ReachCore
import ReachProbe
import Testing

@Suite struct PassiveEvidenceTests {
    @Test func `a path with traffic is checked once an hour`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.hasTraffic = true
        bench.pass(.seconds(86_400))
        #expect(bench.probes == (0...24).map { Double($0) * 3600 })
        #expect(bench.samples.count == 288 - 24)
        #expect(bench.windows == [.seconds(60)])
        #expect(bench.connectivity == .full)
    }

    @Test(arguments: [NeighbourState.failed, .incomplete, .none])
    func `traffic is no evidence while the gateway does not answer`(state: NeighbourState) {
        var bench = ValidationBench()
        bench.update([.sample(neighbour: state)])
        bench.hasTraffic = true
        bench.pass(.seconds(300))
        #expect(bench.samples == [300])
        #expect(bench.probes == [0, 300])
    }

    @Test(arguments: [ValidationTrouble.noAnswer, .onlyInsecure])
    func `where sockets receive data, failed checks end nothing for five minutes`(trouble: ValidationTrouble) {
        var bench = ValidationBench()
        bench.update([.sample()])
        (bench.answer, bench.hasTraffic) = (.limited(trouble), true)
        bench.doubt()
        bench.pass(.seconds(8))
        #expect(bench.probes == [0, 5, 6, 8])
        #expect(bench.samples == [8], "the third failure in a row would end it")
        #expect(bench.windows == [.seconds(3)], "what came before the first failure proves nothing")
        bench.pass(.seconds(252))
        #expect(bench.connectivity == .full && bench.samples.count == 7)
        #expect(bench.windows == [.seconds(3), .seconds(7), .seconds(15), .seconds(31), .seconds(60)])
        bench.pass(.seconds(556))
        #expect(bench.connectivity == .limited && bench.samples.count == 8)
    }

    @Test func `where names are not resolved, data on connections delays that by two checks`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        (bench.answer, bench.hasTraffic) = (.limited(.nameNotResolved), true)
        bench.doubt()
        bench.pass(.seconds(8 + 4))
        #expect(bench.connectivity == .full)
        bench.pass(.seconds(8))
        #expect(bench.probes == [0, 5, 6, 8, 12, 20])
        #expect(bench.connectivity == .limited)
    }

    @Test func `failed checks count where no socket receives data, and a proof forgets those that did not`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        (bench.answer, bench.hasTraffic) = (.limited(.noAnswer), true)
        bench.doubt()
        bench.pass(.seconds(100))
        bench.answer = .full
        bench.pass(.seconds(3600))
        bench.forget()
        (bench.answer, bench.hasTraffic) = (.limited(.noAnswer), false)
        bench.doubt()
        bench.pass(.seconds(3))
        #expect(bench.probes.count == 3 && bench.samples.count == 1)
        #expect(bench.connectivity == .limited)
    }

    @Test(arguments: [ValidationResult.portal(url: "http://x/"), .limited(.certificate), .limited(.wrongAnswer)])
    func `traffic does not speak against another's answer`(answer: ValidationResult) {
        var bench = ValidationBench()
        bench.update([.sample()])
        (bench.answer, bench.hasTraffic) = (answer, true)
        bench.doubt()
        bench.pass(.seconds(8))
        #expect(bench.connectivity == answer.connectivity)
    }

    @Test func `traffic is not sampled while a path works and no check is due`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(299))
        #expect(bench.samples.isEmpty)
        #expect(bench.machine.deadline == bench.start + .seconds(300))
    }

    @Test(arguments: [ValidationResult.limited(.noAnswer), .portal(url: "http://x/")])
    func `while a path does not work, traffic that begins is detected within a second`(trouble: ValidationResult) {
        var bench = ValidationBench()
        bench.answer = trouble
        bench.update([.sample()])
        bench.pass(.seconds(600))
        bench.forget()
        bench.answer = .full
        bench.hasTraffic = true
        bench.pass(.seconds(1))
        #expect(bench.probes.count == 1)
        #expect(bench.connectivity == .full)
        bench.forget()
        bench.pass(.seconds(299))
        #expect(bench.samples.isEmpty)
    }

    @Test func `while a path does not work, traffic is sampled every second without extra checks`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample()])
        bench.pass(.seconds(511))
        bench.forget()
        bench.pass(.seconds(100))
        #expect((99...100).contains(bench.samples.count))
        #expect(bench.probes.isEmpty)
        #expect(bench.windows == [.seconds(1)])
    }

    @Test func `traffic that never stops triggers no check`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.hasTraffic = true
        bench.update([.sample()])
        bench.pass(.seconds(511))
        #expect(bench.probes == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511])
    }

    @Test func `traffic that comes and goes triggers fewer and fewer checks while they fail`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample()])
        for _ in 0..<300 {
            bench.pass(.seconds(1))
            bench.hasTraffic.toggle()
        }
        // 9 of them are due without any traffic.
        #expect(bench.probes.count <= 9 + 9)
        #expect(bench.probes.count > 9)
    }

    @Test func `traffic that begins too early for a check triggers it later if it lasts`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample()])
        bench.pass(.seconds(260))
        bench.hasTraffic = true
        bench.pass(.seconds(1))
        bench.hasTraffic = false
        bench.pass(.seconds(1))
        bench.hasTraffic = true
        bench.answer = .full
        bench.pass(.seconds(2))
        #expect(bench.connectivity == .full)
    }

    @Test func `earlier traffic does not settle a doubt`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.hasTraffic = true
        bench.pass(.seconds(100))
        bench.doubt()
        #expect(bench.probes == [0, 100])
        #expect(bench.samples.isEmpty)
    }

    @Test func `a metered path spends no more than its budget in any state`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 100_000
        for answer in [ValidationResult.full, .limited(.noAnswer), .inconclusive] {
            var bench = ValidationBench(options)
            bench.answer = answer
            bench.bytes = 4000
            bench.update([.sample(isMetered: true)])
            bench.pass(.seconds(86_400))
            // A full bucket, and one day's refill.
            #expect(bench.probes.count <= 50)
            #expect(bench.probes.count >= 45)
            bench.forget()
            bench.pass(.seconds(86_400))
            #expect((24...26).contains(bench.probes.count))
        }
    }

    @Test func `reconnecting starts no new budget`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 10_000
        options.expectedBytes = 4000
        var bench = ValidationBench(options)
        bench.bytes = 4000
        for number in 1...20 { bench.update([.sample(gateway: "192.0.2.\(number)", isMetered: true)]) }
        #expect(bench.probes.count == 2)
        #expect(bench.connectivity == .unknown)
        bench.pass(.seconds(86_400))
        #expect(bench.connectivity == .full)
    }

    @Test func `of more than 64 metered interfaces the one that has spent least is forgotten`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 10_000
        var bench = ValidationBench(options)
        func isChecked(_ interface: InterfaceIndex, bytes: Int = 9000) -> Bool {
            bench.forget()
            bench.bytes = bytes
            bench.update([.sample(interface: interface, isMetered: true)])
            return bench.probes == [bench.seconds]
        }
        let interfaces = 2..<66 as Range<InterfaceIndex>
        let least: InterfaceIndex = 40
        for interface in interfaces { #expect(isChecked(interface, bytes: interface == least ? 6000 : 9000)) }
        for interface in interfaces { #expect(!isChecked(interface), "\(interface)") }
        #expect(isChecked(66))
        for interface in interfaces where interface != least { #expect(!isChecked(interface), "\(interface)") }
        #expect(isChecked(least))
    }

    @Test func `an unmetered path has no budget, and a budget of zero means no limit`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 1000
        var bench = ValidationBench(options)
        bench.bytes = 100_000
        bench.update([.sample()])
        bench.pass(.seconds(3000))
        #expect(bench.probes.count == 11)
        options.meteredBytesPerDay = 0
        bench = ValidationBench(options)
        bench.bytes = 100_000
        bench.update([.sample(isMetered: true)])
        bench.pass(.seconds(3000))
        #expect(bench.probes.count == 11)
    }

    @Test func `another request's answer triggers a check of a path in trouble, but not of a working one`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(10))
        bench.forget()
        bench.noteAnswer()
        #expect(bench.probes.isEmpty)
        bench.answer = .limited(.noAnswer)
        bench.doubt()
        bench.pass(.seconds(100))
        #expect(bench.connectivity == .limited)
        bench.answer = .full
        bench.forget()
        bench.noteAnswer(in: .ipv6)
        #expect(bench.probes.isEmpty, "the answer is of another family")
        bench.noteAnswer(in: .ipv4)
        #expect(bench.connectivity == .full && bench.probes.count == 1)
    }

    @Test func `answers whose checks fail trigger fewer and fewer checks`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.update([.sample()])
        bench.pass(.seconds(600))
        bench.forget()
        for _ in 0..<600 {
            bench.noteAnswer()
            bench.pass(.seconds(1))
        }
        #expect(bench.probes.count >= 3 && bench.probes.count <= 12, "\(bench.probes)")
    }
}
