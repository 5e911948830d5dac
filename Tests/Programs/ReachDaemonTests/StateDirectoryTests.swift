import Glibc
import ReachDaemon
import ReachLoop
import ReachTesting
import Testing

@Suite struct StateDirectoryTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func refusal(_ path: String) -> FileLock.Failure? {
        do throws(FileLock.Failure) {
            _ = try StateDirectory(path)
            return nil
        } catch {
            return error
        }
    }

    private func mode(_ path: String) -> UInt32 {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_mode & 0o777 : 0
    }

    @Test func `the directory is created with its parents, which only their owner can read`() throws {
        let path = directory.path + "/local/state/reach"
        #expect(refusal(path) == nil)
        #expect(mode(directory.path + "/local/state") == 0o700)
        #expect(mode(path) == 0o711)
        #expect(refusal(path) == nil, "it may be there")
    }

    @Test func `access that an earlier version gave to others is removed, also from the lock`() throws {
        let path = directory.path + "/old"
        mkdir(path, 0o755)
        try directory.file("old/reachd.lock", "1\n", mode: 0o644)
        try directory.file("old/history.jsonl", "", mode: 0o644)
        #expect(refusal(path) == nil)
        #expect(mode(path) == 0o711)
        #expect(mode(path + "/reachd.lock") == 0o600)
        #expect(mode(path + "/history.jsonl") == 0o644)
        chmod(path, 0o777)
        #expect(refusal(path) == nil)
        #expect(mode(path) == 0o711)
        chmod(path, 0o700)
        #expect(refusal(path) == nil)
        #expect(mode(path) == 0o700)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func `another user can neither list the directory nor lock it, but can read the history`() throws {
        let path = directory.path + "/state"
        chmod(directory.path, 0o755)
        _ = try StateDirectory(path)
        try directory.file("state/history.jsonl", "a line\n", mode: 0o644)
        let other = { (command: String) in
            try? ChildProcess.run(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "sh", "-c", command])
        }
        #expect(other("cat \(path)/history.jsonl") == "a line\n")
        #expect(other("ls \(path) 2>/dev/null; echo") == "\n")
        #expect(other("flock -sn \(path)/reachd.lock echo held 2>/dev/null; echo") == "\n")
        #expect(other("flock -sn \(path) echo held 2>/dev/null; echo") == "\n")
        #expect(refusal(path) == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give directories away"))
    func `another user's directory is refused`() throws {
        chown(directory.path, 12_345, 0)
        #expect(refusal(directory.path) == .unsafe(path: directory.path, reason: "it belongs to user 12345"))
        chown(directory.path, 0, 0)
    }

    @Test func `one daemon holds the directory at a time`() throws {
        let owner = try StateDirectory(directory.path)
        #expect(refusal(owner.path) == .held(process: getpid()))
    }

    @Test(arguments: ["/proc/none/reach", "/dev/null/reach"])
    func `an error about an impossible place contains its name`(path: String) {
        guard case .failed(let error) = refusal(path) else {
            Issue.record("it was made")
            return
        }
        #expect(error.call.hasPrefix("mkdir /") || error.call.hasPrefix("open /"))
    }
}
