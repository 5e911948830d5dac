import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import ReachKernel

@Suite struct NoticeSocketTests {
    /// The address of a netlink socket: a struct sockaddr_nl, which Swift's Glibc module lacks.
    private func address(of descriptor: CInt) -> [UInt8] {
        var address = [UInt8](repeating: 0, count: 12)
        var length = socklen_t(address.count)
        address.withUnsafeMutableBytes { bytes in
            _ = bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
        }
        return address
    }

    @Test func `datagrams of other processes are ignored`() throws {
        let socket = try NetlinkSocket.open(receiveBufferBytes: 1 << 16)
        try socket.setNonblocking()
        let forger = try NetlinkSocket.open(receiveBufferBytes: 1 << 16)
        let buffer = DatagramBuffer()
        #expect(try socket.receive(into: buffer) { _ in } == 0)
        let address = address(of: socket.descriptor)
        let bytes = KernelMessage.link(1, isRemoved: true, [KernelMessage.attribute(3, "lo")])
        let sent = address.withUnsafeBytes { pointer in
            pointer.withMemoryRebound(to: sockaddr.self) {
                sendto(forger.descriptor, bytes, bytes.count, 0, $0.baseAddress, socklen_t(address.count))
            }
        }
        // Sending to a process instead of the kernel takes CAP_NET_ADMIN.
        guard sent >= 0 else {
            #expect(errno == EPERM)
            return
        }
        var accepted = 0
        #expect(try socket.receive(into: buffer) { _ in accepted += 1 } == 1)
        #expect(accepted == 0)
    }

    @Test func `a message that does not fit counts as lost`() throws {
        let socket = try NetlinkSocket.open(receiveBufferBytes: 1 << 16)
        socket.setReceiveTimeout(seconds: 5)
        var batch = RequestBatch(firstSequence: 1)
        // RTM_GETLINK without index and name, which the kernel refuses.
        batch.add(18, (UInt64(0), UInt64(0x1_0000_0000)))
        try socket.send(batch.bytes)
        #expect(throws: NetlinkError.lost) { try socket.receive(into: DatagramBuffer(slotBytes: 17)) { _ in } }
    }

    @Test func `the buffer has the requested size, or the machine's limit`() throws {
        let limit = try #require(
            try Int(ChildProcess.run(["cat", "/proc/sys/net/core/rmem_max"]).filter(\.isNumber)))
        for bytes in [1 << 15, 1 << 20] {
            let socket = try NoticeSocket(filter: nil, bufferBytes: bytes)
            #expect(socket.receiveBufferBytes >= 2 * min(bytes, limit))
        }
    }
}
