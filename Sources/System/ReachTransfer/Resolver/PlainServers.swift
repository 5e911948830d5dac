internal import ReachCore
internal import Synchronization

/// The name servers that answer only questions without EDNS, for a while: a value; the caller has the clock.
///
/// Some forwarders drop a question with a record that they do not know, instead of refusing it (RFC 6891 section
/// 6.2.2). Without this memory each question would first wait for such a server in vain.
struct PlainServers {
    struct Key: Hashable {
        let server: ResolverConfiguration.Server
        let interface: InterfaceBinding?
    }

    /// A network's forwarder may be replaced.
    static let lifetime = Duration.seconds(600)
    private static let limit = 64

    /// Those that any channel of this process found.
    static let known = Mutex(PlainServers())

    private var ends: [Key: BootTime] = [:]

    mutating func note(_ key: Key, at now: BootTime) {
        ends = ends.filter { $0.value > now }
        if ends.count >= Self.limit { ends = [:] }
        ends[key] = now + Self.lifetime
    }

    func contains(_ key: Key, at now: BootTime) -> Bool { ends[key].map { $0 > now } ?? false }
}
