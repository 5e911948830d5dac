extension ReachabilityState: CustomDebugStringConvertible {
    /// The state in one line, for logs of developers; its form may change: `internet: reachable by eth0 (wired),
    /// metered; IPv4 eth0 via 192.0.2.1 from 192.0.2.2; IPv6 not reachable (no-route)`.
    public var debugDescription: String {
        var text = "\(target): \(status.rawValue)"
        if let interface { text += " by \(interface)" }
        if let linkClass { text += " (\(linkClass.rawValue))" }
        if let reason { text += " (\(reason.rawValue))" }
        if let rootCause { text += ", since \(rootCause.sentence)" }
        if isMetered { text += ", metered" }
        if isStale { text += ", stale" }
        if isHeld { text += ", held" }
        let others = availableInterfaces.map(\.name).filter { $0 != interface }
        if !others.isEmpty { text += ", also by \(others.joined(separator: " "))" }
        return text + "; IPv4 \(ipv4.debugDescription); IPv6 \(ipv6.debugDescription)"
    }
}

extension NetworkPath: CustomDebugStringConvertible {
    /// The path in a few words, for logs of developers; its form may change: `eth0 via 192.0.2.1 from 192.0.2.2`.
    public var debugDescription: String {
        guard status == .reachable else {
            return status.rawValue + (reason.map { " (\($0.rawValue))" } ?? "")
        }
        let parts = [interface, gateway.map { "via \($0)" }, source.map { "from \($0)" }]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}
