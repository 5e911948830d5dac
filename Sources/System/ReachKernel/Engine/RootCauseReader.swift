internal import ReachCore

/// Finds root causes by the kernel's state at one moment. Made for one evaluation, and only if a target is not
/// reachable: what it reads, it reads once.
final class RootCauseReader {
    private let view: KernelView
    private let options: ReachabilityEngine.Options
    private let radios = RadioReader()
    private var completeStack: LinkStack?
    /// The links with the traits of some of them, by those.
    private var stacks: [Set<InterfaceIndex>: LinkStack] = [:]
    /// The routes of a type in all tables. A dump walks all routes of a family, which are a million on a router.
    private var routes: [IPAddress.Family: [RouteType: [Route]]] = [:]
    /// What switches the radios off that were asked about.
    private var blocks: [InterfaceIndex: RootCauseFinder.Radio?] = [:]

    init(view: KernelView, options: ReachabilityEngine.Options) {
        self.view = view
        self.options = options
    }

    /// The target that a verdict concerns, as far as rules and links depend on it.
    struct Subject {
        let target: Target.Subject
        /// The addresses of a target that is a name.
        var names: [IPAddress] = []
        /// The paths that count.
        var condition = NetworkCondition.any
    }

    /// The root cause of a verdict; `nil` if the target is reachable, or if it is not known whether it is.
    ///
    /// - Parameter internet: Returns the verdict on the Internet. A name that is not resolved has its root cause, since
    ///   name servers are mostly there.
    func rootCause(
        of verdict: Verdict, on subject: Subject, memory: RootCauseMemory,
        internet: () throws(NetlinkError) -> Verdict
    ) throws(NetlinkError) -> RootCause? {
        if verdict.reason == .nameNotResolved {
            let internet = try internet()
            if internet.status == .notReachable {
                return try finder(for: Subject(target: .internet), internet, memory).rootCause(of: internet)
            }
        }
        guard verdict.status == .notReachable else { return nil }
        return try finder(for: subject, verdict, memory).rootCause(of: verdict)
    }

    private func finder(
        for subject: Subject, _ verdict: Verdict, _ memory: RootCauseMemory
    ) throws(NetlinkError) -> RootCauseFinder {
        try view.readAll()
        let paths = memory.paths.allowed(by: subject.condition)
        let stack = try stack(for: links(of: verdict, paths))
        var finder = RootCauseFinder(table: view.table, stack: stack)
        finder.completeStack = { [self] in
            if completeStack == nil { completeStack = try? view.fullStack() }
            return completeStack
        }
        finder.memory = paths
        finder.admissions = memory.admissions
        finder.condition = subject.condition
        finder.radio = { [self] in block(of: $0, in: completeStack ?? stack) }
        finder.isIPv6Disabled = { [radios] in radios.disablesIPv6(on: $0) }
        finder.refusal = { [self] family in
            guard let reason = verdict.reason else { return nil }
            return try? refusal(of: subject, family, because: reason)
        }
        return finder
    }

    private func stack(for links: Set<InterfaceIndex>) throws(NetlinkError) -> LinkStack {
        if let known = stacks[links] { return known }
        let stack = try view.stack(for: links)
        stacks[links] = stack
        return stack
    }

    private func routes(of type: RouteType, _ family: IPAddress.Family) -> [Route] {
        if let known = routes[family]?[type] { return known }
        let found = (try? type == .throw ? view.throwRoutes(family) : view.queries.routes(of: type, family)) ?? []
        routes[family, default: [:]][type] = found
        return found
    }

    /// The links that a verdict and the memory name.
    private func links(of verdict: Verdict, _ memory: PathMemory) -> Set<InterfaceIndex> {
        var links = Set([verdict.ipv4.interfaceIndex, verdict.ipv6.interfaceIndex].compactMap(\.self))
        for carrier in memory.carriers {
            links.insert(carrier.index)
            links.formUnion(([carrier.name] + carrier.lower).compactMap { view.table.link(named: $0)?.index })
        }
        return links
    }

    private func block(of link: Link, in stack: LinkStack) -> RootCauseFinder.Radio? {
        if let found = blocks[link.index] { return found }
        let block = radios.block(of: link, stack.class(of: link.index))
        blocks[link.index] = .some(block)
        return block
    }

    private func refusal(
        of subject: Subject, _ family: IPAddress.Family, because reason: Reason
    ) throws(NetlinkError) -> RootCause.Kind? {
        let (destination, zone) = destination(of: subject, family)
        guard let destination else { return nil }
        let rules = try view.rules()
        let interface = zone.flatMap { view.table.link(named: $0)?.name }
        let source = try view.sourceForRules(to: destination, mark: options.mark)
        let routes = { [self] (type: RouteType) in self.routes(of: type, family) }
        if Rule.refusing(
            destination, because: reason, among: rules, mark: options.mark, interface: interface, source: source,
            user: KernelQueries.user, routes: routes) != nil
        {
            return .rule
        }
        guard reason == .noRoute else { return nil }
        switch Rule.hindrance(
            to: destination, among: rules, mark: options.mark, interface: interface, source: source,
            user: KernelQueries.user, routes: routes)
        {
        case .thrown?: return .throwRoute
        case .ignored?: return .rule
        case nil: return nil
        }
    }

    private func destination(
        of subject: Subject, _ family: IPAddress.Family
    ) -> (address: IPAddress?, zone: String?) {
        switch subject.target {
        case .internet: (options.anchors.first { $0.family == family }, nil)
        case .address(let address, let zone): (address, zone)
        case .prefix(let prefix): (prefix.representative, nil)
        case .name: (subject.names.first { $0.family == family }, nil)
        case .interface: (nil, nil)
        }
    }
}
