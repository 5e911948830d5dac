import ReachCore
import ReachProbe
import Testing

@Suite struct PassiveEvidenceTests {
    @Test func `a path that somebody uses is asked about once an hour`() {
        var bench = ValidationBench()
        bench.take([.sample()])
        bench.hasTraffic = true
        bench.pass(.seconds(86_400))
        #expect(bench.probes == (0...24).map { Double($0) * 3600 })
        #expect(bench.looks.count == 288 - 24)
        #expect(bench.windows == [.seconds(60)])
        #expect(bench.connectivity == .full)
    }

    @Test(arguments: [NeighbourState.failed, .incomplete, .none])
    func `traffic speaks for nothing while the gateway does not answer`(state: NeighbourState) {
        var bench = ValidationBench()
        bench.take([.sample(neighbour: state)])
        bench.hasTraffic = true
        bench.pass(.seconds(300))
        #expect(bench.looks == [300])
        #expect(bench.probes == [0, 300])
    }

    @Test func `nothing is looked at while a path works and nobody asks`() {
        var bench = ValidationBench()
        bench.take([.sample()])
        bench.pass(.seconds(299))
        #expect(bench.looks.isEmpty)
        #expect(bench.machine.deadline == bench.start + .seconds(300))
    }

    @Test(arguments: [ValidationResult.limited(.noAnswer), .portal(url: "http://x/")])
    func `while it does not work, traffic that begins is seen within a second`(trouble: ValidationResult) {
        var bench = ValidationBench()
        bench.answer = trouble
        bench.take([.sample()])
        bench.pass(.seconds(600))
        bench.forget()
        bench.answer = .full
        bench.hasTraffic = true
        bench.pass(.seconds(1))
        #expect(bench.probes.count == 1)
        #expect(bench.connectivity == .full)
        bench.forget()
        bench.pass(.seconds(299))
        #expect(bench.looks.isEmpty)
    }

    @Test func `while it does not work, looks come every second and cost no check`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.take([.sample()])
        bench.pass(.seconds(511))
        bench.forget()
        bench.pass(.seconds(100))
        #expect((99...100).contains(bench.looks.count))
        #expect(bench.probes.isEmpty)
        #expect(bench.windows == [.seconds(1)])
    }

    @Test func `traffic that gets through all the while is no reason to ask`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.hasTraffic = true
        bench.take([.sample()])
        bench.pass(.seconds(511))
        #expect(bench.probes == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511])
    }

    @Test func `traffic that comes and goes in vain brings ever fewer checks`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.take([.sample()])
        for _ in 0..<300 {
            bench.pass(.seconds(1))
            bench.hasTraffic.toggle()
        }
        // The rhythm of its own has 9 of them.
        #expect(bench.probes.count <= 9 + 9)
        #expect(bench.probes.count > 9)
    }

    @Test func `traffic that begins too soon is not forgotten while it lasts`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.take([.sample()])
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

    @Test func `doubt is not answered by sockets that did well before`() {
        var bench = ValidationBench()
        bench.take([.sample()])
        bench.hasTraffic = true
        bench.pass(.seconds(100))
        bench.doubt()
        #expect(bench.probes == [0, 100])
        #expect(bench.looks.isEmpty)
    }

    @Test func `a metered path spends no more than its budget, in whatever state`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 100_000
        for answer in [ValidationResult.full, .limited(.noAnswer), .inconclusive] {
            var bench = ValidationBench(options)
            bench.answer = answer
            bench.bytes = 4000
            bench.take([.sample(isMetered: true)])
            bench.pass(.seconds(86_400))
            // What was saved up, and what a day brings.
            #expect(bench.probes.count <= 50)
            #expect(bench.probes.count >= 45)
            bench.forget()
            bench.pass(.seconds(86_400))
            #expect((24...26).contains(bench.probes.count))
        }
    }

    @Test func `reconnecting brings no new budget`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 10_000
        options.expectedBytes = 4000
        var bench = ValidationBench(options)
        bench.bytes = 4000
        for number in 1...20 { bench.take([.sample(gateway: "192.0.2.\(number)", isMetered: true)]) }
        #expect(bench.probes.count == 2)
        #expect(bench.connectivity == .unknown)
        bench.pass(.seconds(86_400))
        #expect(bench.connectivity == .full)
    }

    @Test func `a path that is not metered has no budget, nor has any where it is zero`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 1000
        var bench = ValidationBench(options)
        bench.bytes = 100_000
        bench.take([.sample()])
        bench.pass(.seconds(3000))
        #expect(bench.probes.count == 11)
        options.meteredBytesPerDay = 0
        bench = ValidationBench(options)
        bench.bytes = 100_000
        bench.take([.sample(isMetered: true)])
        bench.pass(.seconds(3000))
        #expect(bench.probes.count == 11)
    }

    @Test func `somebody's answer brings a path in trouble back at once, and no path that works is asked for it`() {
        var bench = ValidationBench()
        bench.take([.sample()])
        bench.pass(.seconds(10))
        bench.forget()
        bench.hearAnswer()
        #expect(bench.probes.isEmpty)
        bench.answer = .limited(.noAnswer)
        bench.doubt()
        bench.pass(.seconds(100))
        #expect(bench.connectivity == .limited)
        bench.answer = .full
        bench.forget()
        bench.hearAnswer(in: .ipv6)
        #expect(bench.probes.isEmpty, "that is another family's")
        bench.hearAnswer(in: .ipv4)
        #expect(bench.connectivity == .full && bench.probes.count == 1)
    }

    @Test func `answers that prove nothing are asked about ever more rarely`() {
        var bench = ValidationBench()
        bench.answer = .limited(.noAnswer)
        bench.take([.sample()])
        bench.pass(.seconds(600))
        bench.forget()
        for _ in 0..<600 {
            bench.hearAnswer()
            bench.pass(.seconds(1))
        }
        #expect(bench.probes.count >= 3 && bench.probes.count <= 12, "\(bench.probes)")
    }
}
