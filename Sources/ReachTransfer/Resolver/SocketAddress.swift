// c-ares's header includes the same system headers, and a build as one module attributes their members to it.
internal import CAres
package import Glibc
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

    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        func generic<Specific>(_ value: Specific) -> Result {
            withUnsafePointer(to: value) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Specific>.size))
                }
            }
        }
        if address.family == .ipv4 {
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &value.sin_addr) { $0.copyBytes(from: address.bytes) }
            return generic(value)
        }
        var value = sockaddr_in6()
        value.sin6_family = sa_family_t(AF_INET6)
        value.sin6_port = port.bigEndian
        value.sin6_scope_id = scope
        withUnsafeMutableBytes(of: &value.sin6_addr) { $0.copyBytes(from: address.bytes) }
        return generic(value)
    }
}
