/// What probes have proved about the Internet, in NetworkManager's words.
public enum Connectivity: String, Hashable, Sendable, CaseIterable {
    /// No probe has run.
    case unknown
    /// No probe could even be sent.
    case none
    /// A portal wants a login first.
    case portal
    /// There is a network, but the Internet does not answer.
    case limited
    /// The Internet answers.
    case full
}

/// What probes have proved of a target, family by family.
package struct ConnectivityReport: Hashable, Sendable {
    package var ipv4: Connectivity
    package var ipv6: Connectivity
    /// Where the portal asks for a login, as far as it said so.
    package var portal: String?
    /// A family's path is being asked about for the first time.
    package var isUndecided: Bool

    package init(
        ipv4: Connectivity = .unknown, ipv6: Connectivity = .unknown, portal: String? = nil, isUndecided: Bool = false
    ) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.portal = portal
        self.isUndecided = isUndecided
    }

    /// Both families taken together: the better one, since a program that tries both gets through by it.
    ///
    /// A family that is being asked for the first time may yet be the better one: what is worse than a portal waits.
    package var combined: Connectivity {
        let best = ipv4.rank >= ipv6.rank ? ipv4 : ipv6
        return isUndecided && best.rank < Connectivity.portal.rank ? .unknown : best
    }

    package subscript(family: IPAddress.Family) -> Connectivity {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    /// What is left of it when the ways become other ones: what was proved of a way says nothing of another.
    func following(from old: Verdict, to new: Verdict) -> ConnectivityReport {
        var kept = self
        for (family, before, now) in [(IPAddress.Family.ipv4, old.ipv4, new.ipv4), (.ipv6, old.ipv6, new.ipv6)] {
            guard !before.hasSameFirstHop(as: now) else { continue }
            kept[family] = .unknown
            if now.status == .reachable { kept.isUndecided = true }
        }
        return kept
    }
}

extension Connectivity {
    fileprivate var rank: Int {
        switch self {
        case .none: 0
        case .unknown: 1
        case .limited: 2
        case .portal: 3
        case .full: 4
        }
    }

    /// What it is for a path of this status: without a path nothing can be sent.
    fileprivate func over(_ path: NetworkPath) -> Connectivity {
        switch path.status {
        case .reachable: self
        case .notReachable: .none
        case .unknown: path.reason == .notAsked ? self : .unknown
        }
    }
}

extension NetworkPath {
    /// The same link and gateway. The source address may be another: privacy addresses change by the day.
    fileprivate func hasSameFirstHop(as other: NetworkPath) -> Bool {
        interfaceIndex == other.interfaceIndex && gateway == other.gateway
    }
}

extension ReachabilityState {
    /// Takes over what probes have proved of the paths it holds; `nil` where none run.
    mutating func adopt(proved report: ConnectivityReport?) {
        isValidated = report != nil
        ipv4.connectivity = report?.ipv4.over(ipv4) ?? .unknown
        ipv6.connectivity = report?.ipv6.over(ipv6) ?? .unknown
        connectivity =
            ConnectivityReport(
                ipv4: ipv4.connectivity, ipv6: ipv6.connectivity, isUndecided: report?.isUndecided ?? false
            ).combined
        portal = connectivity == .portal ? report?.portal : nil
    }
}

/// What probes have proved, for all who watch: the ways to the Internet, and what can be said of single interfaces.
package struct ConnectivitySurvey: Hashable, Sendable {
    /// By the ways that the kernel chooses.
    package var internet: ConnectivityReport
    /// By the ways of single interfaces, under their names.
    package var interfaces: [String: ConnectivityReport]

    package init(internet: ConnectivityReport = ConnectivityReport(), interfaces: [String: ConnectivityReport] = [:]) {
        self.internet = internet
        self.interfaces = interfaces
    }

    /// What it says of a target: whether the Internet answers tells nothing of a certain host in it.
    ///
    /// - Returns: `nil` for all targets but the Internet and interfaces.
    package func report(on target: Target) -> ConnectivityReport? {
        switch target.subject {
        case .internet: internet
        case .interface(let name): interfaces[name] ?? ConnectivityReport()
        case .name, .address, .prefix: nil
        }
    }
}
