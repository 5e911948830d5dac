import Foundation
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachControl

/// The life of the socket's file.
@Suite struct SocketFileTests {
    private func file(_ path: String) -> stat? {
        var information = stat()
        return lstat(path, &information) == 0 ? information : nil
    }

    private func listen(_ server: TestServer, at path: String) -> ListenError? {
        server.run { _, server in
            do throws(ListenError) {
                try server.listen(at: path)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `every user may connect, and the server removes the file when it stops`() throws {
        let server = try TestServer()
        let information = try #require(file(server.path))
        #expect(information.st_mode == S_IFSOCK | 0o666)
        server.run { _, server in server.stop() }
        #expect(file(server.path) == nil)
        #expect(throws: SystemError.self) { try RawClient(server.path) }
        // The lock's file stays, but is not locked.
        #expect(file(server.path + ".lock") != nil)
        #expect(listen(server, at: server.path) == nil)
        _ = try RawClient(server.path)
    }

    @Test func `a server that stops leaves another file at its path alone`() throws {
        let server = try TestServer()
        unlink(server.path)
        try Data().write(to: URL(filePath: server.path))
        server.run { _, server in server.stop() }
        #expect(file(server.path) != nil)
    }

    @Test func `a second server is refused with the process of the first`() throws {
        let first = try TestServer()
        let second = try TestServer(listens: false)
        #expect(listen(second, at: first.path) == .inUse(path: first.path, process: getpid()))
        let client = try RawClient(first.path)
        #expect(try client.call(#"{"method":"org.varlink.service.GetInfo"}"#)["parameters"] != nil)
    }

    @Test func `a socket on which a process listens is not replaced, even without a lock`() throws {
        let first = try TestServer()
        unlink(first.path + ".lock")
        let second = try TestServer(listens: false)
        #expect(listen(second, at: first.path) == .inUse(path: first.path, process: getpid()))
        _ = try RawClient(first.path)
    }

    @Test func `a socket that a dead daemon left is replaced`() throws {
        let server = try TestServer(listens: false)
        #expect(TestServer.bindAndLeave(server.path))
        #expect(file(server.path) != nil)
        #expect(listen(server, at: server.path) == nil)
        _ = try RawClient(server.path)
    }

    @Test func `a file that is no socket is not replaced`() throws {
        let server = try TestServer(listens: false)
        try Data("dear".utf8).write(to: URL(filePath: server.path))
        #expect(listen(server, at: server.path) == .notASocket(path: server.path))
        #expect(FileManager.default.contents(atPath: server.path) == Data("dear".utf8))
    }

    @Test func `one of many servers that start at once listens`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.path + "/s"
        for _ in 0..<20 {
            let servers = try (0..<4).map { _ in try TestServer(listens: false) }
            nonisolated(unsafe) var errors = [ListenError?](repeating: nil, count: servers.count)
            errors.withUnsafeMutableBufferPointer { buffer in
                nonisolated(unsafe) let buffer = buffer
                DispatchQueue.concurrentPerform(iterations: servers.count) {
                    buffer[$0] = listen(servers[$0], at: path)
                }
            }
            #expect(errors.count { $0 == nil } == 1)
            #expect(errors.compactMap { $0 }.allSatisfy { if case .inUse = $0 { true } else { false } })
            servers.forEach { $0.stop() }
        }
    }

    @Test func `a missing directory is created, but not its parents`() throws {
        let server = try TestServer(listens: false)
        #expect(listen(server, at: server.directory + "/new/s") == nil)
        #expect(file(server.directory + "/new")?.st_mode == S_IFDIR | 0o755)
        let deep = server.directory + "/a/b/s"
        #expect(
            listen(server, at: deep)
                == .failed(path: server.directory + "/a/b", SystemError(call: "mkdir", number: ENOENT)))
    }

    @Test func `a directory in which others can write is refused`() throws {
        let server = try TestServer(listens: false)
        chmod(server.directory, 0o777)
        #expect(
            listen(server, at: server.path)
                == .unsafeDirectory(server.directory, reason: "others can write there"))
        chmod(server.directory, 0o1777)
        #expect(listen(server, at: server.path) == nil)
    }

