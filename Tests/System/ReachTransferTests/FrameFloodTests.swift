import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Servers with a trusted certificate whose frames of HTTP/2 never end, and hold nothing that a request asked for.
@Suite(
    .enabled(if: TestProgram.path("python3") != nil, "python3 is not installed"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"))
struct FrameFloodTests {
    /// Answers with one sequence of bytes, and then repeats another; both in hexadecimal.
    private static let python = """
        import socket, ssl, sys, threading
        certificate, key, port, begin, piece = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2"])
        block = bytes.fromhex(piece) * (65536 // (len(piece) // 2))

        def swallow(connection):
            while connection.recv(65536):
                pass

        def serve(connection):
            connection = context.wrap_socket(connection, server_side=True)
            connection.sendall(bytes.fromhex("000000040000000000"))
            read = b""
            while b"\\x01\\x05\\0\\0\\0\\1" not in read:
                read += connection.recv(65536)
            threading.Thread(target=swallow, args=(connection,), daemon=True).start()
            connection.sendall(bytes.fromhex(begin))
            while True:
                connection.sendall(block)

        listener = socket.create_server(("127.0.0.1", int(port)))
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    private static let status = "000001010400000001" + "88"

    @Test(arguments: [
        ("window updates", status, "000004080000000000" + "00000001"),
        ("empty data", status, "000000000000000001"),
        ("padded data", status, "000100000800000001" + "ff" + String(repeating: "00", count: 255)),
        ("priorities", status, "000005020000000001" + "0000000310"),
        ("frames of an unknown type before an answer", "", "000000ee0000000000"),
    ])
    func `a connection that brings only framing ends, and other transfers are served meanwhile`(
        kind: String, begin: String, piece: String
    ) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("flood", names: ["IP:127.0.0.1"])
        let files = try TemporaryDirectory()
        let port = try TestProgram.freePort()
        let program = try TestProgram(
            [
                "python3", try files.file("flood.py", Self.python), identity.certificatePath, identity.keyPath,
                "\(port)", begin, piece,
            ], listensOn: [port])
        defer { withExtendedLifetime(program) {} }
        let other = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        var options = TransferEngine.Options()
        options.certificatesPath = authority.root.certificatePath
        let stage = try TransferStage(options: options)
        let flood = stage.start(try TransferRequest(port: port, scheme: "https"))
        var served = 0
        while flood.values.isEmpty || served == 0, served < 10_000 {
            let report = try await stage.run(try TransferRequest(port: other.port))
            #expect(report.failure == nil)
            served += 1
        }
        let failure = try await flood.report().failure
        #expect(failure?.reason == .badResponse)
        #expect(failure?.message == "127.0.0.1: hardly anything but framing")
        // The next request goes by another connection.
        let next = try await stage.run(try TransferRequest(port: port, scheme: "https"))
        #expect(next.failure?.reason == .badResponse && next.hops.first?.reusedConnection == false)
    }
}
