package import ReachCore

/// The settings used from /etc/resolv.conf, /etc/hosts and /etc/nsswitch.conf: a value, parsed from text.
package struct ResolverConfiguration: Hashable, Sendable {
    /// A name server; queries go to port 53 except in tests.
    package struct Server: Hashable, Sendable {
        package var address: IPAddress
        package var port: UInt16 = 53
        /// The interface of a link-local address.
        package var zone: String?

        package init(_ address: IPAddress, port: UInt16 = 53, zone: String? = nil) {
            self.address = address
            self.port = port
            self.zone = zone
        }
    }

    /// In the order in which they are queried.
    package var servers: [Server]
    /// Addresses by name, in lower case.
    package var hosts: [String: [IPAddress]]
    /// The services of nsswitch.conf(5) that look up hosts, in their order.
    package var services = defaultServices
    /// The domains that complete a name, in order; an empty one stands for the root.
    package var searchList: [String] = []
    package var options = Options()

    /// The C library's default without a line of nsswitch.conf.
    private static let defaultServices = ["files", "dns"]
    /// The C library's limit (MAXNS of resolv.h).
    private static let serverLimit = 3

    package init(servers: [Server], hosts: [String: [IPAddress]] = [:]) {
        self.servers = servers
        self.hosts = hosts
    }

    /// - Parameters:
    ///   - resolv: The text of resolv.conf(5). Without a `nameserver`, this machine is queried.
    ///   - hosts: The text of hosts(5).
    ///   - services: The text of nsswitch.conf(5).
    ///   - hostName: This machine's name, whose domain is the search list where the text has none.
    package init(resolv: String, hosts: String, services: String = "", hostName: String = "") {
        let servers = ResolverText.nameServers(in: resolv).map { Server($0.address, zone: $0.zone) }
        self.servers =
            servers.isEmpty ? [Server(IPAddress(ipv4: 0x7f00_0001))] : Array(servers.prefix(Self.serverLimit))
        searchList = ResolverText.searchList(in: resolv) ?? hostName.cut(at: ".").map { [String($0.after)] } ?? []
        options = Options(ResolverText.options(in: resolv))
        let line = ResolverText.lines(services).last { $0[0].lowercased() == "hosts:" }
        if let line {
            // Words in brackets are conditions for the next service.
            self.services = line.dropFirst().filter { !$0.hasUTF8Prefix("[") && !$0.hasUTF8Suffix("]") }.map(
                String.init)
        }
        self.hosts = [:]
        for words in ResolverText.lines(hosts) {
            guard let address = IPAddress(String(words[0])) else { continue }
            for name in words.dropFirst() {
                let found = self.hosts[name.lowercased(), default: []]
                if !found.contains(address) { self.hosts[name.lowercased()] = found + [address] }
            }
        }
    }

    /// The addresses of a name that are known without a query; `nil` for others.
    package func addresses(of name: String) -> [IPAddress]? {
        let name = (name.before(".").map(String.init) ?? name).lowercased()
        if services.contains("files"), let found = hosts[name] { return found }
        // Never queried (RFC 6761 section 6.3).
        guard name == "localhost" || name.hasUTF8Suffix(".localhost") else { return nil }
        return [IPAddress(ipv6: 0, 1), IPAddress(ipv4: 0x7f00_0001)]
    }
}
