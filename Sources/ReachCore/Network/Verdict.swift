/// What the kernel's tables say of a target at one moment, both families taken together.
package struct Verdict: Hashable, Sendable {
    package var status: ReachabilityStatus
    package var reason: Reason?
    package var linkClass: LinkClass?
    package var interface: String?
    package var isMetered = false
    package var ipv4: NetworkPath
    package var ipv6: NetworkPath

    /// Any family that works is enough. Where both work, IPv4's link names the class: it is there on most networks,
    /// while IPv6 comes and goes with router advertisements. Metered if either is.
    package init(ipv4: NetworkPath, ipv6: NetworkPath) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        let (reachesIPv4, reachesIPv6) = (ipv4.status == .reachable, ipv6.status == .reachable)
        if reachesIPv4 || reachesIPv6 {
            status = .reachable
            linkClass = reachesIPv4 ? ipv4.linkClass : ipv6.linkClass
            interface = reachesIPv4 ? ipv4.interface : ipv6.interface
            isMetered = reachesIPv4 && ipv4.isMetered || reachesIPv6 && ipv6.isMetered
        } else {
            let (asksIPv4, asksIPv6) = (ipv4.reason != .notAsked, ipv6.reason != .notAsked)
            let failsIPv4 = !asksIPv4 || ipv4.status == .notReachable
            let failsIPv6 = !asksIPv6 || ipv6.status == .notReachable
            status = (asksIPv4 || asksIPv6) && failsIPv4 && failsIPv6 ? .notReachable : .unknown
            let tellsIPv4 = asksIPv4 && ipv4.status == status
            let tellsIPv6 = asksIPv6 && ipv6.status == status
            if tellsIPv4, !tellsIPv6 || Self.rank(ipv4.reason) <= Self.rank(ipv6.reason) {
                reason = ipv4.reason
            } else if tellsIPv6 {
                reason = ipv6.reason
            }
        }
    }

    /// Of so many addresses that stand for the Internet, how many must have a path: at least half, for one host route
    /// proves nothing, nor does one that is missing.
    package static func anchorsNeeded(of count: Int) -> Int { (count + 1) / 2 }

    /// Both families alike: nothing is known, or nothing can be.
    package init(_ status: ReachabilityStatus, reason: Reason?) {
        let path = NetworkPath(status: status, reason: reason)
        self.init(ipv4: path, ipv6: path)
    }

    /// The failure that got furthest tells most: a dead gateway says more than a family that was never set up.
    private static func rank(_ reason: Reason?) -> Int {
        switch reason {
        case .gatewayUnreachable, .neighbourUnreachable: 0
        case .noCarrier, .dormant: 1
        case .linkDown: 2
        case .noAddress: 3
        case .prohibited: 4
        case .unreachable: 5
        case .blackhole: 6
        case .noRoute: 7
        case .noInterface, .nameNotResolved, .cannotObserve, .notAsked: 8
        case nil: 9
        }
    }
}

/// One lookup on which a verdict rests.
package struct PathFinding: Hashable, Sendable {
    package let destination: IPAddress
    /// What the kernel said.
    package let answer: RouteAnswer
    /// What was made of it.
    package let path: NetworkPath
    /// Of the lookups in its family, this is the one whose path was told.
    package var isDecisive = false

    package init(destination: IPAddress, answer: RouteAnswer, path: NetworkPath, isDecisive: Bool = false) {
        self.destination = destination
        self.answer = answer
        self.path = path
        self.isDecisive = isDecisive
    }
}
