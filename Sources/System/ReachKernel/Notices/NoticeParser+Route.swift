internal import CNetlink
internal import Glibc
internal import ReachCore

extension NoticeParser {
    /// - Returns: `nil` for a cached route, which the kernel made from another route.
    static func route(_ message: Message) -> Route? {
        guard let (header, attributes) = message.body(rtmsg.self), let family = family(header.rtm_family),
            let type = RouteType(rawValue: header.rtm_type), header.rtm_flags & UInt32(RTM_F_CLONED) == 0
        else { return nil }
        return route(header, attributes, family: family, type: type)
    }

    /// The route in the answer to a lookup, which may have the flag RTM_F_CLONED.
    static func answer(_ message: Message) -> Route? {
        guard let (header, attributes) = message.body(rtmsg.self), let family = family(header.rtm_family),
            let type = RouteType(rawValue: header.rtm_type)
        else { return nil }
        return route(header, attributes, family: family, type: type)
    }

    private static func route(
        _ header: rtmsg, _ attributes: Attributes, family: IPAddress.Family, type: RouteType
    ) -> Route? {
        let zero = family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6: 0, 0)
        guard let anywhere = IPPrefix(zero, length: 0) else { return nil }
        var route = Route(destination: anywhere, type: type, table: UInt32(header.rtm_table))
        route.origin = header.rtm_protocol
        var hop = NextHop(interface: nil, flags: NextHop.Flags(rawValue: UInt8(truncatingIfNeeded: header.rtm_flags)))
        var hops: [NextHop] = []
        for attribute in attributes {
            switch attribute.routeType {
            case RTA_DST:
                guard let address = attribute.address, address.family == family,
                    let prefix = IPPrefix(address, length: Int(header.rtm_dst_len))
                else { return nil }
                route.destination = prefix
            case RTA_TABLE: route.table = attribute.uint32 ?? route.table
            case RTA_PRIORITY: route.metric = attribute.uint32
            case RTA_PREFSRC: route.source = attribute.address
            case RTA_NH_ID: route.nexthopObject = attribute.uint32
            case RTA_MULTIPATH: attribute.forEachNextHop { hops.append(nextHop($0, $1)) }
            default: read(attribute, into: &hop)
            }
        }
        route.hops = hops.isEmpty && (hop.interface ?? 0) > 0 ? [hop] : hops
        return route
    }

    private static func nextHop(_ header: rtnexthop, _ attributes: Attributes) -> NextHop {
        var hop = NextHop(
            interface: header.rtnh_ifindex, flags: NextHop.Flags(rawValue: header.rtnh_flags),
            weight: Int(header.rtnh_hops) + 1)
        for attribute in attributes { read(attribute, into: &hop) }
        return hop
    }

    private static func read(_ attribute: Attribute, into hop: inout NextHop) {
        switch attribute.routeType {
        case RTA_OIF: hop.interface = attribute.int32
        case RTA_GATEWAY: hop.gateway = attribute.address
        case RTA_VIA:
            // struct rtvia: two bytes of family, then the address.
            hop.gateway = IPAddress(bytes: attribute.bytes.dropFirst(2))
        default: break
        }
    }
}

extension Attribute {
    /// The attribute's type in linux/rtnetlink.h's enumeration for routes.
    fileprivate var routeType: rtattr_type_t { rtattr_type_t(rawValue: UInt32(type)) }
}

extension NoticeParser {
    /// The type of the option that names a portal's API, in router advertisements (RFC 8910 2.3).
    static let portalOption: UInt8 = 37

    private static let routerAdvertisement: UInt8 = 134

    /// The portal's API in an option of a router advertisement: type, length in units of eight bytes, and the URI,
    /// padded with NULs. The kernel sends one message for each option, with the router's address after it.
    static func portal(_ message: Message) -> PortalAnnouncement? {
        guard let header = message.payload.structure(nduseroptmsg.self), CInt(header.nduseropt_family) == AF_INET6,
            header.nduseropt_icmp_type == routerAdvertisement, header.nduseropt_ifindex > 0
        else { return nil }
        let start = MemoryLayout<nduseroptmsg>.size
        let end = start + Int(header.nduseropt_opts_len)
        guard end >= start + 8, end <= message.payload.count else { return nil }
        let option = UnsafeRawBufferPointer(rebasing: message.payload[start..<end])
        let length = Int(option[1]) * 8
        guard option[0] == portalOption, length >= 8, length <= option.count else { return nil }
        let text = option[2..<length]
        let used = text.lastIndex { $0 != 0 }.map { $0 + 1 } ?? text.startIndex
        let rest = UnsafeRawBufferPointer(rebasing: message.payload[end...])
        let attributes = Attributes(at: rest.baseAddress, byteCount: rest.count)
        guard let router = attributes.first(where: { $0.type == NDUSEROPT_SRCADDR })?.address, router.family == .ipv6
        else { return nil }
        return PortalAnnouncement(
            interface: header.nduseropt_ifindex, router: router,
            uri: String(decoding: text[..<used], as: UTF8.self))
    }
}
