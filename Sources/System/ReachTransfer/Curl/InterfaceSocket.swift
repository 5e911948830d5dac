internal import CReachLinux
internal import Glibc
internal import ReachCore
package import ReachLoop

/// Binds sockets to an interface (SO_BINDTODEVICE of socket(7)): packets go by that interface or not at all, whatever
/// the routes say.
///
/// Since Linux 5.7 this needs no privilege for a socket that is not bound yet.
package enum InterfaceSocket {
    /// - Throws: ENODEV also where the name now belongs to another interface.
    package static func bind(_ socket: CInt, to interface: InterfaceBinding) throws(SystemError) {
        let name = Array(interface.name.utf8)
        let result = setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count))
        guard result == 0 else {
            let error = SystemError(call: "SO_BINDTODEVICE")
            // Sockets of a process in a VRF are bound to it already, and to bind them again takes CAP_NET_RAW.
            if error.number == EPERM, isBoundToController(socket, of: interface) { return }
            throw error
        }
        guard isBound(socket, to: interface) else { throw SystemError(call: "SO_BINDTODEVICE", number: ENODEV) }
    }

    /// Whether the socket is bound to the VRF of which the interface is a port: its packets go by the VRF's tables.
    private static func isBoundToController(_ socket: CInt, of interface: InterfaceBinding) -> Bool {
        guard let text = SmallFile.text("/sys/class/net/\(interface.name)/master/ifindex"),
            let index = UInt32(text.prefixScalars { $0 != "\n" }), index != 0
        else { return false }
        return isBound(socket, to: InterfaceBinding(name: "", index: index))
    }

    /// Whether packets of the socket leave by this interface, or by the tables of the VRF that it belongs to.
    static func leaves(_ socket: CInt, by interface: InterfaceBinding) -> Bool {
        isBound(socket, to: interface) || isBoundToController(socket, of: interface)
    }

    /// Whether the kernel has the socket bound to this interface.
    static func isBound(_ socket: CInt, to interface: InterfaceBinding) -> Bool {
        if interface.index != 0 {
            // Since Linux 5.0. The name alone could now belong to another interface.
            var index: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            if getsockopt(socket, SOL_SOCKET, bindToIndex, &index, &length) == 0 {
                return UInt32(bitPattern: index) == interface.index
            }
        }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        var length = socklen_t(name.count)
        guard getsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, &name, &length) == 0 else { return false }
        return name.prefix { $0 != 0 }.elementsEqual(interface.name.utf8.map(CChar.init(bitPattern:)))
    }

    /// SO_BINDTOIFINDEX of asm-generic/socket.h, which Glibc's module leaves out.
    private static let bindToIndex: CInt = 62
}

extension TransferFailure {
    /// A socket could not be bound to its interface.
    init(binding interface: InterfaceBinding, _ error: SystemError) {
        let reason: Reason = error.number == ENODEV ? .noDevice : .bindRefused
        self.init(
            reason, "\(interface.name): \(SystemError.text(error.number))", curlCode: 45, systemError: error.number)
    }
}
