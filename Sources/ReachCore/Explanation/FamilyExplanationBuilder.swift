/// Tells of one family: the way of a packet from the rules to the first hop, and the verdict.
struct FamilyExplanationBuilder {
    typealias Step = Explanation.Step

    let facts: ExplanationFacts
    let family: IPAddress.Family
    let path: NetworkPath
    /// The lookup that decided; none where an interface is asked about, or a name did not resolve.
    let finding: PathFinding?
    let way: ExplanationFacts.Way?

    var steps: [Step] {
        var steps: [Step] = []
        if let finding { steps += lookupSteps(finding) }
        if let index = path.interfaceIndex, way != nil {
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

    var text: RouteText { RouteText(table: facts.table) }

    /// The route of the lookup's answer, if packets can take it.
    var usedRoute: Route? {
        guard case .route(let route) = finding?.answer, route.type.carriesPackets else { return nil }
        return route
    }

    private var verdict: Step {
        // Where nothing of this family was looked up, both families have the same to say.
        let by = finding == nil && path.interfaceIndex == nil ? "" : " by \(family.title)"
        switch path.status {
        case .reachable: return Step(.verdict, .good, reachableText)
        case .notReachable:
            let reason = path.reason?.sentence ?? "no reason is known"
            return Step(.verdict, .bad, "So \(subject) cannot be reached\(by): \(reason).")
        case .unknown:
            let reason = path.reason?.sentence ?? "nothing is known of it"
            return Step(.verdict, .neutral, "So it is not known whether \(subject) can be reached\(by): \(reason).")
        }
    }

    private var subject: String {
        switch facts.target.subject {
        case .internet: "the Internet"
        case .interface(let name): DisplayText.sanitized(name)
        default: finding.map { "\($0.destination)" } ?? DisplayText.sanitized(facts.target.description)
        }
    }

    /// Says how far it was looked: nothing is ever sent to find out more.
    private var reachableText: String {
        guard let finding, let route = usedRoute, let index = path.interfaceIndex else {
            return "So \(subject) can carry \(family.title) packets."
        }
        if route.type == .local { return "So \(finding.destination) is this machine itself." }
        let way = "So \(family.title) packets for \(subject) leave by \(text.name(of: index))"
        guard let gateway = path.gateway else { return way + ", without a gateway." }
        return way + " to \(gateway). What lies behind it was not looked at: nothing is sent to find out."
    }
}

extension RouteType {
    /// Packets go somewhere by such a route.
    var carriesPackets: Bool {
        switch self {
        case .blackhole, .unreachable, .prohibit, .throw: false
        default: true
        }
    }
}
