internal import ReachCore

/// ICMP's echo request and reply (RFC 792, RFC 4443) as ping sockets send and receive them: the kernel puts in the identifier
/// and the checksum, and takes the IP header off.
struct EchoMessage: Hashable {
    let sequence: UInt16
    let payload: [UInt8]

    /// As much as ping(8) sends, so that what networks do to those, they do to these.
    static let payloadCount = 56

    func request(_ family: IPAddress.Family) -> [UInt8] {
        let type: UInt8 = family == .ipv4 ? 8 : 128
        return [type, 0, 0, 0, 0, 0, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)] + payload
    }

    /// Whether a datagram is the reply to this, and not to an earlier one of the same socket.
    func isAnswered(by bytes: [UInt8], _ family: IPAddress.Family) -> Bool {
        let type: UInt8 = family == .ipv4 ? 0 : 129
        guard bytes.count >= 8, bytes[0] == type, bytes[1] == 0 else { return false }
        return UInt16(bytes[6]) << 8 | UInt16(bytes[7]) == sequence && bytes[8...].elementsEqual(payload)
    }
}
