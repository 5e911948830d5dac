import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop

/// `fleetfill SERVER COUNT [TTL]`: puts the states and leases of that many hosts into the buckets of a fleet, as their agents
/// would. Of ten hosts one has no lease, and one is behind a portal.
@main enum Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let count = Int(arguments[2]) else { fatalError("fleetfill SERVER COUNT [TTL]") }
        let link = try NATSLink.connect(NATSSettings(servers: [try NATSServer(arguments[1])]))
        let headers = arguments.count > 3 ? [HeaderField("Nats-TTL", arguments[3])] : []
        for index in 0..<count {
            let id = "host-\(String(1_000_000 + index).dropFirst())"
            try link.publish(
                FleetNames.subject(ofKey: id, in: FleetNames.state), try state(of: id, index).bytes)
            if index % 10 != 9 {
                let lease = HostLease(boot: "b", n: 1, since: SystemClock.now.wall, behind: 0)
                try link.publish(FleetNames.subject(ofKey: id, in: FleetNames.lease), headers: headers, lease.bytes)
            }
            if index % 1000 == 999 { try link.flush() }
        }
        try link.flush()
    }

    private static func state(of id: String, _ index: Int) throws -> HostState {
        let now = SystemClock.now
        var state = HostState(
            host: id, version: "0.1.0", written: now, boot: "0123456789abcdef", lease: .seconds(120))
        let gateway = IPAddress("203.0.113.\(index % 250 + 1)")
        state.name = "till \(index)"
        state.labels = ["site": "berlin-\(index % 50)", "isp": "example-\(index % 5)"]
        state.status = HostStatus(
            .reachable, linkClass: index % 3 == 0 ? .wwan : .wifi, interface: "wlan0",
            connectivity: index % 10 == 8 ? .portal : .full, since: now.wall,
            ipv4: HostStatus.Path(
                .reachable, interface: "wlan0", linkClass: .wifi, gateway: gateway,
                source: IPPrefix("192.0.2.0/24"), connectivity: .full))
        return state
    }
}
