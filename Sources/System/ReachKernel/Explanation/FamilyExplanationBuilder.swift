internal import ReachCore

/// Explains one family: the path of a packet from the rules to the first hop, and the verdict.
struct FamilyExplanationBuilder {
    typealias Step = Explanation.Step

    let facts: ExplanationFacts
    let family: IPAddress.Family
    let path: NetworkPath
    /// The decisive lookup; `nil` if the target is an interface, or a name that did not resolve.
    let finding: PathFinding?
    let lookup: ExplanationFacts.Lookup?

    var steps: [Step] {
        var steps: [Step] = []
        if let finding { steps += lookupSteps(finding) }
        if let index = path.interfaceIndex, lookup != nil {
            steps += linkSteps(index) + lowerSteps(index)
            if let finding, let route = usedRoute, let hop = route.hops.first {
                steps += sourceSteps(route, on: index, to: finding.destination)
                steps += neighbourSteps(hop, on: index, to: finding.destination)
            } else {
                steps += ownAddressSteps(index)
            }
        }
        return steps + [verdict]
    }

    var text: RouteText { RouteText(facts: facts) }

    /// The route of the lookup's answer, if it carries packets.
    var usedRoute: Route? {
        guard case .route(let route) = finding?.answer, route.type.carriesPackets else { return nil }
        return route
    }

    private var verdict: Step {
        // Without a lookup in this family, the reason is the same in both families and no family is named.
        let by = finding == nil && path.interfaceIndex == nil ? "" : " by \(family.title)"
        switch path.status {
        case .reachable: return Step(.verdict, .good, reachableText)
        case .notReachable:
            let reason = path.reason?.sentence ?? "no reason is known"
            return Step(.verdict, .bad, "So \(subject) cannot be reached\(by): \(reason).\(rootCause)")
        case .unknown:
            let reason = path.reason?.sentence ?? "nothing is known about it"
            return Step(.verdict, .neutral, "So it is not known whether \(subject) can be reached\(by): \(reason).")
        }
    }

    /// What broke, and what would mend it, where no step shows it: the kernel named no interface.
    private var rootCause: String {
        guard let cause = facts.verdict.rootCause, cause.isBelowRoutes, path.interfaceIndex == nil,
            path.reason == facts.verdict.reason
        else { return "" }
        return " The cause is that \(cause.sentence)." + (cause.remedy.map { " " + $0 } ?? "")
    }

    private var subject: String {
        switch facts.target.subject {
        case .internet: "the Internet"
        case .interface(let name): DisplayText.sanitized(name)
        default: finding.map { "\($0.destination)" } ?? DisplayText.sanitized(facts.target.description)
        }
    }

    /// The conclusion for a path that works, and how far that was tested.
    private var reachableText: String {
        guard let finding, let route = usedRoute, let index = path.interfaceIndex else {
            return "So \(subject) can carry \(family.title) packets."
        }
        if route.type == .local { return "So \(finding.destination) is this machine itself." }
        let leave = "So \(family.title) packets for \(subject) leave by \(text.name(of: index))"
        guard let gateway = path.gateway else {
            return leave + ", without a gateway." + (provedText.map { " " + $0 } ?? "") + portalText + checkText
        }
        return leave + " to \(gateway). " + (provedText ?? "Not tested beyond the gateway.") + portalText + checkText
    }

    /// When the daemon last looked, and what it found.
    private var checkText: String { facts.checks[family].map { " " + $0.text(at: facts.now) } ?? "" }

    /// What the API of the network's portal says, or why it says nothing; empty where there is none.
    private var portalText: String {
        guard let proved = facts.proved else { return "" }
        let session = proved.session.flatMap { $0.interface == path.interface ? $0 : nil }
        return [session?.text(at: facts.now), proved.portalTrouble].compactMap { $0 }.map { " " + $0 }.joined()
    }

    /// What probes have proved about the path; `nil` if nothing. Explaining itself sends no packet.
    private var provedText: String? {
        switch facts.proved?[family] {
        case .full?: "The Internet answers over this path."
        case .portal?: "A captive portal asks for a login before it lets packets pass."
        case .limited? where facts.proved?.reasons[family] == .nameNotResolved:
            "The Internet answers over this path, but names are not resolved."
        case .limited?: "The Internet does not answer over this path."
        case Connectivity.none?: "No probe could be sent over this path."
        case .unknown?, nil: nil
        }
    }
}

extension RouteType {
    /// Whether routes of this type carry packets.
    var carriesPackets: Bool {
        switch self {
        case .blackhole, .unreachable, .prohibit, .throw: false
        default: true
        }
    }
}
