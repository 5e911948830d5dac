import Glibc
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct SocketOutputTests {
    /// A connected pair whose first end does not block and has a small send buffer.
    private func pair() -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
        var size: CInt = 8192
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        return (ends[0], ends[1])
    }

    /// Reads until nothing is left.
    private func drain(_ descriptor: CInt) -> Int {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var total = 0
        while case let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT)), count > 0 {
            total += count
        }
        return total
    }

    // #expect copies what it shows, and an output cannot be copied.
    private func count(_ output: borrowing SocketOutput) -> Int { output.pendingCount }
    private func isEmpty(_ output: borrowing SocketOutput) -> Bool { output.isEmpty }

    @Test func `what a full socket refuses is not kept, and can be offered again`() {
        let (near, far) = pair()
        defer {
            close(near)
            close(far)
        }
        var output = SocketOutput(near)
        let line = [UInt8](repeating: 7, count: 1000)
        var taken = 0
        while output.offer(line) { taken += 1 }
        let (kept, mayGoOn) = (count(output), isEmpty(output))
        #expect(taken > 0 && kept == 0)
        #expect(!mayGoOn, "the caller waits until the socket takes more")
        let isTaken = output.offer(line)
        #expect(!isTaken, "nothing is sent meanwhile")
        #expect(drain(far) == taken * 1000)
        output.flush()
        let isReady = isEmpty(output)
        let isTakenNow = output.offer(line)
        #expect(isReady && isTakenNow)
        #expect(drain(far) == 1000)
    }

    @Test func `what was sent in part is kept, and sent whole`() {
        let (near, far) = pair()
        defer {
            close(near)
            close(far)
        }
        var output = SocketOutput(near)
        let isTaken = output.offer([UInt8](repeating: 7, count: 1 << 20))
        let kept = count(output)
        #expect(isTaken && kept > 0, "the rest follows")
        var total = 0
        while !output.isEmpty {
            total += drain(far)
            output.flush()
        }
        #expect(total + drain(far) == 1 << 20)
    }

    @Test func `a rest of a few bytes is sent when the socket takes more`() {
        let (near, far) = pair()
        defer {
            close(near)
            close(far)
        }
        var output = SocketOutput(near)
        while output.offer([1]) {}
        output.send([1, 2, 3])
        let kept = count(output)
        #expect(kept == 3)
        _ = drain(far)
        output.flush()
        let isReady = isEmpty(output)
        #expect(isReady && drain(far) == 3)
    }
}