    @Test(arguments: ["link", "fifo", "directory", "second name", "another user's"])
    func `in a directory of everybody's no lock that another user made keeps the server out`(kind: String) throws {
        let server = try TestServer(listens: false)
        let lock = server.path + ".lock"
        let other = server.directory + "/other"
        try Data().write(to: URL(filePath: other))
        switch kind {
        case "link": symlink(other, lock)
        case "fifo": mkfifo(lock, 0o666)
        case "directory": mkdir(lock, 0o777)
        case "second name": link(other, lock)
        default:
            try Data().write(to: URL(filePath: lock))
            // Only root can make a file another's.
            guard chown(lock, 64001, 64001) == 0 else { return }
        }
        #expect(listen(server, at: server.path) != nil)
        chmod(server.directory, 0o1777)
        #expect(listen(server, at: server.path) == nil)
        let second = try TestServer(listens: false)
        #expect(listen(second, at: server.path) == .inUse(path: server.path, process: getpid()))
        _ = try RawClient(server.path)
    }

    @Test func `where another user has the path itself, the error says who, and what helps`() {
        #expect(
            ListenError.taken(path: "/tmp/s", user: 1001).description
                == "/tmp/s belongs to user 1001: choose a directory where only root and the daemon's user can write, "
                + "such as /run/reach")
    }

    @Test(
        arguments: [
            (S_IFDIR | 0o755, 0, true), (S_IFDIR | 0o755, 1000, true), (S_IFDIR | 0o755, 1001, false),
            (S_IFDIR | 0o775, 1000, false), (S_IFDIR | 0o757, 0, false), (S_IFDIR | 0o1777, 0, true),
            (S_IFDIR | 0o1777, 1001, false), (S_IFREG | 0o644, 0, false),
        ] as [(mode_t, uid_t, Bool)])
    func `a directory is good if no other user can change its entries`(mode: mode_t, owner: uid_t, isGood: Bool) {
        #expect((SocketDirectory.objection(mode: mode, owner: owner, user: 1000) == nil) == isGood)
    }

    @Test func `a path that cannot be a socket's is refused`() throws {
        let server = try TestServer(listens: false)
        for path in ["", "/tmp/" + String(repeating: "x", count: 103), "/tmp/a\0b"] {
            #expect(listen(server, at: path) == .badPath(path))
        }
        let longest = server.directory + "/" + String(repeating: "x", count: 106 - server.directory.utf8.count)
        #expect(listen(server, at: longest) == nil)
        _ = try RawClient(longest)
    }

    @Test func `an inherited socket is served, and its file left alone`() throws {
        let server = try TestServer(listens: false)
        let address = try #require(UnixAddress(server.path))
        let handed = try UnixAddress.socket(isBlocking: true)
        try address.bind(handed)
        Glibc.listen(handed, 10)
        try server.run { _, server in
            Result { () throws(ListenError) in try server.listen(inheriting: handed) }
        }.get()
        let client = try RawClient(server.path)
        #expect(try client.call(#"{"method":"org.varlink.service.GetInfo"}"#)["parameters"] != nil)
        server.run { _, server in server.stop() }
        #expect(file(server.path) != nil)
        #expect(fcntl(handed, F_GETFD) == -1)
    }

    @Test func `a descriptor that does not listen is refused`() throws {
        let server = try TestServer(listens: false)
        let descriptors = [try UnixAddress.socket(isBlocking: true), open("/dev/null", O_RDONLY)]
        for descriptor in descriptors {
            let result = server.run { _, server in
                Result { () throws(ListenError) in try server.listen(inheriting: descriptor) }
            }
            #expect(throws: ListenError.badDescriptor(descriptor)) { try result.get() }
            // The caller still owns it.
            #expect(close(descriptor) == 0)
        }
    }
}
