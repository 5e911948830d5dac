/// The effect of a route on packets (`RTN_*` of linux/rtnetlink.h).
package enum RouteType: UInt8, Hashable, Sendable {
    case unspecified = 0
    case unicast, local, broadcast, anycast, multicast, blackhole, unreachable, prohibit, `throw`, nat, xresolve
}

/// One next hop of a route.
package struct NextHop: Hashable, Sendable {
    /// `RTNH_F_*` of linux/rtnetlink.h.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let dead = Flags(rawValue: 1)
        package static let onLink = Flags(rawValue: 4)
        package static let linkDown = Flags(rawValue: 16)
    }

    package var interface: InterfaceIndex?
    /// The gateway. It can be of the other family (`via inet6`).
    package var gateway: IPAddress?
    package var flags: Flags
    package var weight: Int

    package init(interface: InterfaceIndex?, gateway: IPAddress? = nil, flags: Flags = [], weight: Int = 1) {
        self.interface = interface
        self.gateway = gateway
        self.flags = flags
        self.weight = weight
    }
}

/// A route from a notice or from the answer to a lookup (RTM_NEWROUTE).
package struct Route: Hashable, Sendable {
    package var destination: IPPrefix
    package var type: RouteType
    package var table: UInt32
    package var metric: UInt32?
    /// `RTPROT_*` of linux/rtnetlink.h: what created the route.
    package var origin: UInt8 = 0
    package var source: IPAddress?
    /// The next hops: several for a multipath route; none for a blackhole, or if the route only names a nexthop object.
    package var hops: [NextHop] = []
    package var nexthopObject: UInt32?

    package init(destination: IPPrefix, type: RouteType = .unicast, table: UInt32 = 254) {
        self.destination = destination
        self.type = type
        self.table = table
    }
}

/// The kernel's answer to a route lookup (RTM_GETROUTE).
package enum RouteAnswer: Hashable, Sendable {
    case route(Route)
    /// A refusal. The raw error number distinguishes no route, unreachable, prohibited and blackhole.
    case refused(errno: Int32)
}

extension RouteAnswer {
    /// Whether both have the same gateway, source and table, or the same refusal. The verdict on destinations beyond
    /// the link is then the same.
    package func hasSameNextHop(as other: RouteAnswer) -> Bool {
        switch (self, other) {
        case (.refused(let mine), .refused(let others)): mine == others
        case (.route(let mine), .route(let others)):
            mine.hops.first?.gateway != nil && mine.hops == others.hops && mine.type == others.type
                && mine.table == others.table && mine.source == others.source
        default: false
        }
    }
}

extension Route {
    /// Whether an answer to a lookup is by this route, if it is the only one that the address can have been found by.
    package func isFound(in answer: RouteAnswer, for address: IPAddress) -> Bool {
        guard case .route(let found) = answer, type == .unicast, found.type == .unicast, table == found.table,
            hops.count == 1, found.hops.count == 1, destination.contains(address)
        else { return false }
        return hops[0].gateway != nil && hops[0].gateway == found.hops[0].gateway
            && hops[0].interface == found.hops[0].interface
    }
}

/// The error numbers of a refused lookup, as in asm-generic/errno.h. ReachCore imports no C.
package enum LinuxError {
    package static let operationNotPermitted: Int32 = 1
    package static let accessDenied: Int32 = 13
    package static let noDevice: Int32 = 19
    package static let invalidArgument: Int32 = 22
    package static let networkDown: Int32 = 100
    package static let networkUnreachable: Int32 = 101
    package static let hostUnreachable: Int32 = 113

    /// The symbolic name, as in errno(3).
    package static func name(of number: Int32) -> String {
        switch number {
        case accessDenied: "EACCES"
        case noDevice: "ENODEV"
        case invalidArgument: "EINVAL"
        case networkDown: "ENETDOWN"
        case networkUnreachable: "ENETUNREACH"
        case hostUnreachable: "EHOSTUNREACH"
        default: "error \(number)"
        }
    }
}
