import Glibc
import ReachCore
import ReachFleet
import Testing

/// A second of the tests' day.
func at(_ seconds: Double) -> Timestamp {
    Timestamp(nanosecondsSince1970: 1_795_230_000_000_000_000 + Int64(seconds * 1e9))
}

/// Hosts of three sites behind a network each, two of them of one provider.
func fleet(sites: Int = 3, hosts: Int = 20) -> [FleetMember] {
    (0..<sites * hosts).map { index in
        let site = index / hosts
        return FleetMember(
            host: "h\(index)", gateway: IPAddress("192.168.1.1"),
            address: IPAddress("203.0.\(site + 1).\(index % hosts + 1)"),
            labels: ["site": "s\(site)", "isp": site == 0 ? "north" : "south"],
            linkClass: index % 2 == 0 ? "wifi" : "wwan")
    }
}

func away(_ members: some Sequence<Int>, from start: Double, to end: Double? = nil) -> [Absence] {
    members.enumerated().map { Absence(member: $1, start: at(start + Double($0) * 0.01), end: end.map(at)) }
}

extension Outage {
    var line: String { sentence.text { String($0.description.dropFirst(11).prefix(8)) } }
}

/// How long this thread has run on a processor, which does not depend on the machine's load.
func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
