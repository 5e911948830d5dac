internal import Glibc
internal import ReachCore

/// Hears what comes in by a link before any filter of this machine does (packet(7)), to find answers that no program
/// was given. It takes CAP_NET_RAW.
final class LinkListener {
    private let socket: CInt

    /// Of linux/if_ether.h, in network byte order: every packet. Those of one protocol are heard behind the hooks of
    /// tc(8) and of nft's netdev family.
    private static let everything = UInt16(3).bigEndian
    private static let bufferBytes: CInt = 1 << 20
    private static let packetLimit = 4096

    /// - Returns: `nil` where this process may not listen.
    init?(_ index: InterfaceIndex) {
        socket = Glibc.socket(
            PF_PACKET, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue),
            CInt(Self.everything))
        guard socket >= 0 else { return nil }
        var size = Self.bufferBytes
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        // struct sockaddr_ll, of which Glibc's module has none: family, protocol, index, and 12 bytes that bind() does
        // not read.
        var place = [UInt8](repeating: 0, count: 20)
        place.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt16(PF_PACKET), as: UInt16.self)
            bytes.storeBytes(of: Self.everything, toByteOffset: 2, as: UInt16.self)
            bytes.storeBytes(of: Int32(index), toByteOffset: 4, as: Int32.self)
        }
        let isBound = place.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                bind(socket, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            } ?? false
        }
        guard isBound else { return nil }
    }

    deinit { if socket >= 0 { close(socket) } }

    /// The ports of this machine to which a host's TCP port has answered since the last call.
    func answeredPorts(by host: IPAddress, _ port: UInt16) -> Set<UInt16> {
        var ports: Set<UInt16> = []
        var bytes = [UInt8](repeating: 0, count: 128)
        for _ in 0..<Self.packetLimit {
            let count = recv(socket, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { break }
            if let found = Self.answer(bytes.prefix(count), by: host, port) { ports.insert(found) }
        }
        return ports
    }

    /// The port that a TCP segment goes to, if it comes from a host's port; `nil` for other packets.
    static func answer(_ packet: ArraySlice<UInt8>, by host: IPAddress, _ port: UInt16) -> UInt16? {
        let bytes = Array(packet)
        let isIPv4 = host.family == .ipv4
        guard let first = bytes.first, first >> 4 == (isIPv4 ? 4 : 6), bytes.count >= (isIPv4 ? 20 : 40) else {
            return nil
        }
        let source = isIPv4 ? bytes[12..<16] : bytes[8..<24]
        let start = isIPv4 ? Int(first & 15) * 4 : 40
        guard bytes[isIPv4 ? 9 : 6] == UInt8(IPPROTO_TCP), Array(source) == host.bytes, bytes.count >= start + 4 else {
            return nil
        }
        func number(_ place: Int) -> UInt16 { UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]) }
        return number(start) == port ? number(start + 2) : nil
    }
}
