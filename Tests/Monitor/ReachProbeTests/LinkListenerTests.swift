import ReachCore
import Testing

@testable import ReachProbe

@Suite struct LinkListenerTests {
    private static let host = IPAddress.at("198.51.100.80")
    private static let host6 = IPAddress.at("2001:db8:80::80")

    /// The beginning of a segment of TCP from port 443 to port 40000.
    private static let segment: [UInt8] = [0x01, 0xbb, 0x9c, 0x40, 0, 0, 0, 0]

    private static func packet4(words: UInt8 = 5, protocol number: UInt8 = 6, from source: IPAddress = host) -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: Int(words) * 4)
        bytes[0] = 0x40 | words
        bytes[9] = number
        bytes.replaceSubrange(12..<16, with: source.bytes)
        return bytes + segment
    }

    private static func packet6(next: UInt8 = 6) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 40)
        bytes[0] = 0x60
        bytes[6] = next
        bytes.replaceSubrange(8..<24, with: host6.bytes)
        return bytes + segment
    }

    @Test func `an answer is known by host and port, behind options of the header, too`() {
        #expect(LinkListener.answer(Self.packet4()[...], by: Self.host, 443) == 40000)
        #expect(LinkListener.answer(Self.packet4(words: 8)[...], by: Self.host, 443) == 40000)
        #expect(LinkListener.answer(Self.packet6()[...], by: Self.host6, 443) == 40000)
    }

    @Test func `what others send, or by another protocol or port, is no answer`() {
        #expect(LinkListener.answer(Self.packet4()[...], by: Self.host, 80) == nil)
        #expect(LinkListener.answer(Self.packet4(protocol: 17)[...], by: Self.host, 443) == nil)
        #expect(LinkListener.answer(Self.packet4(from: .at("198.51.100.81"))[...], by: Self.host, 443) == nil)
        #expect(LinkListener.answer(Self.packet6(next: 58)[...], by: Self.host6, 443) == nil)
        #expect(LinkListener.answer(Self.packet6()[...], by: Self.host, 443) == nil)
    }

    @Test func `no beginning of a packet is read beyond its end`() {
        for packet in [Self.packet4(), Self.packet4(words: 15), Self.packet6()] {
            for count in 0...packet.count {
                _ = LinkListener.answer(packet.prefix(count), by: Self.host, 443)
                _ = LinkListener.answer(packet.prefix(count), by: Self.host6, 443)
            }
        }
    }
}
