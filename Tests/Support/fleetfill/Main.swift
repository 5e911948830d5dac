import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop

/// `fleetfill SERVER COUNT [TTL [EVENTS [OUTAGES]]]`: puts the states and leases of that many hosts into the buckets of
/// a fleet, as their agents would, and into its stream a chunk with that many events of each host within the last hour,
/// and for each of that many outages within the last year a chunk with its two events. Of ten hosts one has no lease,
/// and one is behind a portal. TTL is that of a lease, such as `60s`; `-` for none.
@main enum Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let count = Int(arguments[2]) else {
            fatalError("fleetfill SERVER COUNT [TTL [EVENTS [OUTAGES]]]")
        }
        let link = try NATSLink.connect(NATSSettings(servers: [try NATSServer(arguments[1])]))
        let headers =
            arguments.count > 3 && arguments[3] != "-" ? [HeaderField("Nats-TTL", arguments[3])] : []
        let events = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
        let outages = arguments.count > 5 ? Int(arguments[5]) ?? 0 : 0
        for index in 0..<count {
            let id = "host-\(String(1_000_000 + index).dropFirst())"
            try link.publish(
                FleetNames.subject(ofKey: id, in: FleetNames.state), try state(of: id, index).bytes)
            if index % 10 != 9 {
                let lease = HostLease(boot: "b", n: 1, since: SystemClock.now.wall, behind: 0)
                try link.publish(FleetNames.subject(ofKey: id, in: FleetNames.lease), headers: headers, lease.bytes)
            }
            if events > 0 {
                let chunk = chunk("log1", ago: (1...events).map { 3600 * Double(events - $0 + 1) / Double(events) })
                try link.publish(
                    FleetNames.eventSubject(of: id), headers: chunk.headers(expecting: 0), chunk.payload)
            }
            for outage in 0..<outages {
                let share = (Double(outages - 1 - outage) + Double(index % 977) / 977) / Double(outages)
                let ago = 7200 + share * 364 * 86_400
                let chunk = chunk("year", from: 2 * outage + 1, ago: [ago, ago - 120])
                // Without what the subject's last message has to be: the server's answers are not read.
                let headers = Array(chunk.headers(expecting: 0).dropFirst())
                try link.publish(FleetNames.eventSubject(of: id), headers: headers, chunk.payload)
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

    /// Events so many seconds ago: the path goes and comes.
    private static func chunk(_ log: String, from first: Int = 1, ago: [Double]) -> EventChunk {
        // As of a machine that has run for longer than the oldest is ago.
        let now = Instant(wall: SystemClock.now.wall, boot: SystemClock.now.boot + .seconds(400 * 86_400))
        let lines = ago.enumerated().map { index, seconds in
            let (wall, boot) = (now.wall + .seconds(-seconds), now.boot + .seconds(-seconds))
            let isDown = index % 2 == 0 && index + 1 < ago.count
            var json = JSONWriter()
            json.object { json in
                json.field("v", 1)
                json.field("type", "change")
                json.field("time", wall)
                json.field("boottime_ns", boot.nanoseconds)
                json.field("log", log)
                json.field("n", Int64(first + index))
                json.field("cause", isDown ? "carrier-lost" : "carrier-gained")
                json.key("status")
                HostStatus(
                    isDown ? .notReachable : .reachable, reason: isDown ? .noCarrier : nil,
                    linkClass: isDown ? nil : .wired, since: wall, epoch: UInt64(first + index)
                ).write(to: &json)
            }
            return json.bytes
        }
        return EventChunk(
            log: log, first: UInt64(first), last: UInt64(first + ago.count - 1), boot: "b", eventBoot: "b", sent: now,
            lines: lines)
    }
}
