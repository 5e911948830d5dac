import Glibc
import ReachCore
import ReachLoop
import Testing

@Suite struct ListeningSocketTests {
    private static func isLocal(_ descriptor: CInt) throws -> Bool {
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return ListeningSocket.isLocal(descriptor)
    }

    @Test(arguments: [("127.0.0.1", true), ("127.5.5.5", true), ("::1", true), ("0.0.0.0", false), ("::", false)])
    func `whoever can reach the address can connect`(_ text: String, _ isLocal: Bool) throws {
        let address = try #require(IPAddress(text))
        let place = ListenAddress(address, port: 0)
        #expect(try Self.isLocal(ListeningSocket.open(at: place, backlog: 1)) == isLocal)
    }

    @Test func `a socket with a path is this machine's own, and one of another kind is not`() throws {
        let stream = CInt(SOCK_STREAM.rawValue)
        #expect(try Self.isLocal(socket(AF_UNIX, stream, 0)))
        // As one of AF_VSOCK, to which virtual machines connect.
        #expect(try !Self.isLocal(socket(AF_NETLINK, CInt(SOCK_RAW.rawValue), 0)))
        #expect(!ListeningSocket.isLocal(-1))
    }

    @Test(arguments: [
        ("2", "own", [3, 4]), ("0", "own", []), ("-1", "own", []), ("x", "own", []), ("2", "1", []), ("2", "", []),
        ("9999999999999999999", "own", []), ("65", "own", Array(3..<67)),
    ])
    func `sockets are those that were passed to this process, and at most 64`(
        _ count: String, _ process: String, _ expected: [CInt]
    ) {
        let variables = ["LISTEN_PID": process == "own" ? "\(getpid())" : process, "LISTEN_FDS": count]
        #expect(PassedSockets { variables[$0] }.take() == expected)
    }
}
