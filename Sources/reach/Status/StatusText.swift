internal import ReachCore
internal import ReachTerminal

/// A status in words, for people.
struct StatusText {
    let style: TerminalStyle

    /// A summary, and a line for each family.
    func describe(_ state: ReachabilityState) -> String {
        var lines = [summary(of: state)]
        for (name, path) in [("IPv4", state.ipv4), ("IPv6", state.ipv6)] where path.reason != .notAsked {
            lines.append("    \(name)  \(describe(path))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Such as `internet is reachable through eth0 (wired)`, or `internet is not reachable: eth0 has no carrier`.
    func summary(of state: ReachabilityState) -> String {
        let target = style.paint(DisplayText.sanitized(state.target.description), .bold)
        var text = "\(target) is \(word(for: state.status))"
        if let interface = state.interface, let linkClass = state.linkClass {
            text += " through \(DisplayText.sanitized(interface)) (\(linkClass.rawValue))"
        }
        if let why = state.rootCause?.sentence ?? state.reason?.sentence { text += ": \(why)" }
        if state.isMetered { text += ", metered" }
        if state.connectivity != .unknown { text += ", connectivity \(state.connectivity.rawValue)" }
        if let portal = state.portal { text += " (\(DisplayText.sanitized(portal)))" }
        if state.isHeld { text += ", held" }
        if state.isStale { text += ", stale" }
        return text
    }

    func describe(_ path: NetworkPath) -> String {
        var parts: [String] = []
        if let interface = path.interface {
            let below = path.lower.map { " over " + DisplayText.sanitized($0) }.joined()
            parts.append(DisplayText.sanitized(interface) + below)
        }
        if let source = path.source { parts.append("from \(source)") }
        if let gateway = path.gateway { parts.append("via \(gateway)") }
        if let metric = path.metric { parts.append("metric \(metric)") }
        let route = parts.joined(separator: " ")
        guard let reason = path.reason else {
            let proved = path.connectivity == .unknown ? "" : ", connectivity \(path.connectivity.rawValue)"
            return (route.isEmpty ? word(for: path.status) : route) + proved
        }
        let sentence = style.paint(reason.sentence, path.status == .notReachable ? .red : .yellow)
        return route.isEmpty ? sentence : "\(sentence) (\(route))"
    }

    func word(for status: ReachabilityStatus) -> String {
        switch status {
        case .reachable: style.paint("reachable", .green)
        case .notReachable: style.paint("not reachable", .red)
        case .unknown: style.paint("unknown", .yellow)
        }
    }
}
