import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Requests at the same time over HTTP/2, and servers that leave some of them unprocessed.
@Suite(
    .enabled(if: TestProgram.path("python3") != nil, "python3 is not installed"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"))
struct SharedConnectionTests {
    /// A server of HTTP/2 that answers 200 to each stream, but says with the frame GOAWAY on its first connections that
    /// it processes none beyond a number, or refuses each beyond it (RST_STREAM). It prints a line for each request,
    /// with the length of its body, and each connection. Its HPACK has no letters: a POST is told by its index in the
    /// static table.
    private static let python = """
        import socket, ssl, sys, threading, time
        certificate, key, port, plan, protocol = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(protocol.split(","))
        lock, count = threading.Lock(), 0

        def frame(kind, flags=0, stream=0, payload=b""):
            return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

        def say(text):
            # A line and its end are two writes, between which another thread would write.
            with lock:
                print(text, flush=True)

        def frames(connection):
            data = b""
            def more(size):
                nonlocal data
                while len(data) < size:
                    piece = connection.recv(65536)
                    if not piece:
                        raise EOFError
                    data += piece
                taken, data = data[:size], data[size:]
                return taken
            more(24)
            while True:
                head = more(9)
                yield head[3], head[4], int.from_bytes(head[5:9], "big"), more(int.from_bytes(head[:3], "big"))

        def serve(connection, number):
            connection = context.wrap_socket(connection, server_side=True)
            say(f"connection {number}")
            if connection.selected_alpn_protocol() == "http/1.1":
                while connection.recv(65536):
                    say("request")
                    time.sleep(0.3)
                    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
                    connection.close()
                    return
            connection.sendall(frame(4))
            bodies = {}
            # "last:code:how" for the first connections, where "1" closes them and "r" refuses; "-" for none.
            turns = plan.split(",")
            last, code, closes = (turns[number].split(":") if number < len(turns) and turns[number] != "-" else (None, 0, 0))
            for kind, flags, stream, payload in frames(connection):
                if kind == 4 and not flags & 1:
                    connection.sendall(frame(4, 1))
                if kind == 0 and stream in bodies:
                    bodies[stream][1] += len(payload)
                elif kind == 1 and last is not None and stream > int(last):
                    say(f"unprocessed {stream}")
                    if closes == "r":
                        connection.sendall(frame(3, 0, stream, (7).to_bytes(4, "big")))
                        continue
                    connection.sendall(frame(7, 0, 0, int(last).to_bytes(4, "big") + int(code).to_bytes(4, "big")))
                    if closes == "1":
                        connection.unwrap()
                        return
                    continue
                elif kind == 1:
                    bodies[stream] = ["POST" if payload[:1] == bytes([0x83]) else "GET", 0]
                if kind > 1 or not flags & 1 or stream not in bodies:
                    continue
                method, length = bodies.pop(stream)
                say(f"request {stream} {method} {length}" if length else f"request {stream} {method}")
                time.sleep(0.05)
                connection.sendall(frame(1, 4, stream, b"\\x88") + frame(0, 1, stream, b"ok"))

        def run(connection, number):
            try:
                serve(connection, number)
            except (EOFError, OSError):
                pass

        listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
        while True:
            threading.Thread(target=run, args=(listener.accept()[0], count), daemon=True).start()
            count += 1
        """

    private struct Scene {
        let stage: TransferStage
        let authority: CertificateAuthority
        let program: TestProgram
        let files: TemporaryDirectory
        let output: String
        let port: UInt16

        init(plan: String, protocol name: String = "h2") throws {
            authority = try CertificateAuthority()
            let identity = try authority.issue("shared", names: ["IP:127.0.0.1"])
            files = try TemporaryDirectory()
            port = try TestProgram.freePort()
            output = files.path + "/output"
            program = try TestProgram(
                [
                    "sh", "-c", "exec python3 \"$@\" > \(output)", "sh",
                    try files.file("server.py", SharedConnectionTests.python), identity.certificatePath,
                    identity.keyPath, "\(port)", plan, name,
                ], listensOn: [port])
            var options = TransferEngine.Options()
            options.certificatesPath = authority.root.certificatePath
            stage = try TransferStage(options: options)
        }

        func request(_ method: String = "GET") throws -> TransferRequest {
            try TransferRequest(method, port: port, scheme: "https")
        }

        /// The lines of the server, without those about connections.
        var requests: [String] {
            get throws { try lines.filter { !$0.hasPrefix("connection") } }
        }

        var connections: Int {
            get throws { try lines.count { $0.hasPrefix("connection") } }
        }

        private var lines: [String] {
            get throws { try ChildProcess.run(["cat", output]).split(separator: "\n").map(String.init) }
        }
    }

    @Test func `sixteen requests at once share one connection`() async throws {
        let scene = try Scene(plan: "-")
        let request = try scene.request()
        let logs = (0..<16).map { _ in scene.stage.start(request) }
        for log in logs { #expect(try await log.report().response?.version == "HTTP/2") }
        #expect(try scene.connections == 1)
        #expect(try scene.requests.count == 16)
    }

    @Test func `a server without HTTP/2 gets as many connections as there are requests`() async throws {
        let scene = try Scene(plan: "-", protocol: "http/1.1")
        let request = try scene.request()
        let logs = (0..<8).map { _ in scene.stage.start(request) }
        for log in logs { #expect(try await log.report().response?.version == "HTTP/1.1") }
        #expect(try scene.connections == 8)
    }

    @Test(arguments: ["1:0:0", "1:0:1", "1:11:0", "1:11:1", "1:0:r"], ["GET", "POST"])
    func `a stream that the server did not process is sent again`(goaway: String, method: String) async throws {
        let scene = try Scene(plan: goaway)
        #expect(try await scene.stage.run(try scene.request()).response?.status == 200)
        var request = try scene.request(method)
        if method == "POST" {
            request.headers.append(HeaderField("Idempotency-Key", "k"))
            request.body = .bytes(Array("whole".utf8))
        }
        let report = try await scene.stage.run(request)
        #expect(report.failure == nil && report.response?.status == 200)
        let sent = method == "POST" ? "POST 5" : "GET"
        #expect(try scene.requests == ["request 1 GET", "unprocessed 3", "request 1 \(sent)"])
    }

    /// Each connection takes four streams, of which the first is the oldest that waits.
    @Test(arguments: ["7:0:0", "7:0:r"]) func `of many requests that a server leaves unprocessed each arrives once`(
        turn: String
    ) async throws {
        let scene = try Scene(plan: (0..<40).map { _ in turn }.joined(separator: ","))
        var request = try scene.request("POST")
        request.headers.append(HeaderField("Idempotency-Key", "k"))
        request.body = .bytes(Array("whole".utf8))
        let logs = (0..<32).map { _ in scene.stage.start(request) }
        for log in logs { #expect(try await log.report().response?.status == 200) }
        let processed = try scene.requests.filter { $0.hasPrefix("request") }
        #expect(processed.count == 32 && processed.allSatisfy { $0.hasSuffix("POST 5") })
    }

    /// As nginx does with a small `http2_body_preread_size`.
    @Test func `a server that refuses the first streams of every connection is asked by HTTP 1`() async throws {
        let plan = (0..<40).map { _ in "0:0:r" }.joined(separator: ",")
        let scene = try Scene(plan: plan, protocol: "h2,http/1.1")
        let report = try await scene.stage.run(try scene.request("POST"))
        #expect(report.failure == nil && report.response?.version == "HTTP/1.1")
        #expect(try scene.requests.last == "request")
    }

    /// A connection on which nothing was answered yet has HTTP/2, too: frames that come on it are no sign of its end.
    /// Where a server refuses one stream, libcurl 7.88.1 ends the others of its connection, so that some fail.
    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `requests of which nginx refuses the first on each connection keep to their interface`() async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("shared", names: ["IP:127.0.0.1"])
        let port = try TestProgram.freePort()
        let server = try WebServer(
            """
            server { listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(identity.certificatePath);
              ssl_certificate_key \(identity.keyPath); http2_body_preread_size 0; keepalive_requests 3;
              location / { return 200 ok; } }
            """, listensOn: [port])
        var options = TransferEngine.Options()
        options.certificatesPath = authority.root.certificatePath
        let stage = try TransferStage(options: options)
        var request = try TransferRequest("POST", port: port, scheme: "https")
        request.headers.append(HeaderField("Idempotency-Key", "k"))
        request.body = .bytes(Array("whole".utf8))
        request.interface = InterfaceBinding(name: "lo", index: 1)
        let logs = (0..<64).map { _ in stage.start(request) }
        for log in logs {
            let failure = try await log.report(within: .seconds(60)).failure
            #expect(failure?.reason != .wrongPath)
        }
        withExtendedLifetime(server) {}
    }

    @Test(arguments: ["0:0:0", "0:0:1", "0:11:1", "0:0:r"])
    func `a request that must not arrive twice is sent again where it was not processed`(goaway: String) async throws {
        let scene = try Scene(plan: goaway)
        var request = try scene.request("POST")
        request.isSentOnce = true
        let report = try await scene.stage.run(request)
        #expect(report.failure == nil && report.response?.status == 200)
        #expect(try scene.requests == ["unprocessed 1", "request 1 POST"])
    }
}
