internal import ReachCore

extension FamilyExplanationBuilder {
    /// The steps for rules and routes, from which the kernel's answer follows.
    func lookupSteps(_ finding: PathFinding) -> [Step] {
        switch finding.answer {
        case .route(let route):
            let matched = lookup?.matched ?? route
            let end: RuleTraversal.End
            if let number = route.refusedByRule {
                end = .refusal(errno: number)
            } else {
                end = .table(route.table, prefixLength: matched.destination.length)
            }
            let walk = walk(for: finding, to: end)
            if route.refusedByRule != nil, let rule = walk.last { return sourceSteps(rule) + [refusal(by: rule)] }
            guard route.type.carriesPackets else { return ruleSteps(walk) + [refusal(by: matched, for: finding)] }
            // Until a rule is added, the kernel keeps the tables local and main merged, and reports main.
            guard route.type != .local else { return routeSteps(matched, for: finding) }
            return ruleSteps(walk) + routeSteps(matched, for: finding)
        case .refused(let number): return refusalSteps(number, for: finding)
        }
    }

    private func walk(for finding: PathFinding, to end: RuleTraversal.End) -> RuleTraversal {
        let packet = RuleTraversal.Packet(
            destination: finding.destination, source: lookup?.source, mark: facts.mark ?? 0, interface: boundInterface,
            user: facts.user)
        return RuleTraversal(facts.rules, packet: packet, end: end)
    }

    /// The zone of a target such as `fe80::1%eth0`.
    private var boundInterface: String? {
        guard case .address(_, let zone?) = facts.target.subject else { return nil }
        return facts.table.link(named: zone)?.name
    }

    // MARK: - Rules

    private func ruleSteps(_ walk: RuleTraversal) -> [Step] {
        let passed = walk.passed.filter { $0.table != Self.localTable }.map { rule in
            Step(.rule, .neutral, "\(title(rule)) does not decide: \(passing(rule)).")
        }
        guard let last = walk.last else {
            guard !walk.uncertain.isEmpty else { return passed }
            let rules = walk.uncertain.map { "\($0.priority) (\(text.describe($0)))" }.listed
            return passed + [Step(.rule, .neutral, "This route may come from rule \(rules).")]
        }
        guard last.table != Self.localTable else { return passed }
        let later = facts.rules.filter { $0.family == family && $0.priority > last.priority && $0.action == .table }
        let isBeforeMain = last.table != Self.mainTable && later.contains { $0.table == Self.mainTable }
        let end = isBeforeMain ? ", before table main is used" : ""
        return passed + sourceSteps(last) + [
            Step(.rule, .neutral, "\(title(last)) sends this to table \(text.name(ofTable: last.table))\(end).")
        ]
    }

    /// Why a rule for some sources applies, though the program names none.
    private func sourceSteps(_ rule: Rule) -> [Step] {
        guard let source = lookup?.source, rule.selectsIPv4Source else { return [] }
        let text =
            "A first lookup chooses the source \(source); the kernel looks up again with it, so that rules for "
            + "it apply."
        return [Step(.rule, .neutral, text)]
    }

    private func passing(_ rule: Rule) -> String {
        let name = text.name(ofTable: rule.table)
        switch rule.suppressedPrefixLength {
        case nil: return "table \(name) has no route for this"
        case 0?: return "it ignores the default routes of table \(name), which has no other for this"
        case let length?: return "it ignores the routes of table \(name) with prefixes up to /\(length)"
        }
    }

    private func title(_ rule: Rule) -> String { "Rule \(rule.priority) (\(text.describe(rule)))" }

    private func refusal(by rule: Rule) -> Step {
        let what = rule.action == .blackhole ? "drops this silently" : "refuses this"
        return Step(
            .rule, .bad,
            "\(title(rule)) \(what): no routing table after it is used. If that is not intended, "
                + "`\(family.command) rule del priority \(rule.priority)` would remove it.")
    }

    /// A rule that may be the one: it also looks at what a lookup does not have.
    private func possibleRefusal(by rule: Rule) -> Step {
        Step(
            .rule, .bad,
            "\(title(rule)) may be what refuses this: it also matches on a protocol, a port or the like, and no route "
                + "refuses it. If that is not intended, `\(family.command) rule del priority \(rule.priority)` would "
                + "remove it.")
    }

    // MARK: - Routes

    private func routeSteps(_ route: Route, for finding: PathFinding) -> [Step] {
        if route.type == .local {
            return [Step(.route, .good, "\(finding.destination) is an address of this machine.")]
        }
        if let link = facts.table.links[path.interfaceIndex ?? 0], link.flags.contains(.loopback) {
            return [Step(.route, .bad, "The route `\(text.describe(route))` leads back to this machine.")]
        }
        let table = text.name(ofTable: route.table)
        let first = Step(
            .route, .good, "The route `\(text.describe(route))` in table \(table) matches \(finding.destination).")
        return [first] + hopSteps(route)
    }

