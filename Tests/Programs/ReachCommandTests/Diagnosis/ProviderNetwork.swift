import ReachCore
import ReachTesting

/// A provider's router and the Internet behind it, with servers that work and servers that are broken. Homes share it:
///
///     client 192.0.2.2 -- home router, which masquerades -- 203.0.113.4N+1 provider .253 -- .254 Internet 198.51.100.0/24
final class ProviderNetwork: Sendable {
    static let whyNot = SmallInternet.whyNot
    /// Addresses that stand for the Internet, as those of the root's name servers do by default.
    static let anchors = ["198.51.100.4", "2001:db8:80::4"]

    let provider: TestNamespace
    let internet: TestNamespace
    let authority: CertificateAuthority
    let files: TemporaryDirectory
    /// Held open for the scenes.
    private let servers: [Server]

    /// A server's owner. Only its deinitialiser is used.
    private struct Server: @unchecked Sendable { let object: AnyObject }

    init() throws {
        provider = try TestNamespace()
        internet = try TestNamespace()
        authority = try CertificateAuthority()
        files = try TemporaryDirectory()
        try internet.run("ip", "link", "add", "net0", "type", "veth", "peer", "name", "net1", "netns", provider.name)
        try Self.batch(internet, files, "internet", Self.internetLines)
        try Self.batch(
            provider, files, "provider",
            Self.bring("net1", "203.0.113.253/30", "2001:db8:ffff::1/64", "fe80::1/64") + [
                "route add 198.51.100.0/24 via 203.0.113.254", "route add 2001:db8:80::/48 via 2001:db8:ffff::2",
            ])
        try provider.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        // All homes are diagnosed at once, which one provider's limits of errors would not stand.
        for each in [provider, internet] { try each.run("sysctl", "-qw", "net.ipv4.icmp_ratemask=0") }
        let rules = try files.file("internet.nft", Self.faults)
        try internet.run("nft", "-f", rules)
        servers =
            try Self.scripted(in: internet, authority, files) + Self.web(in: internet, authority)
            + Self.names(in: internet, files)
    }

    func remove() {
        provider.remove()
        internet.remove()
    }

    /// Runs `ip` with many commands at once.
    static func batch(_ namespace: TestNamespace, _ files: TemporaryDirectory, _ name: String, _ lines: [String]) throws
    {
        let path = try files.file(name + ".batch", lines.joined(separator: "\n") + "\n")
        try namespace.run("ip", "-batch", path)
    }

    static func bring(_ interface: String, _ addresses: String...) -> [String] {
        ["link set \(interface) addrgenmode none", "link set \(interface) up"]
            + addresses.map { "address add \($0) dev \(interface)" + ($0.contains(":") ? " nodad" : "") }
    }

    private static let internetLines =
        bring("net0", "203.0.113.254/30", "2001:db8:ffff::2/64", "fe80::2/64")
        + ([4] + (53...61).map { $0 } + [70] + (80...88).map { $0 } + [90]).map {
            "address add 198.51.100.\($0)/32 dev lo"
        }
        + [
            "address add 2001:db8:80::80/128 dev lo nodad", "address add 2001:db8:80::4/128 dev lo nodad",
            "route add default via 203.0.113.253",
            "route add default via 2001:db8:ffff::1",
        ]

    /// What cannot be had from a server: silence and ICMP errors.
    private static let faults = """
        table inet faults {
            chain input {
                type filter hook input priority 0;
                ip daddr 198.51.100.60 meta l4proto { tcp, udp } th dport 53 drop
                ip daddr 198.51.100.54 tcp dport 53 drop
                ip daddr 198.51.100.80 tcp dport 82 drop
                ip daddr 198.51.100.87 reject with icmpx admin-prohibited
                ip daddr 198.51.100.88 drop
                ip daddr 198.51.100.90 tcp dport 3130 drop
            }
        }
        """

    // MARK: - Servers

    private static func web(in internet: TestNamespace, _ authority: CertificateAuthority) throws -> [Server] {
        let good = try authority.issue(
            "good", names: ["www", "v4", "two", "check"].map { "DNS:\($0).example.net" })
        let expired = try authority.issue("expired", names: ["DNS:expired.example.net"], validity: .expired)
        let unknown = try authority.selfSigned("unknown", names: ["DNS:unknown.example.net"])
        let pages = [500, 503].map { "location = /\($0) { return \($0); }" }.joined(separator: " ")
        func secure(_ address: String, _ identity: CertificateAuthority.Identity) -> String {
            """
            server { listen \(address):443 ssl; location = /204 { return 204; } \(pages)
                ssl_certificate \(identity.certificatePath); ssl_certificate_key \(identity.keyPath); }
            """
        }
        let server = try WebServer(
            """
            server { listen 198.51.100.80:80; listen [2001:db8:80::80]:80; location = /204 { return 204; } \(pages) }
            server { listen 198.51.100.70:80; location / { return 302 http://login.example.net/; } }
            \(secure("198.51.100.80", good)) \(secure("[2001:db8:80::80]", good))
            \(secure("198.51.100.81", expired)) \(secure("198.51.100.82", good)) \(secure("198.51.100.83", unknown))
            """, listensOn: [80, 443], in: internet)
        return [Server(object: server)]
    }

    private static func names(in internet: TestNamespace, _ files: TemporaryDirectory) throws -> [Server] {
        let hosts = try files.file(
            "hosts.dns",
            """
            198.51.100.80 www.example.net v4.example.net two.example.net check.example.net
            2001:db8:80::80 www.example.net
            198.51.100.88 two.example.net
            198.51.100.81 expired.example.net
            198.51.100.82 wrong.example.net
            198.51.100.83 unknown.example.net
            198.51.100.84 clock.example.net
            198.51.100.85 silent.example.net

            """)
        let server = try NameServer(
            [
                "--listen-address=198.51.100.53,198.51.100.54," + anchors.joined(separator: ","), "--bind-interfaces",
                "--addn-hosts=\(hosts)",
                "--local=/example.net/", "--local=/invalid/", "--txt-record=empty.example.net,nothing",
            ], port: 53, in: internet)
        return [Server(object: server)]
    }

    /// Name servers that fail, deny, or answer everything, and a web server of the year 2020.
    private static func scripted(
        in internet: TestNamespace, _ authority: CertificateAuthority, _ files: TemporaryDirectory
    ) throws -> [Server] {
        let clock = try authority.issue("clock", names: ["DNS:clock.example.net"], validity: .expired)
        let script = try files.file("servers.py", BrokenServers.python)
        let program = try TestProgram(
            ["python3", script, clock.certificatePath, clock.keyPath], listensOn: [9999], in: internet)
        let silent = try ["198.51.100.85", "198.51.100.86"].map { address in
            try ScriptedServer(in: internet, at: IPAddress.at(address), port: address.hasSuffix("85") ? 443 : 80) {
                $0.waitForEnd()
                $0.waitForEnd()
            }
        }
        let proxy = try TestProxy(
            .http, to: 9, login: .init(user: "user", password: "secret"), in: internet,
            at: IPAddress.at("198.51.100.90"), port: 3128)
        return [Server(object: program), Server(object: proxy)] + silent.map { Server(object: $0) }
    }
}

extension IPAddress {
    fileprivate static func at(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(ipv4: 0) }
}
