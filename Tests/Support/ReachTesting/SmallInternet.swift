/// A machine, its router, and an Internet with one host and a name server, each in a namespace of its own:
///
///     machine up0 192.0.2.2, 2001:db8::2 -- up1 .1 router wan0 203.0.113.2 -- wan1 .1 Internet 198.51.100.80, .53
///
/// `check.example.net` answers 204 by http, and by https with a certificate of its own root.
package final class SmallInternet {
    package static let whyNot: String? =
        !TestNamespace.isAvailable
        ? TestNamespace.whyNot
        : !WebServer.isAvailable
            ? WebServer.whyNot
            : !NameServer.isAvailable
                ? NameServer.whyNot : !CertificateAuthority.isAvailable ? CertificateAuthority.whyNot : nil

    package let machine: TestNamespace
    package let router: TestNamespace
    package let internet: TestNamespace
    package let authority: CertificateAuthority
    private let files: TemporaryDirectory
    private let web: WebServer
    private var names: NameServer?
    private var portal: WebServer?

    package static let plain = "http://check.example.net/204"
    package static let secure = "https://check.example.net/204"
    package static let login = "http://login.example/?from=here"

    package init(validity: CertificateAuthority.Validity = .now) throws {
        machine = try TestNamespace()
        router = try machine.vethPair()
        internet = try TestNamespace()
        authority = try CertificateAuthority()
        files = try TemporaryDirectory()
        try machine.run("ip", "route", "add", "default", "via", "2001:db8::1")
        try router.run("ip", "link", "add", "wan0", "type", "veth", "peer", "name", "wan1", "netns", internet.name)
        try Self.bring(router, up: "wan0", "203.0.113.2/24", "2001:db8:f::2/64")
        try Self.bring(internet, up: "wan1", "203.0.113.1/24", "2001:db8:f::1/64")
        // A namespace whose source address is not the link's own solicits neighbours from a link-local address.
        for (namespace, link) in [(router, "up1"), (router, "wan0"), (internet, "wan1")] {
            let address = namespace === router ? "fe80::1/64" : "fe80::2/64"
            try namespace.run("ip", "address", "add", address, "dev", link, "nodad")
        }
        for address in ["198.51.100.80/32", "198.51.100.53/32", "198.51.100.7/32", "2001:db8:80::80/128"] {
            try internet.run("ip", "address", "add", address, "dev", "lo", "nodad")
        }
        for (destination, gateway) in [("198.51.100.0/24", "203.0.113.1"), ("2001:db8:80::/48", "2001:db8:f::1")] {
            try router.run("ip", "route", "add", destination, "via", gateway)
        }
        for (destination, gateway) in [("192.0.2.0/24", "203.0.113.2"), ("2001:db8::/64", "2001:db8:f::2")] {
            try internet.run("ip", "route", "add", destination, "via", gateway)
        }
        try router.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        let identity = try authority.issue("check", names: ["DNS:check.example.net"], validity: validity)
        let pages = "location = /204 { return 204; } location = /text { return 200 \"it works\\n\"; }"
        web = try WebServer(
            """
            server { listen 80; listen [::]:80; \(pages) }
            server { listen 443 ssl; listen [::]:443 ssl; \(pages)
                ssl_certificate \(identity.certificatePath); ssl_certificate_key \(identity.keyPath); }
            """, listensOn: [80, 443], in: internet)
        try answerNames()
    }

    deinit {
        machine.remove()
        internet.remove()
    }

    /// Writes a resolv.conf that names the name server.
    ///
    /// - Returns: Its path.
    package func resolverConfiguration(_ server: String = nameServer) throws -> String {
        try files.file("resolv.conf", "nameserver \(server)\n")
    }

    package static let nameServer = "198.51.100.53"

    /// Writes an empty hosts file.
    ///
    /// - Returns: Its path.
    package func hosts() throws -> String { try files.file("hosts", "") }

    package var authorityPath: String { authority.root.certificatePath }

    // MARK: - Faults

    /// Sets the addresses that the name server answers with.
    ///
    /// - Parameter others: Options of dnsmasq for other names.
    package func answerNames(
        _ addresses: [String] = ["198.51.100.80", "2001:db8:80::80"], others: [String] = []
    ) throws {
        names = nil
        names = try NameServer(addresses.map { "--address=/example.net/\($0)" } + others, port: 53, in: internet)
    }

    /// The router drops forwarded packets: all of them, or those that match the nft rule (in an inet table).
    package func goDark(_ rule: String = "") throws {
        try router.run("nft", "add table inet dark; add chain inet dark f { type filter hook forward priority 0; }")
        try router.run("nft", "add rule inet dark f \(rule) drop")
    }

    /// The router drops all forwarded IPv6 packets. ``comeBack()`` does not end this.
    package func goDarkInIPv6() throws {
        let chain = "add chain ip6 dark6 f { type filter hook forward priority 0; policy drop; }"
        try router.run("nft", "add table ip6 dark6; \(chain)")
    }

    /// Ends ``goDark(_:)``.
    package func comeBack() throws { try router.run("nft", "delete table inet dark") }

    /// The router becomes a captive portal: it answers HTTP over IPv4 itself, with a redirection or another directive
    /// of nginx, and drops all other TCP connections over IPv4. Name lookups still work.
    package func openPortal(_ answer: String = "return 302 \(SmallInternet.login);") throws {
        if portal == nil {
            portal = try WebServer("server { listen 8080; location / { \(answer) } }", listensOn: [8080], in: router)
        }
        try router.run("nft", "add table ip portal; add chain ip portal p { type nat hook prerouting priority -100; }")
        try router.run("nft", "add rule ip portal p iif up1 tcp dport 80 redirect to :8080")
        try goDark("ip protocol tcp")
    }

    /// Ends ``openPortal(_:)``, as after a login.
    package func closePortal() throws {
        try router.run("nft", "delete table ip portal")
        try comeBack()
    }

    private static func bring(_ namespace: TestNamespace, up interface: String, _ addresses: String...) throws {
        try namespace.run("ip", "link", "set", interface, "addrgenmode", "none")
        try namespace.run("ip", "link", "set", interface, "up")
        for address in addresses { try namespace.run("ip", "address", "add", address, "dev", interface, "nodad") }
    }
}