    /// The hops of a multipath route, and the consequence of broken ones.
    private func hopSteps(_ route: Route) -> [Step] {
        guard route.hops.count > 1, let chosen = usedRoute?.hops.first else { return [] }
        let lost = "Packets that the kernel sends to it are lost."
        return route.hops.map { hop in
            let isChosen = hop.interface == chosen.interface && hop.gateway == chosen.gateway
            let name =
                "Its next hop `\(text.describe(hop, in: route))`" + (isChosen ? ", chosen for this address," : "")
            let trouble = hop.interface.flatMap { lookup?.stack.trouble(with: $0) }
            if hop.flags.contains(.dead) {
                return Step(.route, .bad, "\(name) is dead: the kernel gives it no packets.")
            }
            if let trouble {
                return Step(.route, .bad, "\(name) is broken: \(trouble.sentence). \(lost)")
            }
            if hop.flags.contains(.linkDown) {
                return Step(.route, .bad, "\(name) has no carrier. \(lost)")
            }
            return Step(.route, .good, "\(name) has weight \(hop.weight) of \(route.hops.map(\.weight).reduce(0, +)).")
        }
    }

    // MARK: - Refusals

    private func refusalSteps(_ number: Int32, for finding: PathFinding) -> [Step] {
        if number == LinuxError.networkUnreachable {
            let walk = walk(for: finding, to: .refusal(errno: number))
            if let rule = walk.last { return sourceSteps(rule) + [refusal(by: rule)] }
            return [hindrance(for: finding) ?? noRoute(walk, for: finding)] + idleLinkSteps
        }
        if let route = refusingRoute(for: finding) {
            let walk = walk(for: finding, to: .table(route.table, prefixLength: route.destination.length))
            if walk.last != nil { return ruleSteps(walk) + [refusal(by: route, for: finding)] }
        }
        if let rule = walk(for: finding, to: .refusal(errno: number)).last {
            return sourceSteps(rule) + [refusal(by: rule)]
        }
        let uncertain = walk(for: finding, to: .refusal(errno: number)).uncertain
        if !uncertain.isEmpty { return uncertain.map(possibleRefusal) }
        let name = LinuxError.name(of: number)
        return [Step(.route, .bad, "The kernel refuses to route to \(finding.destination) (\(name)).")]
    }

    private func hindrance(for finding: PathFinding) -> Step? {
        switch lookup?.hindrance {
        case .thrown(let route)?: return refusal(by: route, for: finding)
        case .ignored(let route, let rule)?:
            let table = text.name(ofTable: rule.table)
            return Step(
                .rule, .bad,
                "\(title(rule)) ignores the route `\(text.describe(route))` of table \(table), and no other rule "
                    + "leads there. If that is not intended, `\(family.command) rule add lookup \(table)` would "
                    + "use it.")
        case nil: return nil
        }
    }

    private func noRoute(_ walk: RuleTraversal, for finding: PathFinding) -> Step {
        if finding.destination.isLoopback {
            return Step(
                .route, .bad,
                "The kernel has no route to \(finding.destination) (ENETUNREACH): it has one only while lo is up.")
        }
        var tables: [String] = []
        for name in walk.passed.map({ text.name(ofTable: $0.table) }) where !tables.contains(name) {
            tables.append(name)
        }
        let found =
            switch tables.count {
            case 0: "no rule leads to a routing table"
            case 1: "table \(tables[0]) has no usable one"
            default: "none of the tables \(tables.listed) has a usable one"
            }
        let giver = family == .ipv4 ? "DHCP" : "a router that advertises itself"
        return Step(
            .route, .bad,
            "The kernel has no route to \(finding.destination) (ENETUNREACH): \(found). A default route would fix it: "
                + "`\(family.command) route add default via GATEWAY`, or \(giver).")
    }

    /// The refusing route that explains the kernel's answer: the most specific one that covers the address, in the
    /// first table in the order of the rules.
    private func refusingRoute(for finding: PathFinding) -> Route? {
        let covering = (lookup?.refusing ?? []).filter { $0.destination.contains(finding.destination) }
        let rules = facts.rules.filter { $0.family == family && $0.action == .table }.map(\.table)
        return covering.min { left, right in
            let order = [left, right].map { rules.firstIndex(of: $0.table) ?? .max }
            guard order[0] == order[1] else { return order[0] < order[1] }
            guard left.destination.length == right.destination.length else {
                return left.destination.length > right.destination.length
            }
            return left.metric ?? 0 < right.metric ?? 0
        }
    }

    private func refusal(by route: Route, for finding: PathFinding) -> Step {
        let verb =
            switch route.type {
            case .blackhole: "drops packets for \(finding.destination) silently"
            case .prohibit: "forbids \(finding.destination)"
            case .throw: "ends the search for \(finding.destination) in its table"
            default: "rejects \(finding.destination) as unreachable"
            }
        let table = text.name(ofTable: route.table)
        return Step(
            .route, .bad,
            "The route `\(text.describe(route))` in table \(table) \(verb). If that is not intended, "
                + "`\(family.command) route del \(text.name(route))` would remove it.")
    }

    private static let localTable: UInt32 = 255
    private static let mainTable: UInt32 = 254
}

extension Route {
    /// The error of a refusing rule. IPv6 reports it as a route in no table (`ip6_null_entry` and the like).
    fileprivate var refusedByRule: Int32? {
        guard table == 0 else { return nil }
        switch type {
        case .blackhole: return LinuxError.invalidArgument
        case .prohibit: return LinuxError.accessDenied
        case .unreachable: return LinuxError.networkUnreachable
        default: return nil
        }
    }
}
