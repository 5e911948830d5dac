internal import CReachLinux
internal import Glibc
package import ReachCore

/// An address and a port in the form of system calls.
package struct SocketAddress {
    package let address: IPAddress
    package let port: UInt16
    /// The number of the interface of a link-local address; else 0.
    package let scope: UInt32

    package init(address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        self.address = address
        self.port = port
        self.scope = scope
    }

    package var family: CInt { address.family == .ipv4 ? AF_INET : AF_INET6 }

    /// The address at the other end of a connection; `nil` if that has ended.
    package static func peer(of descriptor: CInt) -> IPAddress? {
        // 28 bytes; those of an IPv4 address are 16.
        var place = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return withUnsafeMutablePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                getpeername(descriptor, generic, &length) == 0 ? IPAddress(generic) : nil
            }
        }
    }

    /// Calls `body` with a pointer to a `sockaddr` and its length. The type is not named here: Swift attributes it to
    /// whichever C module's header it reads first, which differs between kinds of build.
    package func withPointer<Result>(_ body: (UnsafeRawPointer, UInt32) -> Result) -> Result {
        // 32 bytes, aligned as any socket address has to be; sockaddr_in6 takes 28.
        var place: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        return withUnsafeMutablePointer(to: &place) { place in
            let isIPv6: CInt = address.family == .ipv4 ? 0 : 1
            let length = reach_socket_address(place, isIPv6, address.bytes, port, scope)
            return place.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, UInt32(length)) }
        }
    }
}
