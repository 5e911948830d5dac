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
