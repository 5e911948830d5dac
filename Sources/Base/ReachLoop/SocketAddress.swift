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
