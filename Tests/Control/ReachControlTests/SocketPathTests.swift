import ReachControl
import Testing

@Suite struct SocketPathTests {
    @Test(arguments: [
        (0, [:], "/run/reach/reach.sock"), (0, ["XDG_RUNTIME_DIR": "/run/user/0"], "/run/reach/reach.sock"),
        (1000, ["XDG_RUNTIME_DIR": "/run/user/1000"], "/run/user/1000/reach/reach.sock"),
        (1000, [:], "/run/user/1000/reach/reach.sock"),
        (1000, ["XDG_RUNTIME_DIR": "here"], "/run/user/1000/reach/reach.sock"),
        (1000, ["REACH_SOCKET": "/a/b", "XDG_RUNTIME_DIR": "/x"], "/a/b"), (0, ["REACH_SOCKET": "/a/b"], "/a/b"),
        (0, ["REACH_SOCKET": ""], "/run/reach/reach.sock"),
    ])
    func `each user has a socket of their own, unless the environment names one`(
        uid: UInt32, environment: [String: String], path: String
    ) {
        #expect(SocketPath.default(uid: uid) { environment[$0] } == path)
    }

    @Test(arguments: [
        (1000, [:], true, "/run/user/1000/reach/reach.sock"), (1000, [:], false, "/run/reach/reach.sock"),
        (1000, ["REACH_SOCKET": "/a"], false, "/a"), (0, [:], false, "/run/reach/reach.sock"),
    ])
    func `a client uses the machine's daemon if the user has none`(
        uid: UInt32, environment: [String: String], exists: Bool, path: String
    ) {
        #expect(SocketPath.forClient(uid: uid, environment: { environment[$0] }, exists: { _ in exists }) == path)
    }
}
