import Glibc
import ReachControl
import ReachTesting
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
        #expect(SocketPath.forClient(uid: uid, environment: { environment[$0] }, isOwn: { _, _ in exists }) == path)
    }

    /// `su` keeps the variable of the user before. PulseAudio and Podman have had reports of that for years.
    @Test(.enabled(if: getuid() == 0, "only root can make directories of other users"))
    func `a socket counts as one's own only in directories that no other user can exchange`() throws {
        let (user, other): (UInt32, UInt32) = (64_001, 64_002)
        func path(_ outer: (UInt32, mode_t), _ inner: (UInt32, mode_t)) throws -> Bool {
            let temporary = try TemporaryDirectory()
            let socket = temporary.path + "/reach/reach.sock"
            try ChildProcess.run(["mkdir", temporary.path + "/reach"])
            try ChildProcess.run(["touch", socket])
            for (directory, (owner, mode)) in [(temporary.path, outer), (temporary.path + "/reach", inner)] {
                chown(directory, owner, owner)
                chmod(directory, mode)
            }
            return SocketPath.isOwn(socket, uid: user)
        }
        #expect(try path((user, 0o700), (user, 0o755)))
        #expect(try path((0, 0o755), (user, 0o755)))
        #expect(try path((0, 0o1777), (user, 0o700)), "XDG_RUNTIME_DIR=/tmp")
        #expect(try !path((0, 0o1777), (other, 0o755)), "another user was first in /tmp")
        #expect(try !path((other, 0o755), (other, 0o755)))
        #expect(try !path((other, 0o755), (user, 0o755)), "the other could exchange the directory")
        #expect(try !path((user, 0o700), (other, 0o755)))
        #expect(try !path((user, 0o777), (user, 0o755)))
        #expect(!SocketPath.isOwn("/nonexistent/reach/reach.sock", uid: user))
    }

    @Test(.enabled(if: getuid() == 0, "only root can make directories of other users"))
    func `a link to a directory of one's own is not one's own directory`() throws {
        let temporary = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", "-p", temporary.path + "/mine"])
        try ChildProcess.run(["touch", temporary.path + "/mine/reach.sock"])
        try ChildProcess.run(["ln", "-s", "mine", temporary.path + "/reach"])
        #expect(SocketPath.isOwn(temporary.path + "/mine/reach.sock", uid: 0))
        #expect(!SocketPath.isOwn(temporary.path + "/reach/reach.sock", uid: 0))
    }
}
