package import ReachCore
internal import ReachLoop

/// The kernel's tables at one time, to evaluate targets without observing changes.
package final class KernelSnapshot {
    /// The time limit for resolving a name.
    package static let namePatience: Duration = .seconds(5)

    package let view: KernelView
    private let options: ReachabilityEngine.Options
    private let memory: RootCauseMemory?

    /// - Parameters:
    ///   - memory: What an observer of the same network remembers; `nil` without one.
    ///   - wantsWireless: Whether to query the Wi-Fi networks of links.
    ///   - onDemand: Whether to read only the links of the paths that are asked for, as far as that is enough.
    /// - Throws: The reason why the kernel cannot be queried.
    package init(
        options: ReachabilityEngine.Options = ReachabilityEngine.Options(), memory: RootCauseMemory? = nil,
        wantsWireless: Bool = false, onDemand: Bool = false
    ) throws(NetlinkError) {
        self.options = options
        self.memory = memory
        view = try KernelView(
            policy: options.observer.policy, vrf: options.observer.vrf, wantsWireless: wantsWireless)
        if let memory { view.observed = memory.links }
        if onDemand { view.readOnDemand() } else { try view.refresh() }
        view.leases = options.leases
    }

    /// A verdict, and the facts on which it rests.
    struct Evaluation {
        var verdict: Verdict
        let findings: [PathFinding]
        /// The resolver's answer, if the target is a name.
        var resolution: NameAnswer?

        var names: [IPAddress] {
            guard case .addresses(let addresses)? = resolution else { return [] }
            return addresses
        }
    }

    private func finder(recordsFindings: Bool = false) -> PathFinder {
        PathFinder(
            view: view, mark: options.mark,
            proxies: { [options] in
                switch options.proxy?.subject {
                case .address(let address, _): [address]
                case .name(let name):
                    if case .addresses(let addresses) = Self.resolve(name) { addresses } else { [] }
                case .internet, .interface, .prefix, nil: []
                }
            }, recordsFindings: recordsFindings)
    }

    /// The current state of a target. Its "since" is now as well, since there is no earlier state.
    ///
    /// - Parameter condition: The paths that count; then the state has a list of the available interfaces. `nil` for
    ///   the kernel's own choice, without a list.
    package func state(
        of target: Target, where condition: NetworkCondition? = nil
    ) throws(NetlinkError) -> ReachabilityState {
        try identifyNetworks()
        var machine = StatusMachine(target: target, at: SystemClock.now)
        let evaluation = try evaluate(target)
        var verdict = evaluation.verdict
        if let condition {
            try view.readAll()
            let internet = try evaluate(.internet).verdict
            verdict = try finder().choose(
                verdict, on: target.subject, internet: internet, names: evaluation.names, anchors: options.anchors,
                where: condition)
            verdict.rootCause = try rootCause(
                of: verdict, .init(target: target.subject, names: evaluation.names, condition: condition))
        }
        _ = machine.observe(verdict, cause: .start, epoch: 1, at: SystemClock.now)
        return machine.state
    }

    /// The link that a name or an alternative name means; `nil` if there is none, or the kernel cannot be asked.
    package func link(named name: String) -> Link? { (try? view.link(named: name)) ?? nil }

    /// Whether an interface is metered; `false` if there is no such interface.
    package func isMetered(_ interface: String) -> Bool { view.isMetered(interface) }

    /// How the kernel sends to each of these addresses, in their order; `nil` if it cannot be asked.
    package func routes(to addresses: [RoutedAddress]) -> [AddressRoute]? {
        guard let internet = try? judge(.internet).verdict else { return nil }
        return try? finder().routes(to: addresses, internet: internet)
    }

    /// All links of this namespace, by index, each with the families for which it carries the Internet.
    package func links() throws(NetlinkError) -> [LinkReport] {
        try identifyNetworks()
        let internet = try evaluate(.internet).verdict
        let stack = try view.fullStack()
        return view.table.links.values.sorted { $0.index < $1.index }.map { link in
            var report = LinkReport(link, in: view.table, stack: stack, internet: internet)
            // A host may have thousands of ports of bridges.
            if !report.isBackground { report.traffic = LinkCounters.traffic(of: link.name) }
            if stack.traits[link.index]?.hasPHY80211 == true { report.wireless = view.wireless?.link(link.index) }
            return report
        }
    }

    /// Finds out what identifies the networks behind links, as an observer would know it.
    func identifyNetworks() throws(NetlinkError) {
        guard view.policy.networks.identifiesNetworks else { return }
        try view.readAll()
        let internet = try judge(.internet).verdict
        let routes = try finder()
            .defaultRoutes(preferred: internet, anchors: options.anchors)
        _ = try view.noteGateways(of: routes)
    }

    /// - Parameter resolution: What the resolver answered, if the target is a name; `nil` to ask it.
    func evaluate(_ target: Target, _ resolution: NameAnswer? = nil) throws(NetlinkError) -> Evaluation {
        var evaluation = try judge(target, resolution)
        evaluation.verdict.rootCause = try rootCause(
            of: evaluation.verdict, .init(target: target.subject, names: evaluation.names))
        return evaluation
    }

    private func rootCause(
        of verdict: Verdict, _ subject: RootCauseReader.Subject
    ) throws(NetlinkError) -> RootCause? {
        guard verdict.status != .reachable else { return nil }
        return try RootCauseReader(view: view, options: options).rootCause(
            of: verdict, on: subject, memory: memory ?? RootCauseMemory()
        ) { () throws(NetlinkError) in try judge(.internet).verdict }
    }

    private func judge(_ target: Target, _ known: NameAnswer? = nil) throws(NetlinkError) -> Evaluation {
        var finder = finder(recordsFindings: true)
        finder.flow = target.flow
        guard case .name(let name) = target.subject else {
            let verdict = try finder.verdict(on: target.subject, anchors: options.anchors)
            return Evaluation(verdict: verdict ?? Verdict(.unknown, reason: nil), findings: finder.findings)
        }
        let resolution = known ?? Self.resolve(name)
        let verdict: Verdict
        switch resolution {
        case .addresses(let addresses): verdict = try finder.anyOf(addresses)
        case .noAddress: verdict = Verdict(.notReachable, reason: .nameNotResolved)
        case .notAsked: verdict = Verdict(.unknown, reason: .nameNotResolved)
        }
        return Evaluation(verdict: verdict, findings: finder.findings, resolution: resolution)
    }

    /// Resolves a name within ``namePatience``, since the resolver's own limits may add up to half a minute.
    package static func resolve(_ name: String) -> NameAnswer {
        guard let loop = try? EventLoop() else { return .notAsked }
        let result = ResolverResult()
        let mailbox = loop.mailbox
        SystemResolver().resolve(name) { answer in mailbox.post { _ in result.finish(answer) } }
        result.onFinish = { loop.stop() }
        loop.schedule(at: SystemClock.boot + namePatience) { loop.stop() }
        loop.run()
        return result.answer
    }
}

/// The answer of the resolver. Unchecked, since only the thread of the loop behind the mailbox uses it.
private final class ResolverResult: @unchecked Sendable {
    private(set) var answer = NameAnswer.notAsked
    var onFinish: () -> Void = {}

    func finish(_ answer: NameAnswer) {
        self.answer = answer
        onFinish()
    }
}
