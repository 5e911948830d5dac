import Glibc
import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Kept connections that the server ended while this process did something else, as at a reload: the end lies in the
/// socket, unread, when the next request begins.
@Suite(
    .enabled(if: TestProgram.path("python3") != nil, "python3 is not installed"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(2)))
struct EndedConnectionTests {
    /// Answers each request. Those of its first connections are answered once there are as many, and when all are, these
    /// connections end: TLS's farewell, then the end. It writes a line for each request, and a file once that is done.
    private static let python = """
        import socket, ssl, sys, threading
        certificate, key, port, count, output = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        lock, first, together = threading.Lock(), [], threading.Barrier(int(count))

        def end(connection):
            connection.setblocking(False)
            try:
                connection.unwrap()
            except OSError:
                pass
            connection.close()

        def serve(connection):
            connection = context.wrap_socket(connection, server_side=True)
            while data := connection.recv(65536):
                with lock:
                    with open(output, "a") as file:
                        file.write(data.split()[0].decode() + "\\n")
                    is_first = len(first) < int(count)
                    if is_first:
                        first.append(connection)
                if is_first:
                    together.wait()
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
                if is_first:
                    if together.wait() == 0:
                        for one in first:
                            end(one)
                        open(output + ".ended", "w").close()
                    return

        listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    private let authority: CertificateAuthority
    private let files: TemporaryDirectory
    private let stage: TransferStage
    private let program: TestProgram
    private let output: String
    private let port: UInt16

    private static let kept = 8

    init() throws {
        authority = try CertificateAuthority()
        let identity = try authority.issue("ended", names: ["IP:127.0.0.1"])
        files = try TemporaryDirectory()
        port = try TestProgram.freePort()
        output = files.path + "/output"
        program = try TestProgram(
            [
                "python3", try files.file("server.py", Self.python), identity.certificatePath, identity.keyPath,
                "\(port)", "\(Self.kept)", output,
            ], listensOn: [port])
        var options = TransferEngine.Options()
        options.certificatesPath = authority.root.certificatePath
        stage = try TransferStage(options: options)
    }

    private func request(_ method: String) throws -> TransferRequest {
        var request = try TransferRequest(method, port: port, scheme: "https")
        // Otherwise libcurl 8.14 makes no second connection before the first answer, which may show that one is enough.
        request.version = .http1
        if method == "POST" { request.headers.append(HeaderField("Idempotency-Key", "k")) }
        return request
    }

    @Test func `a request that must not arrive twice is not sent on them, but on a new one`() async throws {
        let (get, post) = (try request("GET"), try request("POST"))
        let logs = (0..<Self.kept).map { _ in EventLog<TransferEvent>() }
        // All in the turn in which the last answer is read: the loop sees none of the ends before.
        stage.perform { [output] room in
            var left = Self.kept
            for _ in 0..<Self.kept {
                _ = room.engine.start(
                    get,
                    handler: TransferHandler { event in
                        guard case .finished = event else { return }
                        left -= 1
                        guard left == 0 else { return }
                        for _ in 0..<2_000 where access(output + ".ended", F_OK) != 0 { usleep(5_000) }
                        for log in logs {
                            _ = room.engine.start(post, handler: TransferHandler { log.append($0) })
                        }
                    })
            }
        }
        for log in logs {
            let report = try await log.report()
            #expect(report.failure == nil)
            #expect(report.response?.status == 200)
        }
        #expect(access(output + ".ended", F_OK) == 0)
        let lines = try ChildProcess.run(["cat", output]).split(separator: "\n")
        #expect(lines.count { $0 == "GET" } == Self.kept)
        #expect(lines.count { $0 == "POST" } == Self.kept)
    }
}
