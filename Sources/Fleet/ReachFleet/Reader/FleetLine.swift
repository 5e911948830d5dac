package import ReachCore

/// The hosts that come from one public address, and so are at the end of one line of a provider.
///
/// The line carries if one of its hosts is with the server. If none is, the one that went last says what became of it:
/// who said goodbye, did so over the line.
package struct FleetLine: Hashable, Sendable {
    /// An IPv4 address, or the /56 of an IPv6 address.
    package let network: IPPrefix
    package let word: HostWord
    /// Since when it carries nothing, or not the Internet; `nil` of one that does.
    package private(set) var since: Timestamp?
    /// In the order of their identities.
    package let hosts: [String]
    /// How many of them are with the server.
    package let connected: Int

    /// The lines of the hosts whose address is known, in the order of their addresses.
    package static func list(_ hosts: [RosterHost], _ engine: EngineFacts) -> [FleetLine] {
        list(hosts.compactMap { host in host.connection?.address.map { (host.id, $0, host.presence(engine)) } })
    }

    package static func list(_ hosts: [(id: String, address: IPAddress, presence: HostPresence)]) -> [FleetLine] {
        var members: [IPPrefix: [(id: String, presence: HostPresence)]] = [:]
        for (id, address, presence) in hosts {
            guard let network = network(of: address) else { continue }
            members[network, default: []].append((id, presence))
        }
        return members.map { FleetLine($0.key, $0.value) }.sorted { $0.place < $1.place }
    }

    private static func network(of address: IPAddress) -> IPPrefix? {
        address.family == .ipv4 ? IPPrefix(address, length: 32) : SharedTrait.network(of: address)
    }

    private init(_ network: IPPrefix, _ members: [(id: String, presence: HostPresence)]) {
        self.network = network
        hosts = members.map(\.id).sorted()
        let with = members.filter { $0.presence.word == .here || $0.presence.word == .limited }
        connected = with.count
        // One target or probe that is down is no trouble of the line.
        if with.contains(where: { $0.presence.word == .here || $0.presence.isDegraded }) {
            word = .here
            return
        }
        let last = (with.isEmpty ? members : with).max {
            ($0.presence.since ?? .distantPast, $0.id) < ($1.presence.since ?? .distantPast, $1.id)
        }
        (word, since) = (last?.presence.word ?? .unseen, last?.presence.since)
    }

    private var place: (UInt8, UInt64, UInt64) {
        (network.address.family.rawValue, network.address.high, network.address.low)
    }

    /// For people: an address alone where it is one.
    package var name: String {
        network.length == 32 && network.address.family == .ipv4 ? "\(network.address)" : "\(network)"
    }
}

extension Timestamp {
    fileprivate static let distantPast = Timestamp(nanosecondsSince1970: .min)
}

extension JSONWriter {
    /// A line for programs.
    package mutating func line(_ line: FleetLine) {
        object { json in
            json.field("v", 1)
            json.field("type", "fleet-line")
            json.field("address", line.name)
            json.field("word", line.word.rawValue)
            json.field("state", line.word.shown)
            json.field("since", line.since?.description)
            json.field("hosts", line.hosts)
            json.field("connected", Int64(line.connected))
        }
    }
}
