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

    @Test func `it is made with all above it, which are for their owner alone`() throws {
        let path = directory.path + "/local/state/reach"
        #expect(refusal(path) == nil)
        #expect(mode(directory.path + "/local/state") == 0o700)
        #expect(mode(path) == 0o755)
        #expect(refusal(path) == nil, "it may be there")
    }

    @Test func `one daemon has it at a time`() throws {
        let owner = try StateDirectory(directory.path)
        #expect(refusal(owner.path) == .held(process: getpid()))
    }

    @Test(arguments: ["/proc/none/reach", "/dev/null/reach"])
    func `where it cannot be, that is told by its name`(path: String) {
        guard case .failed(let error) = refusal(path) else {
            Issue.record("it was made")
            return
        }
        #expect(error.call.hasPrefix("mkdir /") || error.call.hasPrefix("open /"))
    }
}
