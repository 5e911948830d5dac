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

/// A host that leaves or returns.
typealias Move = (member: Int, time: Timestamp, isHere: Bool)

/// The absences between departures and returns, the earliest first. A return without a departure is none.
func absences(
    of moves: [Move], evidence: Absence.Evidence = .presumed, reason: Reason? = nil
) -> [Absence] {
    var open: [Int: Timestamp] = [:]
    var list: [Absence] = []
    for move in moves.sorted(by: { ($0.time, $0.member) < ($1.time, $1.member) }) {
        if !move.isHere {
            open[move.member] = open[move.member] ?? move.time
        } else if let start = open.removeValue(forKey: move.member), start < move.time {
            list.append(Absence(member: move.member, start: start, end: move.time, evidence: evidence, reason: reason))
        }
    }
    list += open.map { Absence(member: $0, start: $1, evidence: evidence, reason: reason) }
    return list.sorted { ($0.start ?? at(-1e6), $0.member) < ($1.start ?? at(-1e6), $1.member) }
}

extension Outage {
    var line: String { sentence.text { String($0.description.dropFirst(11).prefix(8)) } }
}
