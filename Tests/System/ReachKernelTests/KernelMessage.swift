import ReachCore
import ReachKernel

/// Netlink messages built byte by byte, with the numbers of the kernel's headers written out, so that the tests do not
/// share the parser's own constants.
enum KernelMessage {
    static func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    /// A structure nlattr and its payload, padded to four bytes.
    static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - payload.count % 4) % 4)
        return number(UInt16(4 + payload.count)) + number(type) + payload + padding
    }

    static func attribute(_ type: UInt16, _ value: some FixedWidthInteger) -> [UInt8] { attribute(type, number(value)) }

    static func attribute(_ type: UInt16, _ text: String) -> [UInt8] { attribute(type, Array(text.utf8) + [0]) }

    /// A nested attribute. The kernel sets NLA_F_NESTED for some and not for others.
    static func nested(_ type: UInt16, isMarked: Bool = false, _ attributes: [[UInt8]]) -> [UInt8] {
        attribute(type | (isMarked ? 0x8000 : 0), attributes.flatMap { $0 })
    }

    static func message(
        _ type: UInt16, flags: UInt16 = 0, fixed: [UInt8], _ attributes: [[UInt8]] = []
    ) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - fixed.count % 4) % 4)
        let body = fixed + padding + attributes.flatMap { $0 }
        return number(UInt32(16 + body.count)) + number(type) + number(flags) + number(UInt32(0)) + number(UInt32(0))
            + body
    }

    static func family(_ family: IPAddress.Family) -> UInt8 { family == .ipv4 ? 2 : 10 }

    /// `ifinfomsg`, by default with IFF_UP, BROADCAST, RUNNING, MULTICAST and LOWER_UP.
    static func link(
        _ index: InterfaceIndex, family: UInt8 = 0, hardwareType: UInt16 = 1, flags: UInt32 = 0x11043,
        change: UInt32 = .max, isRemoved: Bool = false, _ attributes: [[UInt8]]
    ) -> [UInt8] {
        let fixed = [family, 0] + number(hardwareType) + number(index) + number(flags) + number(change)
        return message(isRemoved ? 17 : 16, fixed: fixed, attributes)
    }

    /// `ifaddrmsg`.
    static func address(
        on index: UInt32, family: UInt8, length: UInt8, flags: UInt8 = 0, scope: UInt8 = 0, isRemoved: Bool = false,
        _ attributes: [[UInt8]]
    ) -> [UInt8] {
        message(isRemoved ? 21 : 20, fixed: [family, length, flags, scope] + number(index), attributes)
    }

    /// `rtmsg`.
    static func route(
        family: UInt8, length: UInt8, table: UInt8 = 254, origin: UInt8 = 3, type: UInt8 = 1, flags: UInt32 = 0,
        headerFlags: UInt16 = 0, isRemoved: Bool = false, _ attributes: [[UInt8]]
    ) -> [UInt8] {
        let fixed = [family, length, 0, 0, table, origin, 0, type] + number(flags)
        return message(isRemoved ? 25 : 24, flags: headerFlags, fixed: fixed, attributes)
    }

    /// `rtnexthop` and its attributes.
    static func nextHop(
        _ index: InterfaceIndex, flags: UInt8 = 0, weight: UInt8 = 1, _ attributes: [[UInt8]] = []
    ) -> [UInt8] {
        let inner = attributes.flatMap { $0 }
        return number(UInt16(8 + inner.count)) + [flags, weight - 1] + number(index) + inner
    }

    /// `ndmsg`.
    static func neighbour(
        on index: InterfaceIndex, family: UInt8, state: UInt16, isRemoved: Bool = false, _ attributes: [[UInt8]]
    ) -> [UInt8] {
        let fixed = [family, 0, 0, 0] + number(index) + number(state) + [0, 1]
        return message(isRemoved ? 29 : 28, fixed: fixed, attributes)
    }

    /// `fib_rule_hdr`.
    static func rule(
        family: UInt8, to: UInt8 = 0, from: UInt8 = 0, table: UInt8 = 254, action: UInt8 = 1, flags: UInt32 = 0,
        isRemoved: Bool = false, _ attributes: [[UInt8]]
    ) -> [UInt8] {
        message(
            isRemoved ? 33 : 32, fixed: [family, to, from, 0, table, 0, 0, action] + number(flags), attributes)
    }

    /// `nhmsg`.
    static func nexthop(id: UInt32, isRemoved: Bool = false) -> [UInt8] {
        message(
            isRemoved ? 105 : 104, fixed: [2, 0, 3, 0] + number(UInt32(0)), [attribute(1, id), attribute(5, UInt32(2))])
    }

    /// `netconfmsg`.
    static func setting(family: UInt8, interface: Int32) -> [UInt8] {
        message(80, fixed: [family], [attribute(1, interface), attribute(6, UInt32(1))])
    }

    /// `nduseroptmsg` with an option of a router advertisement, and the router's address.
    static func routerOption(
        on index: InterfaceIndex, _ option: [UInt8], optionBytes: UInt16? = nil, icmpType: UInt8 = 134, router: [UInt8]
    ) -> [UInt8] {
        let head =
            [10, 0] + number(optionBytes ?? UInt16(option.count)) + number(index) + [icmpType, 0, 0, 0, 0, 0, 0, 0]
        return message(68, fixed: head + option, [attribute(1, router)])
    }

    /// The option that names a portal's API: type 37, length in units of eight bytes, padding.
    static func portalOption(_ uri: String) -> [UInt8] {
        let text = Array(uri.utf8)
        let padding = (8 - (text.count + 2) % 8) % 8
        return [37, UInt8((text.count + 2 + padding) / 8)] + text + [UInt8](repeating: 0, count: padding)
    }

    /// `ifa_cacheinfo`, in seconds; `UInt32.max` means no limit.
    static func lifetime(preferred: UInt32, valid: UInt32) -> [UInt8] {
        attribute(6, number(preferred) + number(valid) + number(UInt32(100)) + number(UInt32(200)))
    }
}

extension [UInt8] {
    /// The notices that the parser finds in the datagram. It is copied to an allocation of its own size, so that a
    /// sanitizer detects a read beyond its end.
    var notices: [Notice] {
        let datagram = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { datagram.deallocate() }
        datagram.copyBytes(from: self)
        return NoticeParser.notices(in: UnsafeRawBufferPointer(datagram))
    }
}
