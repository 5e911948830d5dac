import ReachCore
import ReachProbe
import Testing

/// What was proved of a network, after another device has taken over the gateway's address.
struct ValidationNetworkTests {
    private static func route(_ device: String?) -> DefaultRoute {
        var route = DefaultRoute.sample()
        route.gatewayDevice = device.flatMap { HardwareAddress($0) }
        return route
    }

    private let first = route("02:00:00:00:00:01")
    private let second = route("02:00:00:00:00:02")
    private let unknown = route(nil)

    @Test func `proof does not count for another device with the gateway's address, and a check follows at once`() {
        var bench = ValidationBench()
        bench.update([first])
        bench.pass(.seconds(60))
        #expect(bench.connectivity == .full && bench.probes == [0])
        bench.answer = nil
        bench.update([second])
        #expect(bench.connectivity == .unknown && bench.probes == [0, 60])
    }

    @Test func `a device that becomes known, or is not known for a moment, is no other one`() {
        var bench = ValidationBench()
        for route in [unknown, first, unknown, first] { bench.update([route]) }
        bench.pass(.seconds(60))
        #expect(bench.connectivity == .full && bench.probes == [0])
        bench.answer = nil
        // It was forgotten in between.
        bench.update([unknown])
        bench.update([second])
        #expect(bench.connectivity == .unknown && bench.probes == [0, 60])
    }

    @Test func `a result that belongs to the device before is ignored`() {
        var bench = ValidationBench()
        bench.answer = nil
        bench.update([first])
        let ticket = bench.open[0]
        bench.update([second])
        #expect(bench.cancelled == [ticket])
        bench.reply(.full, to: ticket)
        #expect(bench.connectivity == .unknown)
    }

    @Test func `two devices that claim the gateway's address in turn cause a check each five seconds`() {
        var bench = ValidationBench()
        bench.update([first])
        bench.pass(.seconds(100))
        for number in 0..<20 {
            bench.update([number.isMultiple(of: 2) ? second : first])
            bench.pass(.seconds(1))
        }
        #expect(bench.probes == [0, 100, 105, 110, 115, 120])
    }
}
