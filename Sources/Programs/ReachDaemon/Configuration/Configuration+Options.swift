internal import Glibc
package import ReachControl
internal import ReachCore
package import ReachKernel
internal import ReachProbe
package import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

extension Configuration {
    /// The engine's options.
    package var engineOptions: ReachabilityEngine.Options {
        var options = ReachabilityEngine.Options()
        let policy = observationPolicy
        options.anchors = internet.anchors
        options.mark = policy.mark
        options.proxy = policy.proxy
        options.holdDown = policy.hold
        options.observer.policy = LinkPolicy(rules: policy.rules, networks: NetworkPolicy(rules: policy.networks))
        return options
    }

    /// What it says of the kernel's paths, links and networks.
    package var observationPolicy: ObservationPolicy {
        var policy = ObservationPolicy()
        policy.anchors = internet.anchors == ReferenceAddresses.standard ? nil : internet.anchors
        policy.mark = internet.mark == 0 ? nil : internet.mark
        let proxies = connectivity.proxies.resolved
        policy.proxy =
            connectivity.endpoints.isEmpty
            ? nil : (proxies.https ?? proxies.http).flatMap { try? Target.host($0.host) }
        policy.hold = HoldDown(up: hold.up, down: hold.down, maximum: hold.maximum == .zero ? nil : hold.maximum)
        policy.targets = targets.map { .init(name: $0.name, target: $0.target) }
        policy.rules = interfaces.map {
            LinkPolicy.Rule(
                pattern: $0.match, linkClass: $0.linkClass, isMetered: $0.metered, passesTunnels: $0.passesTunnels)
        }
        policy.networks = networkRules
        return policy
    }

    /// How long hooks and the log wait for a lost link; `nil` for not at all.
    var flapPatience: FlapJoiner.Patience? { hold.flaps == .zero ? nil : FlapJoiner.Patience(link: hold.flaps) }

    /// The validator's options; `nil` without endpoints.
    var validatorOptions: Validator.Options? {
        guard !connectivity.endpoints.isEmpty else { return nil }
        var options = Validator.Options(endpoints: connectivity.endpoints)
        options.timeout = connectivity.timeout
        options.proxies = connectivity.proxies.resolved
        options.detectsSilence = connectivity.detectSilence
        if connectivity.quality { options.measuredLines = connectivity.qualityOnMetered ? .all : .unmetered }
        options.rhythm.interval = connectivity.interval
        options.rhythm.strikesToDemote = connectivity.demoteAfter
        options.rhythm.strikesToPromote = connectivity.promoteAfter
        options.rhythm.asksPortals = connectivity.portalAPI
        options.rhythm.meteredBytesPerDay = connectivity.meteredBytesPerDay
        return options
    }

    /// The queue's options.
    func queueOptions(version: String) -> QueueEngine.Options {
        var options = QueueEngine.Options()
        options.policy = queue.policy
        options.policy.slots.interface = max(queue.policy.slots.interface, queue.policy.slots.destination)
        options.policy.limits.joinedBytes = Int(queue.policy.joining.bytes)
        options.policy.metered = meteredPolicy
        options.attempts.answerBytes = queue.answerBytes
        options.attempts.disk = queue.policy.limits.disk
        options.attempts.ownerAnswerBytes = UInt64(queue.policy.results.bytes)
        options.attempts.timeouts.total = queue.attemptTime
        options.attempts.timeouts.leastRate = queue.leastRate
        options.attempts.proxies = (queue.proxies == ProxyTable() ? connectivity.proxies : queue.proxies).resolved
        options.attempts.userAgent = "reach/\(version)"
        return options
    }

    /// The budgets for metered links.
    package var meteredPolicy: MeteredPolicy {
        var policy = queue.policy.metered
        policy.links = interfaces.compactMap { rule in rule.meteredBudget.map { .init(rule.match, $0) } }
        policy.earliest = MachineClock.earliestTime()
        return policy
    }

    /// The journal's options.
    var journalOptions: ReachDaemon.Journal.Options {
        var options = ReachDaemon.Journal.Options()
        options.kinds = Set(journal.events)
        options.bytes = journal.bytes
        options.age = journal.age
        return options
    }

    /// The control server's limits.
    package var controlLimits: ControlLimits {
        var control = ControlLimits()
        control.connections = limits.connections
        control.connectionsPerUser = limits.connectionsPerUser
        control.targets = limits.targets
        control.backlogBytes = limits.pendingBytes
        return control
    }
}

extension ProxyTable {
    /// The proxies, with those of the environment that this process was started with.
    var resolved: TransferProxies {
        resolved(in: EnvironmentProxies { name in getenv(name).map { String(cString: $0) } })
    }

    func resolved(in environment: EnvironmentProxies) -> TransferProxies {
        func url(_ choice: Choice, isSecure: Bool) -> TransferURL? {
            switch choice {
            case .none: nil
            case .url(let text): try? TransferURL(proxy: text)
            case .environment:
                environment.text(isSecure: isSecure).flatMap { text in
                    try? TransferURL(proxy: text.utf8Range(of: "://") == nil ? "http://" + text : text)
                }
            }
        }
        let (http, https) = (proxy ?? .environment, https ?? proxy ?? .environment)
        let usesEnvironment = http == .environment || https == .environment
        let listed = exceptions + (usesEnvironment ? [environment.exceptions] : [])
        return TransferProxies(
            http: url(http, isSecure: false), https: url(https, isSecure: true),
            exceptions: ProxyExclusionList(listed.joined(separator: ",")))
    }
}
