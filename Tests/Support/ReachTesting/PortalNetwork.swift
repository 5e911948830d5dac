/// A ``SmallInternet`` whose router sends advertisements with a portal's API, and serves it.
package final class PortalNetwork {
    package static let api = "https://192.0.2.1:8443/api"
    package static let whyNot =
        SmallInternet.whyNot ?? (TestProgram.path("python3") == nil ? "python3 is not installed" : nil)

    package let small: SmallInternet
    private let files: TemporaryDirectory
    private var server: WebServer?
    private var isImpostor: Bool
    private var body = "{}"

    package init(isImpostor: Bool = false) throws {
        small = try SmallInternet()
        files = try TemporaryDirectory()
        self.isImpostor = isImpostor
        // The router's advertisements make the default route.
        try small.machine.run("ip", "-6", "route", "del", "default")
        try small.machine.run("sysctl", "-qw", "net.ipv6.conf.up0.accept_ra=1", "net.ipv6.conf.up0.autoconf=0")
        try files.file("advertise.py", Self.script)
    }

    /// Sets the answer of the API.
    package func answer(_ body: String) throws {
        self.body = body
        try serve(isImpostor: isImpostor)
    }

    package func serve(isImpostor: Bool) throws {
        self.isImpostor = isImpostor
        server = nil
        let identity =
            isImpostor
            ? try small.authority.selfSigned("liar", names: ["IP:192.0.2.1"])
            : try small.authority.issue("api\(UInt64.random(in: 0...UInt64.max))", names: ["IP:192.0.2.1"])
        server = try WebServer(
            """
            server { listen 8443 ssl;
                location / { default_type application/captive+json; return 200 '\(body)'; }
                ssl_certificate \(identity.certificatePath); ssl_certificate_key \(identity.keyPath); }
            """, listensOn: [8443], in: small.router)
    }

    /// Sends one advertisement.
    ///
    /// - Parameter lifetime: As a default router, in seconds.
    package func advertise(_ uri: String? = api, lifetime: Int = 1800) throws {
        try small.router.run("python3", files.path + "/advertise.py", "up1", "\(lifetime)", uri ?? "")
    }

    /// Waits until the machine has asked the API so many times: until as many connections were made to the router.
    ///
    /// - Returns: Whether it came to that within 20 s.
    package func waitForQuestion(_ count: Int = 1) async throws -> Bool {
        for _ in 0..<200 {
            let text = try small.router.run("nstat", "-asz", "TcpPassiveOpens")
            if text.split(whereSeparator: \.isWhitespace).contains(where: { (Int($0) ?? 0) >= count }) { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    private static let script = """
        import socket, struct, sys
        interface, lifetime, uri = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
        message = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0)
        if uri:
            padding = -(len(uri) + 2) % 8
            message += struct.pack("BB", 37, (len(uri) + 2 + padding) // 8) + uri + bytes(padding)
        index = socket.if_nametoindex(interface)
        sender = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        sender.bind(("fe80::1", 0, 0, index))
        sender.sendto(message, ("ff02::1", 0, 0, index))
        """
}
