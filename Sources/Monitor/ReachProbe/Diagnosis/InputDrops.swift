internal import ReachCore
internal import ReachLoop

/// The packets to this machine itself that came in and reached no program and no protocol, at least: those that its
/// firewall drops. Broadcasts do not count, which every network has and many firewalls drop.
struct InputDrops {
    private let atStart = Self.counts

    var sinceStart: [IPAddress.Family: UInt64] {
        Self.counts.reduce(into: [:]) { drops, entry in
            let count = entry.value - (atStart[entry.key] ?? entry.value)
            drops[entry.key] = UInt64(max(0, count))
        }
    }

    /// The counters of this network namespace (`IPSTATS_MIB_*`): what came in, less what is accounted for in another
    /// way.
    private static var counts: [IPAddress.Family: Int64] {
        let ipv4 = pairs("/proc/thread-self/net/snmp", of: "Ip:").merging(
            pairs("/proc/thread-self/net/netstat", of: "IpExt:")
        ) { $1 }
        let ipv6 = Dictionary(
            (SmallFile.text("/proc/thread-self/net/snmp6") ?? "").split(scalar: "\n").compactMap {
                line -> (String, Int64)? in
                let words = line.split(scalar: " ", omittingEmptySubsequences: true)
                guard words.count == 2, words[0].hasUTF8Prefix("Ip6"),
                    let number = Int64(words[1].filterScalars { $0 != "\t" })
                else { return nil }
                return (String(words[0].dropFirst(3).filterScalars { $0 != "\t" }), number)
            }, uniquingKeysWith: { $1 })
        return [.ipv4: unaccounted(ipv4), .ipv6: unaccounted(ipv6)]
    }

    private static func unaccounted(_ values: [String: Int64]) -> Int64 {
        let accounted = [
            "InDelivers", "InMcastPkts", "InBcastPkts", "ForwDatagrams", "OutForwDatagrams", "InHdrErrors",
            "InAddrErrors",
            "InDiscards", "InNoRoutes", "InTruncatedPkts", "InTooBigErrors",
        ]
        // Fragments come in as many, and are delivered as one packet.
        let fragments = (values["ReasmReqds"] ?? 0) - (values["ReasmOKs"] ?? 0)
        return (values["InReceives"] ?? 0) - accounted.reduce(0) { $0 + (values[$1] ?? 0) } - fragments
    }

    /// Lines of names and of values, in turn.
    private static func pairs(_ path: String, of title: String) -> [String: Int64] {
        let lines = (SmallFile.text(path) ?? "").split(scalar: "\n").map { $0.split(scalar: " ") }
        for (names, values) in zip(lines, lines.dropFirst())
        where names.first == values.first && names.first ?? "" == title {
            return Dictionary(
                zip(names, values).dropFirst().compactMap { name, value in Int64(value).map { (String(name), $0) } },
                uniquingKeysWith: { $1 })
        }
        return [:]
    }
}
