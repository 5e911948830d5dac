import ReachCore
import ReachRecords
import Testing

@Suite struct MeteredTrafficTests {
    private static func time(_ hour: Int64) -> Timestamp { Timestamp(nanosecondsSince1970: hour * 3_600_000_000_000) }

    private static func sample(
        _ received: UInt64, _ sent: UInt64 = 0, index: InterfaceIndex = 2, isMetered: Bool = true
    ) -> MeteredTraffic.Sample {
        MeteredTraffic.Sample(
            index: index, interface: "wwan\(index)", linkClass: "wwan", isMetered: isMetered, received: received,
            sent: sent)
    }

    private static func sums(_ traffic: MeteredTraffic, _ from: Int64 = 0, _ to: Int64 = 100) -> [[Int64]] {
        traffic.sums(from: time(from), to: time(to)).map { [$0.received, $0.sent] }
    }

    @Test func `only what is carried between two samples counts`() {
        var traffic = MeteredTraffic()
        let samples: [(UInt64, UInt64, Int64)] = [(1000, 500, 1), (1010, 500, 1), (1010, 500, 2), (1010, 507, 2)]
        let counted = samples.map { traffic.add([Self.sample($0, $1)], at: Self.time($2)) }
        #expect(counted == [false, true, false, true])
        #expect(Self.sums(traffic) == [[10, 7]])
        #expect(Self.sums(traffic, 2, 3) == [[0, 7]])
        #expect(Self.sums(traffic, 3, 4) == [])
        #expect(traffic.hours.map(\.number) == [1, 2])
    }

    @Test func `a link that is made again counts from zero, and one without a meter not at all`() {
        var traffic = MeteredTraffic()
        traffic.add([Self.sample(1000)], at: Self.time(1))
        traffic.add([], at: Self.time(1))
        traffic.add([Self.sample(5)], at: Self.time(1))
        traffic.add([Self.sample(3)], at: Self.time(1))
        #expect(Self.sums(traffic) == [[8, 0]])
        traffic.add([Self.sample(100, isMetered: false)], at: Self.time(1))
        traffic.add([Self.sample(101)], at: Self.time(1))
        #expect(Self.sums(traffic) == [[9, 0]])
    }

    @Test func `a counter that jumps counts no more than an hour can carry`() {
        var traffic = MeteredTraffic()
        for received in [0, UInt64.max, 1, UInt64.max] { traffic.add([Self.sample(received)], at: Self.time(1)) }
        #expect(Self.sums(traffic) == [[MeteredTraffic.mostBytes, 0]])
    }

    @Test func `a clock that was set back counts in the hour that it shows, and set right it goes on`() {
        var traffic = MeteredTraffic()
        for (received, hour) in [(0, 50), (10, 50), (15, -20), (16, 2), (36, 50)] as [(UInt64, Int64)] {
            traffic.add([Self.sample(received)], at: Self.time(hour))
        }
        #expect(Self.sums(traffic, 50, 51) == [[30, 0]])
        #expect(Self.sums(traffic, -20, -20) == [[5, 0]] && Self.sums(traffic, 0, 3) == [[1, 0]])
        #expect(traffic.hours.map(\.number) == [-20, 2, 50])
    }

    @Test func `links are sorted by what they carried, and the oldest hours go first`() {
        var traffic = MeteredTraffic()
        traffic.add([], at: Self.time(0))
        for hour in 1...Int64(MeteredTraffic.mostHours) + 5 {
            traffic.add([Self.sample(UInt64(hour))], at: Self.time(hour))
        }
        #expect(traffic.hours.count == MeteredTraffic.mostHours && traffic.hours.first?.number == 6)
        traffic.add([Self.sample(0), Self.sample(1 << 40, index: 3)], at: Self.time(3000))
        #expect(traffic.sums(from: Self.time(0), to: Self.time(3000)).map(\.interface) == ["wwan3", "wwan2"])
    }
}
