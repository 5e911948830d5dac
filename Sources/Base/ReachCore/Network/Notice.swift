/// A notification from the kernel. It updates the ``NetworkTable`` and hints that a verdict may have changed.
package enum Notice: Hashable, Sendable {
    /// A link appeared or changed (RTM_NEWLINK).
    case link(Link)
    /// A link was removed (RTM_DELLINK).
    case linkRemoved(InterfaceIndex)
    /// An address was added or changed (RTM_NEWADDR).
    case address(InterfaceAddress)
    /// An address was removed (RTM_DELADDR).
    case addressRemoved(InterfaceAddress)
    /// The state of a neighbour entry changed (RTM_NEWNEIGH).
    case neighbour(Neighbour)
    /// A neighbour entry was removed (RTM_DELNEIGH).
    case neighbourRemoved(Neighbour.Key)
    /// A route was added or replaced another (RTM_NEWROUTE).
    case route(Route, replacesOther: Bool)
    /// A route was removed (RTM_DELROUTE).
    case routeRemoved(Route)
    /// A policy rule was added (RTM_NEWRULE).
    case rule(Rule)
    /// A policy rule was removed (RTM_DELRULE).
    case ruleRemoved(Rule)
    /// A nexthop object was added or replaced (RTM_NEWNEXTHOP).
    case nexthop(id: UInt32)
    /// A nexthop object was removed (RTM_DELNEXTHOP).
    case nexthopRemoved(id: UInt32)
    /// A router announced the API of a portal (RTM_NEWNDUSEROPT).
    case portal(PortalAnnouncement)
    /// A setting of the family changed for one interface or for all (RTM_NEWNETCONF).
    case setting(family: IPAddress.Family, interface: InterfaceIndex?)
}
