internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Finds the source address that the kernel would choose, by connecting a datagram socket, which sends no packet.
///
/// A lookup without a source does not find IPv6 routes that are for some sources only (networks of RFC 8475), although
/// connecting works. A lookup with the source found here does.
enum SourceFinder {
    static func source(for destination: IPAddress) -> IPAddress? {
        guard destination.family == .ipv6 else { return nil }
        let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let owner = FileDescriptor(owning: descriptor)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(9).bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: destination.bytes) }
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(owner.rawValue, generic, length) == 0 && getsockname(owner.rawValue, generic, &length) == 0
            }
        }
        guard isConnected else { return nil }
        return withUnsafeBytes(of: address.sin6_addr) { IPAddress(bytes: $0) }
    }
}
