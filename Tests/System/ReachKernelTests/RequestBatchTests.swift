import ReachCore
import Testing

@testable import ReachKernel

@Suite struct RequestBatchTests {
    private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        Array(bytes).withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }

    @Test func `a request is a header, a fixed part and padded attributes`() throws {
        var batch = RequestBatch(firstSequence: 7)
        batch.add(26, flags: 0x300, UInt32(0x0403_0201)) {
            $0.attribute(4, 0xaabb_ccdd)
            $0.attribute(1, IPAddress(ipv4: 0xc000_0201))
        }
        let expected =
            KernelMessage.number(UInt32(36)) + KernelMessage.number(UInt16(26)) + KernelMessage.number(UInt16(0x301))
            + KernelMessage.number(UInt32(7)) + KernelMessage.number(UInt32(0))
            + KernelMessage.number(UInt32(0x0403_0201))
            + KernelMessage.attribute(4, UInt32(0xaabb_ccdd)) + KernelMessage.attribute(1, [192, 0, 2, 1])
        #expect(batch.bytes == expected)
        #expect(batch.count == 1)
    }

    @Test func `a fixed part of one byte is padded within its message`() {
        var batch = RequestBatch(firstSequence: 1)
        batch.add(80, UInt8(2)) { $0.attribute(1, 5) }
        #expect(batch.bytes.count == 16 + 4 + 8)
        #expect(number(batch.bytes[0..<4]) == 28)
        #expect(batch.bytes[16..<20] == [2, 0, 0, 0])
    }

    @Test func `sequence numbers of requests increase by one, and wrap around at 32 bits`() {
        var batch = RequestBatch(firstSequence: .max - 1)
        for _ in 0..<4 { batch.add(18, UInt32(0)) }
        let starts = stride(from: 0, to: batch.bytes.count, by: 20)
        #expect(starts.map { number(batch.bytes[$0 + 8..<$0 + 12]) } == [.max - 1, .max, 0, 1])
        #expect(starts.map { number(batch.bytes[$0..<$0 + 4]) } == [20, 20, 20, 20])
    }

    @Test func `the parser finds every request of a batch`() {
        var batch = RequestBatch(firstSequence: 1)
        batch.add(80, UInt8(2))
        batch.add(26, UInt64(0)) { $0.attribute(1, IPAddress(ipv6: 1, 2)) }
        batch.add(18, UInt32(0)) { $0.attribute(29, 8) }
        let types = batch.bytes.withUnsafeBytes { Messages($0).map(\.type) }
        #expect(types == [80, 26, 18])
    }
}

@Suite struct MessageTests {
    private func message(_ bytes: [UInt8], _ body: (Message) -> Void) {
        bytes.withUnsafeBytes { datagram in
            guard let message = Messages(datagram).first(where: { _ in true }) else {
                Issue.record("no message")
                return
            }
            body(message)
        }
    }

    @Test func `refusals, acknowledgements and failed dumps have their error number`() {
        func number(_ type: UInt16, _ payload: [UInt8]) -> Int32? {
            var result: Int32?
            message(KernelMessage.message(type, fixed: payload)) { result = $0.errorNumber }
            return result
        }
        let request = [UInt8](repeating: 0, count: 16)
        #expect(number(2, KernelMessage.number(Int32(-101)) + request) == 101)
        #expect(number(2, KernelMessage.number(Int32(0)) + request) == 0)
        #expect(number(2, [1, 2]) == 74, "EBADMSG for a truncated message")
        #expect(number(3, KernelMessage.number(Int32(-22))) == 22)
        #expect(number(3, KernelMessage.number(Int32(0))) == nil)
        #expect(number(3, []) == nil)
        #expect(number(24, KernelMessage.number(Int32(-22))) == nil)
    }

    @Test func `errors are sorted by what the caller does about them`() {
        #expect(NetlinkError(call: "recvmsg", errno: 105) == .lost)
        for number in [1, 13, 97, 93, 38] as [Int32] {
            #expect(NetlinkError(call: "socket", errno: number) == .forbidden(call: "socket", errno: number))
        }
        for number in [9, 12, 110] as [Int32] {
            #expect(NetlinkError(call: "send", errno: number) == .failed(call: "send", errno: number))
        }
        #expect(NetlinkError.lost.description == "netlink messages were lost")
        #expect(NetlinkError.failed(call: "send", errno: 9).description == "send: Bad file descriptor")
        #expect(NetlinkError.refused(errno: 22).description == "the kernel refused a request: Invalid argument")
    }
}
