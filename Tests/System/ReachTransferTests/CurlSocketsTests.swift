import Glibc
import ReachCore
import ReachLoop
import Testing

@testable import ReachTransfer

/// The sockets that libcurl waits for, and those of connections that it keeps.
struct CurlSocketsTests {
    /// Whether something unexpected happened on a kept connection, while its peer did this.
    private func isUnexpected(_ meanwhile: (CInt) -> Void) throws -> Bool {
        var pair: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &pair) == 0)
        defer { pair.forEach { close($0) } }
        let loop = try EventLoop()
        let sockets = CurlSockets(loop: loop)
        var unexpected: [CInt] = []
        sockets.onUnexpected = { unexpected.append($0) }
        // As while it connects.
        sockets.wait(for: pair[0], [.writable])
        sockets.rest(pair[0], isBusy: false)
        meanwhile(pair[1])
        loop.schedule(at: SystemClock.boot + .milliseconds(20)) { loop.stop() }
        loop.run()
        sockets.forgetAll()
        return !unexpected.isEmpty
    }

    @Test func `a connection whose first response was read at once is kept`() throws {
        #expect(try !isUnexpected { _ in })
    }

    @Test func `bytes on a kept connection are unexpected`() throws {
        #expect(try isUnexpected { _ = write($0, "x", 1) })
    }
}
