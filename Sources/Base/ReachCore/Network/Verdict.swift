/// The reachability of a target at one moment, derived from the kernel's tables for both families together.
package struct Verdict: Hashable, Sendable {
    package var status: ReachabilityStatus
    package var reason: Reason?
    /// What broke. It is looked for only once the verdict is made, and only if the target is not reachable.
    package var rootCause: RootCause?
    package var linkClass: LinkClass?
    package var interface: String?
    package var isMetered = false
    /// The interfaces over which the target can be reached, in order of preference; empty unless they were asked for.
    package var available: [AvailableInterface] = []
    package var ipv4: NetworkPath
    package var ipv6: NetworkPath

    /// Combines the paths of both families.
    ///
    /// One working family is enough. If both work, IPv4's link determines the class, because IPv4 is present on most
    /// networks, while IPv6 comes and goes with router advertisements. The verdict is metered if a working path is.
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
            let matchesIPv4 = asksIPv4 && ipv4.status == status
            let matchesIPv6 = asksIPv6 && ipv6.status == status
            if matchesIPv4, !matchesIPv6 || (ipv4.reason?.row.rank ?? .max) <= (ipv6.reason?.row.rank ?? .max) {
                reason = ipv4.reason
            } else if matchesIPv6 {
                reason = ipv6.reason
            }
        }
    }

    /// How many of `count` reference addresses must have a path for the Internet to be reachable: at least half. A
    /// single host route proves nothing, nor does a single missing one.
    package static func anchorsNeeded(of count: Int) -> Int { (count + 1) / 2 }

    /// Creates a verdict with the same status and reason in both families.
    package init(_ status: ReachabilityStatus, reason: Reason?) {
        let path = NetworkPath(status: status, reason: reason)
        self.init(ipv4: path, ipv6: path)
    }

    /// Whether it is the path to a proxy that stands for the Internet.
    package var isByProxy: Bool { ipv4.proxy != nil || ipv6.proxy != nil }

    /// The verdict on a proxy's addresses as that on the Internet.
    package func standing(forInternetBy proxies: [IPAddress]) -> Verdict {
        var verdict = self
        if ipv4.status == .reachable { verdict.ipv4.proxy = proxies.first { $0.family == .ipv4 } }
        if ipv6.status == .reachable { verdict.ipv6.proxy = proxies.first { $0.family == .ipv6 } }
        return verdict
    }

    /// Whether no route led to the target in this family.
    package func lacksRoute(_ family: IPAddress.Family) -> Bool {
        (family == .ipv4 ? ipv4.reason : ipv6.reason) == .noRoute
    }
}

/// A lookup from which a verdict follows.
package struct PathFinding: Hashable, Sendable {
    package let destination: IPAddress
    /// The kernel's answer.
    package let answer: RouteAnswer
    /// The path that follows from the answer.
    package let path: NetworkPath
    /// Whether the verdict uses this lookup's path for its family.
    package var isDecisive = false

    package init(destination: IPAddress, answer: RouteAnswer, path: NetworkPath, isDecisive: Bool = false) {
        self.destination = destination
        self.answer = answer
        self.path = path
        self.isDecisive = isDecisive
    }
}
