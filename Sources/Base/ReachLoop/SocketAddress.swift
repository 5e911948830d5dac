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
        address { getpeername(descriptor, $0, $1) }
    }

    /// The address at this end of a socket; `nil` if it has none of IP.
    static func own(of descriptor: CInt) -> IPAddress? { address { getsockname(descriptor, $0, $1) } }

    private static func address(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> IPAddress? {
        // 28 bytes; those of an IPv4 address are 16, and of a path what has room.
        var place = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return withUnsafeMutablePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                ask(generic, &length) == 0 ? IPAddress(generic) : nil
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

/// The VRF in which this process runs: a network of its own, as a namespace is.
///
/// `ip vrf exec` gives a control group a program that binds each new socket to the VRF, and for such a socket the
/// kernel looks into the VRF's tables only (Documentation/networking/vrf.rst). A lookup over netlink is bound to
/// nothing, so it has to name the VRF.
package enum ProcessVRF {
    /// The interface to which a new socket is bound; `nil` for an ordinary process. It need not be a VRF.
    package static func binding() -> InterfaceIndex? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let owner = FileDescriptor(owning: descriptor)
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        var length = socklen_t(name.count)
        guard getsockopt(owner.rawValue, SOL_SOCKET, SO_BINDTODEVICE, &name, &length) == 0, name[0] != 0 else {
            return nil
        }
        return LinkName.index(of: String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            .map(InterfaceIndex.init(bitPattern:))
    }
}

/// What names of links mean to the kernel at the moment, in the network of the calling thread.
package enum LinkName {
    /// The number of the link with this name or alternative name; `nil` if there is none.
    package static func index(of name: String) -> UInt32? {
        let index = reach_link_index(name)
        return index == 0 ? nil : index
    }

    /// The number of the link that a zone names, which may be the number itself (`fe80::1%2`); `nil` if there is none.
    package static func index(ofZone zone: String) -> UInt32? {
        index(of: zone) ?? UInt32(zone).flatMap { $0 > 0 ? $0 : nil }
    }
}
