import ReachFleetLink
import ReachTesting
import Testing

@Suite struct NATSServerTests {
    @Test(arguments: [
        ("tls://nats.example.net:4222", "tls://nats.example.net:4222"),
        ("nats.example.net", "tls://nats.example.net:4222"),
        ("tls://[2001:db8::1]:1", "tls://[2001:db8::1]:1"), ("nats://127.0.0.1", "nats://127.0.0.1:4222"),
        ("nats://[::1]:4300/", "nats://[::1]:4300"), ("NATS://localhost", "nats://localhost:4222"),
    ])
    func `a server's URL`(_ text: String, _ expected: String) throws {
        #expect(try NATSServer(text).description == expected)
    }

    @Test(arguments: [
        ("nats://nats.example.net", "without TLS"), ("nats://127.example.net", "without TLS"),
        ("wss://x/", "WebSocket"),
        ("http://x", "scheme"), ("tls://user:secret@x", "key file"), ("tls://", "HOST"), ("tls://x:0", "HOST"),
        ("tls://x:70000", "HOST"), ("tls://x/y", "HOST"), ("tls://x y", "HOST"), ("tls://[x]", "HOST"),
        ("tls://ä", "HOST"), ("", "HOST"),
    ])
    func `a URL that is wrong is named, with what is wrong`(_ text: String, _ part: String) {
        #expect {
            try NATSServer(text)
        } throws: { error in
            let error = error as? NATSError
            return error?.kind == .invalid && error?.description.contains(part) == true
                && error?.description.contains("'\(text)'") == true
        }
    }

    @Test func `a key file may belong to its owner only`() throws {
        let pair = try NKeyPair.generate()
        let directory = try TemporaryDirectory()
        let open = try directory.file("open.nk", pair.seed + "\n", mode: 0o644)
        #expect(failure { try NATSIdentity.read(open) } == .invalid)
        let closed = try directory.file("closed.nk", "# mine\n\(pair.seed)\n", mode: 0o600)
        guard case .key(let read) = try NATSIdentity.read(closed) else { return #expect(Bool(false)) }
        #expect(read.publicKey == pair.publicKey)
        let broken = try directory.file("broken.nk", String(pair.seed.dropLast(2)) + "AA\n", mode: 0o600)
        #expect(failure { try NATSIdentity.read(broken) } == .invalid)
        #expect(failure { try NATSIdentity.read(directory.path + "/none") } == .invalid)
    }
}
