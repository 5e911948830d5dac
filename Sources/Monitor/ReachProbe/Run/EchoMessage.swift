internal import ReachCore

/// An ICMP echo request (RFC 792, RFC 4443) as a ping socket sends it. The kernel fills in the identifier and the
/// checksum, and strips the IP header from the reply.
struct EchoMessage: Hashable {
    let sequence: UInt16
    let payload: [UInt8]

    /// Payload size in bytes: that of ping(8), so that networks treat these packets as they treat ping's.
    static let payloadCount = 56

    /// A request whose reply nobody can make without having seen it.
    static func unguessable(_ sequence: UInt16) -> EchoMessage {
        EchoMessage(sequence: sequence, payload: (0..<payloadCount).map { _ in UInt8.random(in: .min ... .max) })
    }

    func request(_ family: IPAddress.Family) -> [UInt8] {
        let type: UInt8 = family == .ipv4 ? 8 : 128
        return [type, 0, 0, 0, 0, 0, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)] + payload
    }

    /// Whether a datagram is the reply to this request, and not to an earlier one of the same socket.
    func isAnswered(by bytes: [UInt8], _ family: IPAddress.Family) -> Bool {
        Self.sequence(ofReply: bytes, family) == sequence && bytes[8...].elementsEqual(payload)
    }

    /// The number of the request that a datagram replies to; `nil` if it is no echo reply.
    static func sequence(ofReply bytes: [UInt8], _ family: IPAddress.Family) -> UInt16? {
        let type: UInt8 = family == .ipv4 ? 0 : 129
        guard bytes.count >= 8, bytes[0] == type, bytes[1] == 0 else { return nil }
        return UInt16(bytes[6]) << 8 | UInt16(bytes[7])
    }
}
