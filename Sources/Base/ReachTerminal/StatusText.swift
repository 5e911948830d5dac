package import ReachCore
internal import ReachLoop
internal import ReachRecords

/// A status in words, for people.
package struct StatusText {
    package let style: TerminalStyle
    private let lastAnswer: (NetworkPath) -> Timestamp?

    /// - Parameter lastAnswer: When the gateway of a path answered the kernel for the last time, while the kernel still
    ///   calls it reachable; `nil` for others, or where no one may be asked now.
    package init(style: TerminalStyle, lastAnswer: @escaping (NetworkPath) -> Timestamp? = { _ in nil }) {
        self.style = style
        self.lastAnswer = lastAnswer
    }

    /// A summary, and a line for each family.
    package func describe(_ state: ReachabilityState) -> String {
        var lines = [summary(of: state)]
        for (name, path) in [("IPv4", state.ipv4), ("IPv6", state.ipv6)] where path.reason != .notAsked {
            lines.append("    \(name)  \(describe(path))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Such as `internet is reachable through eth0 (wired)`, `internet is not reachable: eth0 has no carrier`, or what
    /// was proved if the Internet does not answer.
    package func summary(of state: ReachabilityState) -> String {
        let text = unproved(state) ?? path(of: state)
        let held = state.isHeld ? ", held" + (state.heldCause.map { " although \($0.sentence)" } ?? "") : ""
        return text + held + (state.isStale ? ", stale" : "")
    }

    /// Such as `the Internet does not answer (limited since 03:10): eth0 is up and its gateway answers`, where the
    /// kernel has heard that gateway since then; `nil` unless connectivity checks have proved that the Internet does
    /// not answer although there is a path.
    private func unproved(_ state: ReachabilityState) -> String? {
        guard state.status == .reachable, let interface = state.interface else { return nil }
        let through = state.target == .internet ? "" : " through " + DisplayText.sanitized(interface)
        let since = "\(state.connectivity.rawValue) since \(LocalTimeText.short(state.connectivitySince))"
        let link = "\(DisplayText.sanitized(interface)) is up"
        let metered = metered(state)
        switch state.connectivity {
        case .unknown, .full: return nil
        case .portal:
            let page = state.portal.map { ": " + DisplayText.sanitized($0) } ?? ""
            return style.paint("a login page answers instead of the Internet", .bold) + through
                + " (\(style.paint(since, .yellow)))\(page); \(link)\(metered)"
        case .limited, .none:
            // A gateway may have died together with the Internet, and the kernel remembers it for a while.
            let answers = [state.ipv4, state.ipv6].contains { path in
                path.interface == interface && path.status == .reachable && path.gateway != nil
                    && lastAnswer(path).map { $0 >= state.connectivitySince } ?? false
            }
            let end = state.heldCause == nil ? ": \(link)\(answers ? " and its gateway answers" : "")\(metered)" : ""
            let what = state.connectivityReason?.partialOutage?.sentence ?? "the Internet does not answer"
            return style.paint(what, .bold) + through + " (\(style.paint(since, .red)))\(end)"
        }
    }

    private func path(of state: ReachabilityState) -> String {
        let written = DisplayText.sanitized(state.target.description)
        let name = state.name.map(DisplayText.sanitized) ?? written
        let target = style.paint(name, .bold) + (name == written ? "" : " (\(written))")
        var text = "\(target) is \(word(for: state.status))"
        if let interface = state.interface, let linkClass = state.linkClass {
            text += " through \(DisplayText.sanitized(interface)) (\(linkClass.rawValue))"
        }
        if let network = state.network, !NetworkRule.isIdentifier(network) {
            text += " in \(DisplayText.sanitized(network))"
        }
        if let proxy = (state.ipv4.proxy ?? state.ipv6.proxy), state.target == .internet {
            text += " by the proxy \(proxy)"
        }
        if let why = state.rootCause?.sentence ?? state.reason?.sentence { text += ": \(why)" }
        text += metered(state)
        if state.portalSession?.isEnding == true { text += ", its portal's session is about to end" }
        if state.connectivity != .unknown { text += ", connectivity \(state.connectivity.rawValue)" }
        if let quality = state.quality, quality.word != .good { text += ", the line is \(quality.text)" }
        return text
    }

    /// A hotspot is named, since no one configured it.
    private func metered(_ state: ReachabilityState) -> String {
        switch state.meteredReason {
        case .androidHotspot?, .appleHotspot?: ", metered (a phone's hotspot)"
        case .carriedBy?:
            ", metered" + (state.carriers.first.map { " (carried by \(DisplayText.sanitized($0)))" } ?? "")
        default: state.isMetered ? ", metered" : ""
        }
    }

    package func describe(_ path: NetworkPath) -> String {
        var parts: [String] = []
        if let interface = path.interface {
            let below = path.lower.map { " over " + DisplayText.sanitized($0) }.joined()
            parts.append(DisplayText.sanitized(interface) + below)
        }
        if let source = path.source { parts.append("from \(source)") }
        if let gateway = path.gateway { parts.append("via \(gateway)") }
        if let proxy = path.proxy { parts.append("to the proxy \(proxy)") }
        if let metric = path.metric { parts.append("metric \(metric)") }
        let route = parts.joined(separator: " ")
        guard let reason = path.reason else {
            let proved = path.connectivity == .unknown ? "" : ", connectivity \(path.connectivity.rawValue)"
            let line = path.quality.map { ", line \($0.text)" } ?? ""
            return (route.isEmpty ? word(for: path.status) : route) + proved + line
        }
        let sentence = style.paint(reason.sentence, path.status == .notReachable ? .red : .yellow)
        return route.isEmpty ? sentence : "\(sentence) (\(route))"
    }

    package func word(for status: ReachabilityStatus) -> String { style.paint(status.words, status.colour) }
}

extension ReachabilityStatus {
    /// How people read it.
    package var words: String {
        switch self {
        case .reachable: "reachable"
        case .notReachable: "not reachable"
        case .unknown: "unknown"
        }
    }

    package var colour: TerminalStyle.Colour {
        switch self {
        case .reachable: .green
        case .notReachable: .red
        case .unknown: .yellow
        }
    }
}

/// Times by the clocks of this machine's zone.
package enum LocalTimeText {
    /// The local date and time of day.
    package static func full(_ time: Timestamp) -> String {
        let local = LocalZone.system.time(time)
        return "\(local.date) \(local.timeOfDay)"
    }

    /// The local time of day, or the date too if that is another day than today's.
    package static func short(_ time: Timestamp, now: Timestamp = SystemClock.now.wall) -> String {
        let (text, today) = (full(time), full(now).prefix(10))
        return text.hasUTF8Prefix(today) ? String(text.dropFirst(11).prefix(5)) : String(text.prefix(16))
    }
}
