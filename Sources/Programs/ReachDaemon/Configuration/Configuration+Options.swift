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
        options.holdDown = policy.hold
        options.observer.policy = LinkPolicy(rules: policy.rules, networks: NetworkPolicy(rules: policy.networks))
        return options
    }

    /// What it says of the kernel's paths, links and networks.
    package var observationPolicy: ObservationPolicy {
        var policy = ObservationPolicy()
        policy.anchors = internet.anchors == ReferenceAddresses.standard ? nil : internet.anchors
        policy.mark = internet.mark == 0 ? nil : internet.mark
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
        options.policy.limits.requests = queue.requests
        options.policy.limits.ownerRequests = queue.requestsPerUser
        options.policy.limits.bytes = queue.bytes == 0 ? nil : Int64(queue.bytes)
        options.policy.limits.ownerBytes = queue.bytesPerUser == 0 ? nil : Int64(queue.bytesPerUser)
        options.policy.limits.disk.share = queue.diskShare
        options.policy.limits.disk.ownerShare = queue.diskSharePerUser
        options.policy.limits.disk.keepFree = queue.keepFree == 0 ? nil : Int64(queue.keepFree)
        options.policy.globalLimit = queue.concurrency
        options.policy.interfaceLimit = max(options.policy.interfaceLimit, queue.concurrencyPerDestination)
        options.policy.destinationLimit = queue.concurrencyPerDestination
        options.policy.timeToLive = queue.expires
        options.attempts.answerBytes = UInt64(queue.answerBytes)
        options.attempts.disk = options.policy.limits.disk
        options.attempts.ownerAnswerBytes = UInt64(queue.keepResultsBytes)
        options.policy.resultCount = queue.keepResults
        options.policy.resultBytes = Int64(queue.keepResultsBytes)
        options.policy.resultLifetime = queue.keepResultsFor
        options.policy.deadCount = queue.keepDead
        options.policy.deadBytes = Int64(queue.keepDeadBytes)
        options.policy.deadLifetime = queue.keepDeadFor
        options.attempts.timeouts.total = queue.attemptTime == .zero ? nil : queue.attemptTime
        options.attempts.timeouts.leastRate = UInt64(queue.leastRate)
        options.attempts.proxies = (queue.proxies == ProxyTable() ? connectivity.proxies : queue.proxies).resolved
        options.attempts.userAgent = "reach/\(version)"
        options.policy.metered = meteredPolicy
        options.policy.joining.count = queue.joinRequests
        options.policy.joining.bytes = Int64(queue.joinBytes)
        options.policy.limits.joinedBytes = queue.joinBytes
        options.policy.joining.wait = queue.joinWait
        return options
    }

    /// The budgets for metered links.
    package var meteredPolicy: MeteredPolicy {
        var policy = MeteredPolicy()
        policy.all = queue.meteredBudget
        policy.perUser = queue.meteredBudgetPerUser
        policy.begins = queue.meteredBudgetBegins
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
        let environment = EnvironmentProxies { name in getenv(name).map { String(cString: $0) } }
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
