internal import CNetlinkRoute
package import ReachCore
internal import ReachLoop

/// Explains why a target is reachable or not. The verdict and the lookups are those of a ``KernelSnapshot``; further
/// queries only fill in what the lookups leave open.
package final class Explainer {
    private let snapshot: KernelSnapshot
    private let options: ReachabilityEngine.Options

    /// - Parameters:
    ///   - memory: What an observer of the same network remembers; `nil` without one.
    ///   - wantsWireless: Whether to query the Wi-Fi networks of links.
    /// - Throws: The reason why the kernel cannot be queried.
    package init(
        options: ReachabilityEngine.Options = ReachabilityEngine.Options(), memory: RootCauseMemory? = nil,
        wantsWireless: Bool = false
    ) throws(NetlinkError) {
        self.options = options
        snapshot = try KernelSnapshot(options: options, memory: memory, wantsWireless: wantsWireless)
    }

    /// The explanation for a kernel that could not be queried.
    package static func cannotObserve(_ target: Target) -> Explanation {
        let verdict = Verdict(.unknown, reason: .cannotObserve)
        return ExplanationBuilder(ExplanationFacts(target: target, verdict: verdict, table: NetworkTable())).explanation
    }

    /// Explains the state of a target, which is the one that `reach status` prints.
    ///
    /// - Parameters:
    ///   - resolution: What the resolver answered, if the target is a name; `nil` to ask it.
    ///   - proved: What probes have proved about the target; `nil` if no probes run.
    ///   - checks: The last check of each family's path.
    ///   - reported: The state that is reported of the target.
    package func explain(
        _ target: Target, resolution: NameAnswer? = nil, proved: ConnectivityReport? = nil,
        checks: [IPAddress.Family: ConnectivityCheck] = [:], reported: ReachabilityState? = nil
    ) throws(NetlinkError) -> Explanation {
        try snapshot.identifyNetworks()
        for path in [reported?.ipv4, reported?.ipv6] {
            guard let path, path.reason == .gatewayUnreachable, let interface = path.interfaceIndex,
                let gateway = path.gateway
            else { continue }
            try snapshot.view.keepFailed(Neighbour.Key(interface: interface, address: gateway))
        }
        let evaluation = try snapshot.evaluate(target, resolution)
        var facts = ExplanationFacts(target: target, verdict: evaluation.verdict, table: snapshot.view.table)
        facts.resolution = evaluation.resolution
        facts.findings = evaluation.findings
        facts.rules = try queries.rules()
        facts.mark = options.mark
        facts.user = KernelQueries.user
        facts.proved = proved
        facts.checks = checks
        facts.reported = reported
        facts.now = SystemClock.boot
        facts.anchors = options.anchors
        let verdict = evaluation.verdict
        for (family, path) in [(IPAddress.Family.ipv4, verdict.ipv4), (.ipv6, verdict.ipv6)] {
            let finding = evaluation.findings.first { $0.isDecisive && $0.destination.family == family }
            facts.lookups[family] = try lookup(path, finding, of: target)
        }
        let routes = facts.routes
        facts.tableNames = RouteNames.tables(Set(facts.rules.map(\.table) + routes.map(\.table)))
        facts.originNames = RouteNames.origins(Set(routes.map(\.origin)))
        return ExplanationBuilder(facts).explanation
    }

    private var queries: KernelQueries { snapshot.view.queries }

    private func lookup(
        _ path: NetworkPath, _ finding: PathFinding?, of target: Target
    ) throws(NetlinkError) -> ExplanationFacts.Lookup {
        let view = snapshot.view
        let matched = try finding.flatMap { finding throws(NetlinkError) in try matchedRoute(finding, of: target) }
        // The view caches the traits of each link, so the last stack includes those of the other hops.
        for hop in matched?.hops ?? [] {
            if let index = hop.interface { _ = try view.stack(for: index) }
        }
        let stack =
            if let index = path.interfaceIndex {
                try view.stack(for: index)
            } else {
                try view.fullStack()
            }
        let refusing = try finding.map { finding throws(NetlinkError) in try refusingRoutes(finding) } ?? []
        var lookup = ExplanationFacts.Lookup(stack: stack, matched: matched, refusing: refusing)
        lookup.source = try finding.flatMap { finding throws(NetlinkError) in
            try view.sourceForRules(to: finding.destination, mark: options.mark)
        }
        if let finding, case .refused(LinuxError.networkUnreachable) = finding.answer {
            lookup.hindrance = Rule.hindrance(
                to: finding.destination, among: try view.rules(), mark: options.mark, source: lookup.source,
                user: KernelQueries.user,
                routes: { [queries] type in (try? queries.routes(of: type, finding.destination.family)) ?? [] })
        }
        lookup.wireGuard = path.interfaceIndex.flatMap { view.table.links[$0] }.flatMap(view.tunnels.wireGuardDevice)
        if let index = path.interfaceIndex, let hop = path.gateway ?? finding?.destination {
            let entry = try queries.neighbourEntry(Neighbour.Key(interface: index, address: hop))
            lookup.neighbourDevice = entry?.hardwareAddress
        }
        lookup.tunnelSilence = lookup.wireGuard?.silence(at: SystemClock.now.wall)
        return lookup
    }

    private func matchedRoute(_ finding: PathFinding, of target: Target) throws(NetlinkError) -> Route? {
        guard case .route = finding.answer else { return nil }
        var question = RouteQuestion(
            finding.destination, mark: options.mark, flow: target.flow, matchesTable: true)
        if case .address(_, let zone?) = target.subject {
            question.interface = snapshot.view.table.link(named: zone)?.index
        }
        question.source =
            finding.destination.family == .ipv6
            ? finding.path.source : try snapshot.view.sourceForRules(to: finding.destination, mark: options.mark)
        guard case .route(let route) = try queries.routes([question])[0] else { return nil }
        return route
    }

    /// The routes that may have refused a lookup. An IPv4 lookup returns only an error number, and not the route.
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

/// The names that libnl-route-3 and /etc/iproute2 give to numbers of routes. The library is loaded at the first call,
/// so only `reach explain` pays for it.
enum RouteNames {
    /// The names of routing tables; a table without one is left out.
    static func tables(_ numbers: Set<UInt32>) -> [UInt32: String] {
        names(numbers) { reach_route_table_name(CInt(bitPattern: $0), $1, $2) }
    }

    /// The names of what creates routes (`RTPROT_*`).
    static func origins(_ numbers: Set<UInt8>) -> [UInt8: String] {
        names(numbers) { reach_route_protocol_name(CInt($0), $1, $2) }
    }

    private static func names<Number: Hashable>(
        _ numbers: Set<Number>, _ convert: (Number, UnsafeMutablePointer<CChar>, Int) -> UnsafePointer<CChar>?
    ) -> [Number: String] {
        var names: [Number: String] = [:]
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress else { return }
            for number in numbers { names[number] = convert(number, start, buffer.count).map { String(cString: $0) } }
        }
        return names
    }
}
