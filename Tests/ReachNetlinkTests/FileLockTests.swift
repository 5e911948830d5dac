import Glibc
import ReachLoop
import ReachTesting
import Testing

@Suite struct FileLockTests {
    @Test func `one has it, the other is told who, and it is free again with its owner`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        do {
            let first = try FileLock(at: path)
            #expect(Self.refusal(path) == .held(process: getpid()))
            _ = consume first
        }
        #expect(Self.refusal(path) == nil)
    }

    @Test func `a file that cannot be opened is told by its name`() {
        #expect(
            Self.refusal("/nonexistent/lock") == .failed(SystemError(call: "open /nonexistent/lock", number: ENOENT)))
    }

    @Test func `a link that somebody else put there is not followed`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        let target = try directory.file("victim", "contents")
        #expect(symlink(target, path) == 0)
        #expect(Self.refusal(path) == .failed(SystemError(call: "open \(path)", number: ELOOP)))
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
