package import ReachCore

/// Finds out why a target is reachable or not. The verdict is the ``KernelSnapshot``'s, and the lookups told of are the very
/// ones on which it rests; only what they leave open is asked in addition.
package final class Explainer {
    private let inspector: KernelSnapshot
    private let options: EngineOptions

    /// - Throws: Why the kernel cannot be asked.
    package init(options: EngineOptions = EngineOptions()) throws(NetlinkError) {
        self.options = options
        inspector = try KernelSnapshot(options: options)
    }

    /// What is to be said when the kernel could not be asked.
    package static func cannotObserve(_ target: Target) -> Explanation {
        let verdict = Verdict(.unknown, reason: .cannotObserve)
        return ExplanationBuilder(ExplanationFacts(target: target, verdict: verdict, table: NetworkTable())).explanation
    }

    /// How the state of a target that `reach status` tells comes about.
    package func explain(_ target: Target) throws(NetlinkError) -> Explanation {
        let look = try inspector.look(at: target)
        var facts = ExplanationFacts(target: target, verdict: look.verdict, table: inspector.view.table)
        facts.resolution = look.resolution
        facts.findings = look.findings
        facts.rules = try queries.rules()
        facts.mark = options.mark
        facts.anchors = options.anchors
        for (family, path) in [(IPAddress.Family.ipv4, look.verdict.ipv4), (.ipv6, look.verdict.ipv6)] {
            let finding = look.findings.first { $0.isDecisive && $0.destination.family == family }
            facts.ways[family] = try way(path, finding, of: target)
        }
        return ExplanationBuilder(facts).explanation
    }

    private var queries: KernelQueries { inspector.view.queries }

    private func way(
        _ path: NetworkPath, _ finding: PathFinding?, of target: Target
    ) throws(NetlinkError) -> ExplanationFacts.Way {
        let view = inspector.view
        let matched = try finding.flatMap { finding throws(NetlinkError) in try matchedRoute(finding, of: target) }
        // What is found out about a link is kept, so the last stack knows of the other hops, too.
        for hop in matched?.hops ?? [] { _ = hop.interface.map { view.stack(for: $0) } }
        let stack =
            if let index = path.interfaceIndex {
                view.stack(for: index, underlay: try view.underlay(of: index))
            } else {
                try view.wholeStack()
            }
        let refusing = try finding.map { finding throws(NetlinkError) in try refusingRoutes(finding) } ?? []
        return ExplanationFacts.Way(stack: stack, matched: matched, refusing: refusing)
    }

    private func matchedRoute(_ finding: PathFinding, of target: Target) throws(NetlinkError) -> Route? {
        guard case .route = finding.answer else { return nil }
        var question = RouteQuestion(finding.destination, mark: options.mark, matchesTable: true)
        if case .address(_, let zone?) = target.subject {
            question.interface = inspector.view.table.link(named: zone)?.index
        }
        if finding.path.source?.family == .ipv6 { question.source = finding.path.source }
        guard case .route(let route) = try queries.routes([question])[0] else { return nil }
        return route
    }

    /// An IPv4 lookup tells only by its error number that a route refused, and not which.
    private func refusingRoutes(_ finding: PathFinding) throws(NetlinkError) -> [Route] {
        guard case .refused(let number) = finding.answer else { return [] }
        let type: RouteType
        switch number {
        case LinuxError.hostUnreachable: type = .unreachable
        case LinuxError.accessDenied: type = .prohibit
        case LinuxError.invalidArgument: type = .blackhole
        default: return []
        }
        return try queries.routes(of: type, finding.destination.family)
    }
}
