internal import CNetlink
internal import Glibc
internal import ReachCore

extension NoticeParser {
    /// - Returns: `nil` for messages of a bridge or of IPv6, which describe a port or a protocol on the link and not
    ///   the link itself; and for events of the wireless extensions, which contain only the name.
    static func link(_ message: Message) -> Link? {
        guard let (header, attributes) = message.body(ifinfomsg.self), CInt(header.ifi_family) == AF_UNSPEC else {
            return nil
        }
        var link = Link(index: header.ifi_index, name: "")
        link.hardwareType = header.ifi_type
        link.flags = Link.Flags(rawValue: header.ifi_flags).intersection(keptFlags)
        var lowerIsElsewhere = false
        for attribute in attributes {
            switch attribute.type {
            case IFLA_WIRELESS: return nil
            case IFLA_IFNAME: link.name = attribute.string
            case IFLA_ADDRESS: link.hardwareAddress = attribute.bytes
            case IFLA_MTU: link.mtu = attribute.uint32 ?? 0
            case IFLA_OPERSTATE:
                link.operationalState = attribute.uint8.flatMap(Link.OperationalState.init(rawValue:))
            case IFLA_LINK: link.lower = attribute.int32
            case IFLA_LINK_NETNSID: lowerIsElsewhere = true
            case IFLA_MASTER: link.controller = attribute.int32
            case IFLA_LINKINFO: readKind(attribute.nested, into: &link)
            case IFLA_PROP_LIST:
                link.alternativeNames = attribute.nested.filter { $0.type == IFLA_ALT_IFNAME }.map(\.string)
            default: break
            }
        }
        guard link.index > 0, !link.name.isEmpty else { return nil }
        let isPaired = link.kind == "veth" || link.kind == "netkit"
        if lowerIsElsewhere || isPaired || link.lower == link.index || link.lower == 0 { link.lower = nil }
        return link
    }

    private static let keptFlags: Link.Flags = [
        .up, .loopback, .pointToPoint, .running, .noARP, .lowerUp, .dormant,
    ]

    private static func readKind(_ info: Attributes, into link: inout Link) {
        link.kind = info.first { $0.type == IFLA_INFO_KIND }?.string ?? link.kind
        if let details = info.first(where: { $0.type == IFLA_INFO_DATA })?.nested { readDetails(details, into: &link) }
    }

    /// Reads INFO_DATA. The meaning of its attribute numbers depends on the kind.
    private static func readDetails(_ details: Attributes, into link: inout Link) {
        let remoteTypes: [Int]
        switch link.kind {
        case "bond":
            let active = details.first { $0.type == IFLA_BOND_ACTIVE_SLAVE }?.int32
            link.activePort = active.flatMap { $0 > 0 ? $0 : nil }
            return
        case "ipip", "sit", "ip6tnl": remoteTypes = [IFLA_IPTUN_REMOTE]
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan": remoteTypes = [IFLA_GRE_REMOTE]
        case "vti", "vti6": remoteTypes = [IFLA_VTI_REMOTE]
        case "vxlan": remoteTypes = [IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6]
        case "geneve": remoteTypes = [IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6]
        default: return
        }
        let remote = details.first { remoteTypes.contains($0.type) }?.address
        link.remote = remote.flatMap { $0.isUnspecified || $0.isMulticast ? nil : $0 }
    }

    private static let IFLA_IPTUN_REMOTE = 3
    private static let IFLA_GRE_REMOTE = 7
    private static let IFLA_VTI_REMOTE = 5
}
