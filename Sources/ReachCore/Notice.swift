/// Something the kernel has told us, in its own order. A hint that a verdict may have changed, and what to fold.
package enum Notice: Hashable, Sendable {
    case link(Link)
    case linkRemoved(InterfaceIndex)
    case address(InterfaceAddress)
    case addressRemoved(InterfaceAddress)
    case neighbour(Neighbour)
    case neighbourRemoved(Neighbour.Key)
    case route(Route, replacesOther: Bool)
    case routeRemoved(Route)
    case rule(Rule)
    case ruleRemoved(Rule)
    case nexthop(id: UInt32)
    case nexthopRemoved(id: UInt32)
    /// A setting of the family was changed, for one interface or all (RTM_NEWNETCONF).
    case setting(family: IPAddress.Family, interface: InterfaceIndex?)
}

/// A policy rule: which routing table is asked, for which packets (`ip rule`).
package struct Rule: Hashable, Sendable {
    /// `FR_ACT_*` of linux/fib_rules.h.
    package enum Action: UInt8, Hashable, Sendable {
        case unspecified = 0
        case table, goto, nop
        case blackhole = 6
        case unreachable, prohibit
    }

    package var family: IPAddress.Family
    package var priority: UInt32
    package var action: Action
    package var table: UInt32
    package var from: IPPrefix?
    package var to: IPPrefix?
    package var mark: UInt32?
    package var markMask: UInt32?
    package var inputInterface: String?
    package var outputInterface: String?
    package var isInverted = false
    package var suppressedPrefixLength: Int?

    package init(family: IPAddress.Family, priority: UInt32, action: Action = .table, table: UInt32 = 254) {
        self.family = family
        self.priority = priority
        self.action = action
        self.table = table
    }
}
