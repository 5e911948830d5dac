internal import CNetlink
internal import Glibc
package import ReachCore

/// Parses the kernel's messages into values. A message that is unknown, truncated or irrelevant gives no value.
package enum NoticeParser {
    /// The notices of one datagram.
    package static func notices(in datagram: UnsafeRawBufferPointer) -> [Notice] {
        Messages(datagram).compactMap(notice)
    }

    static func notice(_ message: Message) -> Notice? {
        switch message.type {
        case RTM_NEWLINK: link(message).map { .link($0) }
        case RTM_DELLINK: link(message).map { .linkRemoved($0.index) }
        case RTM_NEWADDR: address(message).map { .address($0) }
        case RTM_DELADDR: address(message).map { .addressRemoved($0) }
        case RTM_NEWROUTE: route(message).map { .route($0, replacesOther: message.has(NLM_F_REPLACE)) }
        case RTM_DELROUTE: route(message).map { .routeRemoved($0) }
        case RTM_NEWRULE: rule(message).map { .rule($0) }
        case RTM_DELRULE: rule(message).map { .ruleRemoved($0) }
        case RTM_NEWNEIGH: neighbour(message).map { .neighbour($0) }
        case RTM_DELNEIGH: neighbour(message).map { .neighbourRemoved($0.key) }
        case RTM_NEWNEXTHOP: nexthop(message).map { .nexthop(id: $0) }
        case RTM_DELNEXTHOP: nexthop(message).map { .nexthopRemoved(id: $0) }
        case RTM_NEWNETCONF: setting(message)
        case RTM_NEWNDUSEROPT: portal(message).map { .portal($0) }
        default: nil
        }
    }

    static func family(_ number: some BinaryInteger) -> IPAddress.Family? {
        switch CInt(number) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }

    private static func address(_ message: Message) -> InterfaceAddress? {
        guard let (header, attributes) = message.body(ifaddrmsg.self), family(header.ifa_family) != nil else {
            return nil
        }
        var flags = UInt32(header.ifa_flags)
        var hasExpired = false
        var local: IPAddress?
        var far: IPAddress?
        for attribute in attributes {
            switch attribute.type {
            case IFA_LOCAL: local = attribute.address
            case IFA_ADDRESS: far = attribute.address
            case IFA_FLAGS: flags = attribute.uint32 ?? flags
            case IFA_CACHEINFO:
                // A preferred lifetime of zero means deprecated; the kernel sets the flag later, or never.
                hasExpired = attribute.structure(ifa_cacheinfo.self)?.ifa_prefered == 0
            default: break
            }
        }
        guard let address = local ?? far, address.family == family(header.ifa_family) else { return nil }
        if hasExpired { flags |= UInt32(IFA_F_DEPRECATED) }
        let kept: InterfaceAddress.Flags = [.optimistic, .duplicate, .deprecated, .tentative, .permanent]
        var result = InterfaceAddress(
            interface: InterfaceIndex(bitPattern: header.ifa_index), address: address,
            prefixLength: header.ifa_prefixlen, scope: header.ifa_scope,
            flags: InterfaceAddress.Flags(rawValue: flags).intersection(kept))
        result.peer = far == address ? nil : far
        return result
    }

    private static func neighbour(_ message: Message) -> Neighbour? {
        guard let (header, attributes) = message.body(ndmsg.self), family(header.ndm_family) != nil,
            let address = attributes.first(where: { $0.type == NDA_DST })?.address
        else { return nil }
        let key = Neighbour.Key(interface: header.ndm_ifindex, address: address)
        var neighbour = Neighbour(key: key, state: NeighbourState(kernel: header.ndm_state))
        neighbour.hardwareAddress = attributes.first { $0.type == NDA_LLADDR }.flatMap { HardwareAddress($0.payload) }
        return neighbour
    }

    private static func nexthop(_ message: Message) -> UInt32? {
        message.body(nhmsg.self)?.attributes.first { $0.type == NHA_ID }?.uint32
    }

    private static func setting(_ message: Message) -> Notice? {
        guard let (header, attributes) = message.body(netconfmsg.self), let family = family(header.ncm_family) else {
            return nil
        }
        let index = attributes.first { $0.type == NETCONFA_IFINDEX }?.int32
        return .setting(family: family, interface: index.flatMap { $0 > 0 ? $0 : nil })
    }

    private static func rule(_ message: Message) -> Rule? {
        guard let (header, attributes) = message.body(fib_rule_hdr.self), let family = family(header.family),
            let action = Rule.Action(rawValue: header.action)
        else { return nil }
        var rule = Rule(family: family, priority: 0, action: action, table: UInt32(header.table))
        rule.isInverted = header.flags & UInt32(FIB_RULE_INVERT) != 0
        for attribute in attributes {
            switch attribute.type {
            case FRA_PRIORITY: rule.priority = attribute.uint32 ?? 0
            case FRA_TABLE: rule.table = attribute.uint32 ?? rule.table
            case FRA_SRC: rule.from = attribute.address.flatMap { IPPrefix($0, length: Int(header.src_len)) }
            case FRA_DST: rule.to = attribute.address.flatMap { IPPrefix($0, length: Int(header.dst_len)) }
            case FRA_FWMARK: rule.mark = attribute.uint32
            case FRA_FWMASK: rule.markMask = attribute.uint32
            case FRA_IIFNAME: rule.inputInterface = attribute.string
            case FRA_OIFNAME: rule.outputInterface = attribute.string
            case FRA_SUPPRESS_PREFIXLEN:
                rule.suppressedPrefixLength = attribute.int32.flatMap { $0 >= 0 ? Int($0) : nil }
            case FRA_GOTO: rule.gotoPriority = attribute.uint32
            case FRA_L3MDEV: rule.isForVRFs = attribute.uint8 == 1
            case FRA_UID_RANGE:
                guard let range = attribute.structure(fib_rule_uid_range.self), range.start <= range.end else { break }
                rule.users = range.start...range.end
            case FRA_TUN_ID, FRA_IP_PROTO...: rule.hasOtherSelectors = true
            default: break
            }
        }
        if header.tos != 0 { rule.hasOtherSelectors = true }
        return rule
    }
}
