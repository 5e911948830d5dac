extension ReachabilityState {
    /// The state for a program that accepts only paths that satisfy a condition, where no other paths are known than
    /// those of this state: from a daemon, which reports the kernel's own choice.
    package func choosing(where condition: NetworkCondition) -> ReachabilityState {
        let routes = [(IPAddress.Family.ipv4, ipv4), (.ipv6, ipv6)].compactMap { family, path in
            path.status == .reachable ? DefaultRoute(preferred: path, family, addresses: []) : nil
        }
        let verdict = Verdict(ipv4: ipv4, ipv6: ipv6).choosing(from: routes, where: condition)
        var state = self
        if verdict.ipv4 != ipv4 || verdict.ipv6 != ipv6 { state.adopt(verdict) }
        state.availableInterfaces = verdict.available
        // What broke is known of the kernel's own choice, whose link the condition may not allow.
        if condition != .any { state.rootCause = nil }
        return state
    }
}
