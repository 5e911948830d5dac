import Foundation
import ReachControl
import ReachTesting
import Testing

/// A Python that other users may run, too.
private let otherPython = "/usr/bin/python3"

/// Callers of another user; only root can run a program as another user.
@Suite(.enabled(if: getuid() == 0 && access(otherPython, X_OK) == 0, "only root can call as another user"))
struct PermissionTests {
    private static let script = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        for call in sys.argv[2:]:
            s.sendall(b'{"method":"io.reach.Monitor.' + call.encode() + b'}\\0')
            data = b""
            while not data.endswith(b"\\0"):
                data += s.recv(65536)
            print(data[:13].decode(), b"PermissionDenied" in data)
        """

    /// The answers that a client of another user, in these groups, gets.
    private func answers(
        _ server: TestServer, groups: String, _ calls: [String] = ["Status\"", "Reload\""]
    ) throws -> String {
        chmod(server.directory, 0o755)
        return try ChildProcess.run(
            [
                "setpriv", "--reuid", "54321", "--regid", "54321", groups, otherPython, "-c", Self.script, server.path,
            ] + calls)
    }

    @Test func `a configured probe is sent by an interface of the caller's only for those who may change something`()
        throws
    {
        let server = try TestServer(authority: ControlAuthority(user: 0, group: 12345))
        let call = "Probe\",\"parameters\":{\"target\":\"web\",\"interface\":\"wlan0\"}"
        #expect(try answers(server, groups: "--clear-groups", [call]).hasSuffix(" True\n"))
        #expect(try answers(server, groups: "--groups=12345", [call]).hasSuffix(" False\n"))
    }

    @Test func `every user may query, and only some may change something`() throws {
        let server = try TestServer(authority: ControlAuthority(user: 0, group: 12345))
        #expect(try answers(server, groups: "--clear-groups") == "{\"parameters\" False\n{\"error\":\"io. True\n")
        #expect(server.run { service, _ in service.reloads.isEmpty })
        #expect(try answers(server, groups: "--groups=12344,12345") == "{\"parameters\" False\n{\"parameters\" False\n")
        #expect(server.run { service, _ in service.reloads.first?.user } == 54321)
    }
}
