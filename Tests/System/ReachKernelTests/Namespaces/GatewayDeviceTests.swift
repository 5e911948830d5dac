import ReachCore
import ReachTesting
import Testing

/// Which device has a gateway's address, on a machine that gives networks no names.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct GatewayDeviceTests {
    @Test(arguments: ["", "metric 500"])
    func `another device with the gateway's address is in the next snapshot, also of a route that is not preferred`(
        metric: String
    ) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        if !metric.isEmpty {
            try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1", "metric", "500")
            try namespace.run("ip", "route", "del", "default", "metric", "0")
            try namespace.run("ip", "link", "add", "up2", "type", "veth", "peer", "name", "far2")
            for link in ["up2", "far2"] { try namespace.run("ip", "link", "set", link, "up") }
            try namespace.run("ip", "address", "add", "198.51.100.2/24", "dev", "up2")
            try namespace.run("ip", "route", "add", "default", "via", "198.51.100.1")
        }
        func set(_ device: String) throws {
            try namespace.run("ip", "neigh", "replace", "192.0.2.1", "lladdr", device, "dev", "up0", "nud", "reachable")
        }
        let networks = EventLog<NetworkSnapshot>()
        let engine = try await TestEngine.start(in: namespace, networks: networks)
        for device in ["02:00:00:00:00:01", "02:00:00:00:00:02"] {
            try set(device)
            try await networks.wait { networks in
                networks.last?.routes.first { $0.name == "up0" }?.gatewayDevice?.description == device
            }
        }
        #expect(engine.state?.interface == (metric.isEmpty ? "up0" : "up2"))
    }
}
