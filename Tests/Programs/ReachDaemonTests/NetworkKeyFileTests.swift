import Glibc
import ReachCore
import ReachDaemon
import ReachLoop
import ReachTesting
import Testing

@Suite struct NetworkKeyFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/network.key" }

    @Test func `the key is made once, for its owner alone`() throws {
        let key = try NetworkKeyFile.key(in: directory.path)
        #expect(try NetworkKeyFile.key(in: directory.path) == key)
        var information = stat()
        #expect(stat(path, &information) == 0 && information.st_mode & 0o777 == 0o600 && information.st_size == 16)
        unlink(path)
        #expect(try NetworkKeyFile.key(in: directory.path) != key)
    }

    @Test func `a key that is cut off, too long, or that others could read is replaced`() throws {
        for (text, mode) in [("short", mode_t(0o600)), (String(repeating: "a", count: 17), 0o600), ("", 0o600)] {
            try directory.file("network.key", text, mode: mode)
            let key = try NetworkKeyFile.key(in: directory.path)
            #expect(try NetworkKeyFile.key(in: directory.path) == key, "\(text)")
        }
        try directory.file("network.key", String(repeating: "a", count: 16), mode: 0o644)
        let key = try NetworkKeyFile.key(in: directory.path)
        #expect(key != NetworkKey([UInt8](repeating: UInt8(ascii: "a"), count: 16)))
        var information = stat()
        #expect(stat(path, &information) == 0 && information.st_mode & 0o777 == 0o600)
    }

    @Test func `a link in its place is not followed, and what a crash left is no obstacle`() throws {
        try directory.file("elsewhere", String(repeating: "a", count: 16), mode: 0o600)
        #expect(symlink(directory.path + "/elsewhere", path) == 0)
        #expect(throws: SystemError.self) { try NetworkKeyFile.key(in: directory.path) }
        unlink(path)
        try directory.file("network.key.new", "left", mode: 0o600)
        let key = try NetworkKeyFile.key(in: directory.path)
        #expect(try NetworkKeyFile.key(in: directory.path) == key)
    }

    @Test func `without a directory there is an error and no key`() {
        #expect(throws: SystemError.self) { try NetworkKeyFile.key(in: directory.path + "/none") }
    }
}
