import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@Suite struct NATSLinkTests {
    @Test func `the library says its version`() { #expect(NATSLibrary.version.hasPrefix("3.")) }

    @Test(arguments: NATSServerProcess.programs)
    func `a message arrives with its headers and payload`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let link = try server.connect()
        let log = Mutex<[NATSMessage]>([])
        let subscription = try link.subscribe("a.*") { message in log.withLock { $0.append(message) } }
        try link.publish("a.b", headers: [HeaderField("Reach-Log", "ä b")], [0, 1, 255])
        try link.publish("a.c", [])
        try link.flush()
        try waitUntil { log.withLock { $0.count } == 2 }
        let messages = log.withLock { $0 }
        #expect(messages[0].subject == "a.b")
        #expect(messages[0].payload == [0, 1, 255])
        #expect(messages[0].header("Reach-Log") == "ä b")
        #expect(messages[1].payload == [])
        withExtendedLifetime(subscription) {}
    }

    /// As a machine that is frozen, or that a filter hides after the handshake: nats.py 320, nats-server 7419.
    @Test(.timeLimit(.minutes(1)))
    func `a server that accepts and says nothing delays nobody who has another`() throws {
        let server = try NATSServerProcess()
        let silent = try ScriptedServer { $0.waitForEnd() }
        var settings = NATSSettings(servers: [try NATSServer("nats://127.0.0.1:\(silent.port)"), try server.server])
        settings.firstConnectLimit = .milliseconds(200)
        settings.connectLimit = .seconds(100)
        // libnats begins with either.
        for _ in 0..<12 { #expect(try NATSLink.connect(settings).connectedServer != nil) }
    }

    @Test func `servers that are slower than the first round allows are connected in the second`() throws {
        let server = try NATSServerProcess()
        let port = server.port
        let slow = try (0..<2).map { _ in
            try ScriptedServer { connection in
                usleep(600_000)
                if let end = connection.connect(toPort: port) { connection.relay(with: end) }
            }
        }
        var settings = NATSSettings(servers: try slow.map { try NATSServer("nats://127.0.0.1:\($0.port)") })
        settings.firstConnectLimit = .milliseconds(200)
        #expect(try NATSLink.connect(settings).connectedServer != nil)
        withExtendedLifetime(slow) {}
    }

    @Test func `subscriptions may end while messages for them arrive`() throws {
        let server = try NATSServerProcess()
        let (reader, writer) = (try server.connect(), try server.connect())
        let isOver = Mutex(false)
        BackgroundThread.start(named: "writer") {
            while !isOver.withLock({ $0 }) {
                for _ in 0..<100 { try? writer.publish("a", []) }
                try? writer.flush()
            }
        }
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<200 {
            let reached = Mutex(0)
            let subscriptions = try (0..<10).map { _ in
                try reader.subscribe("a") { _ in reached.withLock { $0 += 1 } }
            }
            try waitUntil { reached.withLock { $0 > 10 } }
            withExtendedLifetime(subscriptions) {}
            // The reply lets those be freed that have ended before.
            _ = try? reader.request("nobody", [], within: .seconds(60))
        }
    }

    @Test func `a header cannot contain the end of a line`() throws {
        let server = try NATSServerProcess()
        let link = try server.connect()
        #expect(failure { try link.publish("a", headers: [HeaderField("X", "a\r\nb")], []) } == .invalid)
    }

    @Test func `nothing listens: the request fails without waiting for its limit`() throws {
        let server = try NATSServerProcess()
        let link = try server.connect()
        #expect(failure { try link.request("nobody", [], within: .seconds(60)) } == .noResponders)
    }

    @Test func `no reply in time is a time-out`() throws {
        let server = try NATSServerProcess()
        let link = try server.connect()
        let subscription = try link.subscribe("silent") { _ in }
        #expect(failure { try link.request("silent", [], within: .milliseconds(50)) } == .timedOut)
        withExtendedLifetime(subscription) {}
    }

    @Test func `a message that is too large is refused before it leaves`() throws {
        let server = try NATSServerProcess(NATSServerProcess.open + "max_payload: 1000\n")
        let link = try server.connect()
        #expect(link.maxPayload == 1000)
        #expect(failure { try link.publish("a", [UInt8](repeating: 0, count: 1001)) } == .tooLarge)
    }

    @Test func `no server at the address is unreachable`() throws {
        let settings = NATSSettings(servers: [try NATSServer("nats://127.0.0.1:1")])
        #expect(failure { try NATSLink.connect(settings) } == .unreachable)
    }

    @Test func `a key that the server knows connects, another is refused`() throws {
        let known = try NKeyPair.generate()
        let server = try NATSServerProcess("authorization { users = [ { nkey: \(known.publicKey) } ] }\n")
        #expect(failure { try server.connect { $0.identity = .key(known) } } == nil)
        let stranger = try NKeyPair.generate()
        #expect(failure { try server.connect { $0.identity = .key(stranger) } } == .refused)
        #expect(failure { try server.connect() } == .refused)
    }

    @Test func `a key that the server knows connects every time`() throws {
        let known = try NKeyPair.generate()
        let server = try NATSServerProcess("authorization { users = [ { nkey: \(known.publicKey) } ] }\n")
        // libnats alone fails once in 256 times, so that 1,200 times in a row are luck in one case of a hundred.
        for _ in 0..<1200 {
            try server.connect { $0.identity = .key(known) }.close()
        }
    }

    @Test func `a refused publication ends its request without waiting for its limit`() throws {
        let server = try NATSServerProcess(
            "authorization { users = [ { user: a, permissions: { publish: [\"mine\"] } } ] }\nno_auth_user: a\n")
        let link = try server.connect()
        #expect(failure { try link.request("foreign", [], within: .seconds(60)) } == .notPermitted)
    }

    @Test func `a killed server ends the link and its requests`() throws {
        let server = try NATSServerProcess()
        let closed = Mutex(false)
        let link = try NATSLink.connect(server.settings()) { event in
            if case .closed = event { closed.withLock { $0 = true } }
        }
        #expect(link.connectedServer == "nats://127.0.0.1:\(server.port)")
        let subscription = try link.subscribe("silent") { _ in }
        let result = Mutex<NATSError.Kind?>(nil)
        _ = try link.request("silent", []) { reply in
            if case .failure(let error) = reply { result.withLock { $0 = error.kind } }
        }
        server.kill()
        try waitUntil { closed.withLock { $0 } }
        #expect(link.connectedServer == nil)
        #expect(result.withLock { $0 } == .disconnected)
        #expect(failure { try link.publish("a", []) } == .disconnected)
        withExtendedLifetime(subscription) {}
    }

    @Test func `a link that reconnects works after the server is back`() throws {
        let server = try NATSServerProcess()
        let back = Mutex(false)
        let settings = try server.settings {
            $0.reconnection = .always(wait: .milliseconds(50), jitter: .milliseconds(10))
        }
        let link = try NATSLink.connect(settings) { event in
            if case .reconnected = event { back.withLock { $0 = true } }
        }
        try server.restart()
        try waitUntil { back.withLock { $0 } }
        #expect(failure { try JetStream(link).account() } == nil)
    }

    @Test(arguments: ["right", "other name", "unknown authority", "expired"])
    func `TLS: only the right certificate is trusted`(_ which: String) throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue(
            "server", names: which == "other name" ? ["DNS:example.org"] : ["IP:127.0.0.1"],
            validity: which == "expired" ? .expired : .now)
        let server = try NATSServerProcess(
            "tls { cert_file: \"\(identity.certificatePath)\", key_file: \"\(identity.keyPath)\" }\n")
        var settings = NATSSettings(servers: [try NATSServer("tls://127.0.0.1:\(server.port)")])
        if which != "unknown authority" { settings.authorities = authority.root.certificatePath }
        #expect(failure { try NATSLink.connect(settings) } == (which == "right" ? nil : .untrusted))
    }

    @Test(arguments: ["IP:::1", "IP:::2"])
    func `TLS: a bracketed address is looked for in the certificate without its brackets`(_ name: String) throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("server", names: [name])
        let server = try NATSServerProcess(
            """
            listen: "[::1]:-1"
            tls { cert_file: "\(identity.certificatePath)", key_file: "\(identity.keyPath)" }

            """, listens: false)
        let address = try NATSServer("tls://[::1]:\(server.port)")
        for servers in [[address], [address, try NATSServer("tls://[::1]:1")]] {
            var settings = NATSSettings(servers: servers)
            settings.authorities = authority.root.certificatePath
            let kind = failure { try NATSLink.connect(settings) }
            if name == "IP:::1" { #expect(kind == nil) } else { #expect(kind == .untrusted || kind == .unreachable) }
        }
    }

    @Test func `a server may ask for a client's certificate`() throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("server", names: ["IP:127.0.0.1"])
        let own = try authority.issue("client", names: ["DNS:client"])
        let server = try NATSServerProcess(
            """
            tls { cert_file: "\(identity.certificatePath)", key_file: "\(identity.keyPath)",
              ca_file: "\(authority.root.certificatePath)", verify: true }

            """)
        var settings = NATSSettings(servers: [try NATSServer("tls://127.0.0.1:\(server.port)")])
        settings.authorities = authority.root.certificatePath
        #expect(failure { try NATSLink.connect(settings) } != nil)
        settings.certificate = own.certificatePath
        settings.certificateKey = own.keyPath
        #expect(failure { try NATSLink.connect(settings) } == nil)
        settings.certificateKey = "/nonexistent"
        #expect(failure { try NATSLink.connect(settings) } == .invalid)
    }

    @Test func `TLS: a server that begins with it is named, since libnats cannot`() throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("server", names: ["IP:127.0.0.1"])
        let port = try TestProgram.freePort()
        // Debian's nats-server is too old for `handshake_first`; to a client that waits for a greeting both are alike.
        let server = try BuiltProgram(named: "openssl").start([
            "s_server", "-accept", "127.0.0.1:\(port)", "-cert", identity.certificatePath, "-key", identity.keyPath,
            "-quiet",
        ])
        defer { server.send(SIGTERM) }
        var settings = NATSSettings(servers: [try NATSServer("tls://127.0.0.1:\(port)")])
        settings.connectLimit = .milliseconds(300)
        try waitUntil("the server answers") { failure { try NATSLink.connect(settings) } == .tlsFirst }
        let plain = try NATSServerProcess()
        #expect(try !ServerGreeting.beginsWithTLS(NATSServer("tls://127.0.0.1:\(plain.port)")))
    }

    @Test func `a server without TLS is not trusted when TLS is asked for`() throws {
        let server = try NATSServerProcess()
        let settings = NATSSettings(servers: [try NATSServer("tls://127.0.0.1:\(server.port)")])
        #expect(failure { try NATSLink.connect(settings) } == .untrusted)
    }
}
