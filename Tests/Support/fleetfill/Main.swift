import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop

/// `fleetfill SERVER COUNT [TTL [EVENTS]]`: puts the states and leases of that many hosts into the buckets of a fleet,
/// as their agents would, and a chunk with that many events of each host into its stream. Of ten hosts one has no
/// lease, and one is behind a portal. TTL is that of a lease, such as `60s`; `-` for none.
@main enum Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let count = Int(arguments[2]) else {
            fatalError("fleetfill SERVER COUNT [TTL [EVENTS]]")
        }
        let link = try NATSLink.connect(NATSSettings(servers: [try NATSServer(arguments[1])]))
        let headers =
            arguments.count > 3 && arguments[3] != "-" ? [HeaderField("Nats-TTL", arguments[3])] : []
        let events = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
        for index in 0..<count {
            let id = "host-\(String(1_000_000 + index).dropFirst())"
            try link.publish(
                FleetNames.subject(ofKey: id, in: FleetNames.state), try state(of: id, index).bytes)
            if index % 10 != 9 {
                let lease = HostLease(boot: "b", n: 1, since: SystemClock.now.wall, behind: 0)
                try link.publish(FleetNames.subject(ofKey: id, in: FleetNames.lease), headers: headers, lease.bytes)
            }
            if events > 0 {
                let chunk = chunk(events)
                try link.publish(
                    FleetNames.eventSubject(of: id), headers: chunk.headers(expecting: 0), chunk.payload)
            }
            if index % 100 == 99 { try link.flush() }
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

    /// Events of the last hour: the path comes and goes.
    private static func chunk(_ count: Int) -> EventChunk {
        let now = SystemClock.now
        let lines = (1...count).map { n in
            let ago = Duration.seconds(-3600.0 * Double(count - n + 1) / Double(count))
            let (wall, boot) = (now.wall + ago, now.boot + ago)
            let isDown = n % 2 == 1 && n < count
            var json = JSONWriter()
            json.object { json in
                json.field("v", 1)
                json.field("type", "change")
                json.field("time", wall)
                json.field("boottime_ns", max(boot.nanoseconds, 0))
                json.field("log", "log1")
                json.field("n", Int64(n))
                json.field("cause", isDown ? "carrier-lost" : "carrier-gained")
                json.key("status")
                HostStatus(
                    isDown ? .notReachable : .reachable, reason: isDown ? .noCarrier : nil,
                    linkClass: isDown ? nil : .wired, since: wall, epoch: UInt64(n)
                ).write(to: &json)
            }
            return json.bytes
        }
        return EventChunk(
            log: "log1", first: 1, last: UInt64(count), boot: "b", eventBoot: "b", sent: now, lines: lines)
    }
}
