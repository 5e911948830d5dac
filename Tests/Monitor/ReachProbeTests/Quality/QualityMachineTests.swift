import ReachCore
import ReachKernel
import ReachProbe
import ReachRecords
import ReachTesting
import Testing

@Suite struct QualityMachineTests {
    private func bench(seed: UInt64 = 1, _ change: (inout QualityBench) -> Void = { _ in }) -> QualityBench {
        var bench = QualityBench(seed: seed)
        change(&bench)
        bench.update()
        return bench
    }

    @Test func `a line without paths has no timer, and one with a path a word after a minute`() {
        #expect(QualityMachine().deadline == nil)
        var bench = bench()
        bench.pass(.seconds(59))
        #expect(bench.quality == nil)
        bench.pass(.seconds(2))
        #expect(
            bench.quality
                == LineQuality(.good, lossPermille: 0, roundTrip: .milliseconds(20), jitter: .zero, packets: 11))
        bench.machine.update([], at: bench.now)
        #expect(bench.machine.deadline == nil && bench.quality == nil)
    }

    @Test func `at most two packets are sent in ten seconds, to two witnesses in turn`() {
        var bench = bench { $0.witnesses.append(IPAddress(ipv4: 0xc633_6452)) }
        bench.pass(.seconds(600))
        #expect(bench.echoes.count == 120)
        for (earlier, later) in zip(bench.echoes, bench.echoes.dropFirst(2)) { #expect(later.at - earlier.at >= 10) }
        #expect(Set(bench.echoes.map(\.to)) == Set(bench.witnesses.prefix(2)))
        #expect(zip(bench.echoes, bench.echoes.dropFirst()).allSatisfy { $0.to != $1.to })
    }

    @Test func `where bytes flow nothing is sent, and the round trip stays what it was`() {
        var bench = bench()
        bench.pass(.seconds(300))
        let idle = bench.echoes.count
        bench.bytesPerSecond = 5_000_000
        bench.roundTrip = .seconds(2)
        bench.repeated = 0.015
        bench.pass(.seconds(1800))
        // One that was due at the moment when bytes began to flow.
        #expect(bench.echoes.count <= idle + 1)
        #expect(bench.quality?.word == .good && bench.quality?.roundTrip == .milliseconds(20))
        #expect(bench.words.map(\.word) == [nil, .good])
    }

    @Test(arguments: 1...20)
    func `a good line is never called anything else in a day`(seed: Int) {
        var bench = bench(seed: UInt64(seed)) { $0.loss = 0.001 }
        bench.pass(.seconds(86_400))
        #expect(bench.words.map(\.word) == [nil, .good])
    }

    @Test(arguments: [0.05, 0.08, 0.12, 0.3], 1...20)
    func `a lossy line is called that within half an hour, with its share`(loss: Double, seed: Int) throws {
        var bench = bench(seed: UInt64(seed)) { $0.loss = loss }
        bench.pass(.seconds(1800))
        #expect(bench.words.contains { $0.word == .lossy }, "\(bench.words)")
        #expect(!bench.words.contains { $0.word == .slow })
    }

    @Test func `segments that TCP repeats make a busy line lossy, and those of a short upload do not`() {
        var bench = bench {
            $0.bytesPerSecond = 500_000; $0.repeated = 0.08
        }
        bench.pass(.seconds(300))
        #expect(bench.quality?.word == .lossy)
        #expect((70...90).contains(bench.quality?.lossPermille ?? 0))
        var other = self.bench()
        other.pass(.seconds(240))
        other.bytesPerSecond = 500_000
        other.repeated = 0.3
        other.pass(.seconds(50))
        other.bytesPerSecond = 0
        other.pass(.seconds(600))
        #expect(!other.words.contains { $0.word == .lossy }, "\(other.words)")
    }

    @Test func `a slow line is called that in its second minute, and good again once it is quick`() {
        var bench = bench { $0.roundTrip = .milliseconds(700) }
        bench.pass(.seconds(121))
        #expect(bench.words.map(\.word) == [nil, .good, .slow])
        bench.roundTrip = .milliseconds(30)
        bench.pass(.seconds(600))
        #expect(bench.quality?.word == .good)
    }

    @Test func `a witness that limits its answers does not make the line lossy`() {
        var bench = bench { $0.limits = [$0.witnesses[1]: 0.5] }
        bench.pass(.seconds(3600))
        #expect(bench.words.map(\.word) == [nil, .good])
    }

    @Test func `a host that never answers is not asked again, and another takes its turn`() {
        var bench = bench {
            $0.witnesses.append(IPAddress(ipv4: 0xc633_6452))
            $0.limits = [$0.witnesses[0]: 1]
        }
        bench.pass(.seconds(1200))
        #expect(bench.echoes.count { $0.to == bench.witnesses[0] } == 3)
        #expect(Set(bench.echoes.suffix(20).map(\.to)) == Set(bench.witnesses.suffix(2)))
        #expect(bench.quality?.lossPermille == 0)
    }

    @Test func `a line that no longer answers is doubted once, within half a minute`() {
        var bench = bench()
        bench.pass(.seconds(120))
        bench.loss = 1
        bench.pass(.seconds(600))
        #expect(bench.doubts.count == 1 && bench.doubts[0] - 120 <= 30)
        bench.loss = 0
        bench.pass(.seconds(60))
        bench.loss = 1
        bench.pass(.seconds(60))
        #expect(bench.doubts.count == 2)
    }

    @Test func `what this machine cannot send is no packet of the line`() {
        var bench = bench()
        bench.pass(.seconds(120))
        bench.cannotSend = true
        bench.pass(.seconds(600))
        #expect(bench.doubts.isEmpty)
        #expect(bench.quality?.word != .lossy && (bench.quality?.lossPermille ?? 0) == 0)
    }

    @Test func `each five minutes are recorded, and another gateway begins another line`() throws {
        var bench = bench { $0.loss = 0.1 }
        bench.pass(.seconds(900))
        #expect(bench.periods.count == 3)
        let period = try #require(bench.periods.last)
        #expect(period.interface == bench.route.name && period.length == .seconds(300) && period.packets == 60)
        #expect(period.trips?.median == .milliseconds(20))
        bench.route.gateway = IPAddress(ipv4: 0xc000_02fe)
        bench.update()
        #expect(bench.quality == nil)
    }

    @Test func `a path of the other family is another line, also without a gateway`() {
        var bench = bench { $0.route.gateway = nil }
        bench.pass(.seconds(121))
        #expect(bench.quality != nil)
        bench.route = .sample(.ipv6)
        bench.route.gateway = nil
        bench.update()
        #expect(bench.quality == nil)
    }

    @Test func `a link whose counters began again, or are not known, is not busy`() {
        var bench = bench()
        let index = bench.route.key.interface
        func isAsked(_ commands: [QualityCommand]) -> Bool {
            commands.contains { if case .echo = $0 { true } else { false } }
        }
        _ = bench.machine.timeReached(at: bench.now + .seconds(5))
        for bytes in [1_000_000, 10, 20, nil, 1_000_000, 1_032_767] as [UInt64?] {
            #expect(isAsked(bench.machine.counted(bytes, by: index)), "\(bytes ?? 0)")
        }
        #expect(!isAsked(bench.machine.counted(1_065_535, by: index)), "32 KiB more than before")
    }

    @Test func `answers to earlier requests, and of lines that are gone, change nothing`() {
        var bench = bench { $0.loss = 1 }
        bench.pass(.seconds(6))
        for ticket in 0...9 as ClosedRange<UInt64> where ticket != 1 {
            bench.machine.answered(ticket, by: bench.route.key.interface, after: .milliseconds(1))
        }
        bench.machine.answered(1, by: 999, after: .milliseconds(1))
        bench.pass(.seconds(120))
        #expect(bench.quality == nil)
    }
}
