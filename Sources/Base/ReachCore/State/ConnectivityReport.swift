/// What probes have proved about a target in each family.
package struct ConnectivityReport: Hashable, Sendable {
    package var ipv4: Connectivity
    package var ipv6: Connectivity
    /// The address of the portal's login page, if the portal named one.
    package var portal: String?
    /// What the portal's API says; `nil` if none is known or none answered.
    package var session: PortalSession? {
        get { sharedSession?.value }
        set { sharedSession = newValue.map { Shared($0) } }
    }
    fileprivate var sharedSession: Shared<PortalSession>?
    /// Why the portal's API says nothing, a sentence for people; `nil` if it answers, or if none is known.
    package var portalTrouble: String?
    /// Whether the first probe of a family's path is still running.
    package var isUndecided: Bool
    /// What the lines of the families' paths are like; without those that are not measured.
    package var qualities: [IPAddress.Family: LineQuality] = [:]
    /// Whether lines are measured.
    package var measuresQuality = false
    /// Why the Internet does not answer by a family, where checks have proved more than that.
    package var reasons: [IPAddress.Family: Reason] = [:]

    package init(
        ipv4: Connectivity = .unknown, ipv6: Connectivity = .unknown, portal: String? = nil, isUndecided: Bool = false
    ) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.portal = portal
        self.isUndecided = isUndecided
    }

    /// The better of both families, because a program that tries both gets through by that one.
    ///
    /// While the first probe of a family runs, that family may turn out to be the better one. Until then, anything
    /// worse than a portal is unknown.
    package var combined: Connectivity {
        let best = ipv4.rank >= ipv6.rank ? ipv4 : ipv6
        return isUndecided && best.rank < Connectivity.portal.rank ? .unknown : best
    }

    /// Why the Internet does not answer, where checks have proved more than that: a host that answers by one family
    /// answers.
    var reason: Reason? {
        guard combined == .limited else { return nil }
        return IPAddress.Family.allCases.first { self[$0] == .limited && reasons[$0] != nil }.flatMap { reasons[$0] }
    }

    /// What is proved of the families, where requests leave by these paths.
    fileprivate func over(_ ipv4: NetworkPath, _ ipv6: NetworkPath) -> ConnectivityReport {
        var report = self
        report.ipv4 = self.ipv4.over(ipv4)
        report.ipv6 = self.ipv6.over(ipv6)
        return report
    }

    package subscript(family: IPAddress.Family) -> Connectivity {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    /// The report after the paths changed: what probes proved about one path says nothing about another.
    func following(from old: Verdict, to new: Verdict) -> ConnectivityReport {
        var kept = self
        for (family, before, now) in [(IPAddress.Family.ipv4, old.ipv4, new.ipv4), (.ipv6, old.ipv6, new.ipv6)] {
            // That nothing could be sent does not hold for a path that is back, even if it is the same one.
            let isBack = now.status == .reachable && before.status != .reachable && kept[family] == .none
            guard isBack || !before.hasSameFirstHop(as: now) else { continue }
            kept[family] = .unknown
            (kept.qualities[family], kept.reasons[family]) = (nil, nil)
            if now.status == .reachable { kept.isUndecided = true }
            kept.session = nil
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

    /// The connectivity of a path: `none` without a path, because nothing can be sent.
    fileprivate func over(_ path: NetworkPath) -> Connectivity {
        switch path.status {
        case .reachable: self
        case .notReachable: .none
        case .unknown: path.reason == .notAsked ? self : .unknown
        }
    }
}

extension NetworkPath {
    /// Whether link and gateway are the same. The source address may differ, because privacy addresses change daily.
    fileprivate func hasSameFirstHop(as other: NetworkPath) -> Bool {
        interfaceIndex == other.interfaceIndex && gateway == other.gateway
    }
}

/// The links on which checks have decided something, by family. An endpoint may have addresses of one family only, so
/// that checks never decide anything about the other: it must not look better than what is known.
struct DecidedLinks: Hashable {
    private var ipv4: InterfaceIndex?
    private var ipv6: InterfaceIndex?

    /// Remembers the links of the paths about which something is proved.
    mutating func note(_ report: ConnectivityReport?, of state: ReachabilityState) {
        guard report != nil else { return self = DecidedLinks() }
        if state.ipv4.isDecided { ipv4 = state.ipv4.interfaceIndex }
        if state.ipv6.isDecided { ipv6 = state.ipv6.interfaceIndex }
    }

    /// Whether only a path is left about which nothing was ever proved, on the link on which checks decided by the
    /// other family: what was proved does not become unknown when the proved path is lost.
    func leaveUnproved(_ state: ReachabilityState) -> Bool {
        guard state.status == .reachable, state.connectivity == .unknown else { return false }
        let (left, decided) = state.ipv4.status == .reachable ? (state.ipv4, ipv6) : (state.ipv6, ipv4)
        let other = state.ipv4.status == .reachable ? state.ipv6 : state.ipv4
        return other.status == .notReachable && decided != nil && decided == left.interfaceIndex
    }
}

extension NetworkPath {
    fileprivate var isDecided: Bool {
        guard status == .reachable else { return false }
        return switch connectivity {
        case .full, .limited, .portal: true
        case .unknown, .none: false
        }
    }
}

extension ReachabilityState {
    /// Whether the paths of a verdict have the same links and gateways.
    func leadsTheSameWay(as verdict: Verdict) -> Bool {
        ipv4.hasSameFirstHop(as: verdict.ipv4) && ipv6.hasSameFirstHop(as: verdict.ipv6)
    }

    /// Adopts what probes have proved about the paths of this state; `nil` if no probes run.
    package mutating func adopt(proved report: ConnectivityReport?) {
        isValidated = report != nil
        measuresQuality = report?.measuresQuality ?? false
        ipv4.quality = ipv4.status == .reachable ? report?.qualities[.ipv4] : nil
        ipv6.quality = ipv6.status == .reachable ? report?.qualities[.ipv6] : nil
        let proved = report?.over(ipv4, ipv6) ?? ConnectivityReport()
        (ipv4.connectivity, ipv6.connectivity) = (proved.ipv4, proved.ipv6)
        connectivity = proved.combined
        portal = connectivity == .portal ? proved.portal : nil
        connectivityReason = proved.reason
        portalSession = report?.session.flatMap { session in
            ipv4.interface == session.interface || ipv6.interface == session.interface ? session : nil
        }
    }
}

/// What probes have proved about the Internet and about each interface.
package struct ConnectivitySurvey: Hashable, Sendable {
    /// The Internet over the paths that the kernel chooses.
    package var internet: ConnectivityReport
    /// The Internet over single interfaces, by their names.
    package var interfaces: [String: ConnectivityReport]
    /// The paths that the kernel chooses. Where it chooses others, of which the same is proved, that is another survey:
    /// a state does not keep what was proved of the paths before.
    package var chosen: Set<DefaultRoute.Key> = []

    package init(internet: ConnectivityReport = ConnectivityReport(), interfaces: [String: ConnectivityReport] = [:]) {
        self.internet = internet
        self.interfaces = interfaces
    }

    /// A state with what is proved of its paths' interfaces, whatever its target: the path to a host is that to the
    /// Internet as far as they have the interface in common.
    package func proving(_ state: ReachabilityState) -> ReachabilityState {
        var report = ConnectivityReport()
        for (family, path) in [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)] {
            let known = path.interface.flatMap { interfaces[$0] }
            report[family] = known?[family] ?? .unknown
            report.qualities[family] = known?.qualities[family]
            report.reasons[family] = known?.reasons[family]
        }
        var proved = state
        proved.adopt(proved: report)
        return proved
    }

    /// The report on a target. Whether the Internet answers says nothing about a particular host.
    ///
    /// - Returns: `nil` for all targets except the Internet and interfaces.
    package func report(on target: Target) -> ConnectivityReport? {
        switch target.subject {
        case .internet: internet
        case .interface(let name): interfaces[name] ?? ConnectivityReport()
        case .name, .address, .prefix: nil
        }
    }
}

extension ConnectivitySurvey {
    /// Adds what lines are like.
    ///
    /// - Parameter preferred: The interfaces by which the kernel sends to the Internet.
    package mutating func add(_ qualities: [String: LineQuality], of preferred: [IPAddress.Family: String]) {
        for (name, var report) in interfaces {
            report.measuresQuality = true
            if let quality = qualities[name] { report.qualities = [.ipv4: quality, .ipv6: quality] }
            interfaces[name] = report
        }
        internet.measuresQuality = true
        internet.qualities = preferred.compactMapValues { qualities[$0] }
    }
}

extension LinkReport.Proof {
    /// What is proved of a link. An earlier check proves nothing of a family whose path by it does not work now.
    ///
    /// - Parameter internet: The Internet by the paths that the kernel chooses. It knows what was proved of the link by
    ///   a family that is lost.
    package init(_ report: ConnectivityReport, of link: String, internet: ReachabilityState?) {
        var report = report
        let paths = internet.map { [(IPAddress.Family.ipv4, $0.ipv4), (.ipv6, $0.ipv6)] } ?? []
        let lost = paths.filter { $1.interface == link && $1.status == .notReachable }.map(\.0)
        for family in lost { report[family] = .none }
        (connectivity, reason) = (report.combined, report.reason)
        guard connectivity == .unknown else { return }
        if let internet, internet.interface == link {
            (connectivity, reason) = (internet.connectivity, internet.connectivityReason)
        } else if !lost.isEmpty {
            connectivity = .none
        }
    }
}
