/// A notification from the kernel. It updates the ``NetworkTable`` and hints that a verdict may have changed.
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
    /// A setting of the family changed for one interface or for all (RTM_NEWNETCONF).
    case setting(family: IPAddress.Family, interface: InterfaceIndex?)
}
