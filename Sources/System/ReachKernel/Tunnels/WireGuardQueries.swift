internal import CNetlink
internal import CNetlinkGeneric
internal import ReachCore
internal import ReachLoop

/// Asks the kernel for the peers of WireGuard links, which takes CAP_NET_ADMIN. Confined to one thread.
///
/// The kernel has no notices about peers. Its answers have the keys, too, which are not read.
final class WireGuardQueries {
    private var families: [String: Int?] = [:]
    private var socket: QuerySocket?
    private var known: [InterfaceIndex: (device: WireGuardDevice?, at: BootTime)] = [:]
    /// An answer serves for this long: a change of the network causes several questions, and a server has thousands of
    /// peers.
    private static let lifetime = Duration.seconds(1)

    /// - Returns: `nil` for other links, and where the kernel does not answer this process.
    func device(_ link: Link) -> WireGuardDevice? {
        guard let kind = link.kind, ["wireguard", "amneziawg"].contains(kind) else { return nil }
        let now = SystemClock.boot
        if let last = known[link.index], now - last.at < Self.lifetime { return last.device }
        let device = ask(link.index, of: kind)
        if known.count > 64 { known = [:] }
        known[link.index] = (device, now)
        return device
    }

    private func ask(_ index: InterfaceIndex, of kind: String) -> WireGuardDevice? {
        guard let family = family(kind) else { return nil }
        if socket == nil { socket = try? QuerySocket(NETLINK_GENERIC) }
        let dump = try? socket?.dump(family, genlmsghdr(cmd: WireGuardParser.getDevice, version: 1, reserved: 0)) {
            $0.attribute(WireGuardParser.interfaceIndex, UInt32(bitPattern: index))
        } read: {
            WireGuardParser.part($0, family: family)
        }
        guard let parts = dump?.last, var device = parts.first else { return nil }
        for part in parts.dropFirst() { device.add(part) }
        return device
    }

    private func family(_ kind: String) -> Int? {
        if let known = families[kind] { return known }
        var number: CInt = 0
        var group: CInt = 0
        let found = reach_generic_family(kind, nil, &number, &group) == 0 ? Int(number) : nil
        families[kind] = .some(found)
        return found
    }
}
