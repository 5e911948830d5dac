import Glibc
import ReachLoop
import ReachTesting
import Testing

@Suite struct FileLockTests {
    @Test func `a held lock is refused with its holder's number, and is free after its release`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        do {
            let first = try FileLock(at: path)
            #expect(Self.refusal(path) == .held(process: getpid()))
            _ = consume first
        }
        #expect(Self.refusal(path) == nil)
    }

    @Test func `a file that cannot be opened is named in the error`() {
        #expect(
            Self.refusal("/nonexistent/lock") == .failed(SystemError(call: "open /nonexistent/lock", number: ENOENT)))
    }

    @Test func `a symbolic link in the lock's place is not followed`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        let target = try directory.file("victim", "contents")
        #expect(symlink(target, path) == 0)
        #expect(Self.refusal(path) == .failed(SystemError(call: "open \(path)", number: ELOOP)))
    }

    @Test func `only its owner can open a lock file, whatever the umask`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        let lock = try FileLock(at: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        _ = consume lock
    }

    @Test func `a lock file that was open to others is replaced, even if another user holds it`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("lock", "1\n", mode: 0o644)
        // As flock(1) of another user does it; process 1 holds nothing.
        let stranger = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(stranger) }
        #expect(flock(stranger, LOCK_SH) == 0)
        do {
            let lock = try FileLock(at: path)
            #expect(Self.refusal(path) == .held(process: getpid()))
            _ = consume lock
        }
        #expect(Self.refusal(path) == nil)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(access(path + ".new", F_OK) != 0)
    }

    @Test func `a lock file that was open to others is not replaced while its owner holds it`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("lock", "\(getpid())\n", mode: 0o644)
        let owner = open(path, O_RDONLY | O_CLOEXEC)
        #expect(flock(owner, LOCK_EX) == 0)
        #expect(Self.refusal(path) == .held(process: getpid()))
        close(owner)
        #expect(Self.refusal(path) == nil)
    }

    @Test func `a file that another user may have put there is refused, and not written to`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        let victim = try directory.file("victim", "contents")
        #expect(link(victim, path) == 0)
        #expect(Self.refusal(path) == .unsafe(path: path, reason: "it has 2 names"))
        unlink(path)
        mkfifo(path, 0o600)
        #expect(Self.refusal(path) == .unsafe(path: path, reason: "it is no regular file"))
        unlink(path)
        #expect(try ChildProcess.run(["cat", victim]) == "contents")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `another user's lock file is refused`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("lock", "", mode: 0o600)
        chown(path, 12_345, 0)
        #expect(Self.refusal(path) == .unsafe(path: path, reason: "it belongs to user 12345"))
    }

    private static func refusal(_ path: String) -> FileLock.Failure? {
        do throws(FileLock.Failure) {
            _ = try FileLock(at: path)
            return nil
        } catch {
            return error
        }
    }
}
