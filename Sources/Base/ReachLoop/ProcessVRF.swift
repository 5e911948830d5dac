internal import Glibc
package import ReachCore

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
        let index = if_nametoindex(name)
        return index == 0 ? nil : InterfaceIndex(bitPattern: index)
    }
}
