internal import CReachLinux
internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

/// Translates a session's options into the queue's.
extension SessionLoop {
    /// A number of attempts.
    private static let neverReached = 1 << 40

    static func limits(_ options: RequestSessionOptions, keepsOnDisk: Bool) -> QueueLimits {
        var limits = QueueLimits()
        limits.requests = max(options.maximumRequests, 1)
        limits.bytes = max(options.maximumBytes, 0)
        // A queue in memory has no spool: every body is inline.
        if !keepsOnDisk { limits.inlineBodyBytes = .max }
        return limits
    }

    static func options(_ options: RequestSessionOptions, keepsOnDisk: Bool) -> QueueEngine.Options {
        var engine = QueueEngine.Options()
        engine.policy.limits = limits(options, keepsOnDisk: keepsOnDisk)
        engine.policy.slots.all = max(options.maximumRunning, 1)
        engine.policy.slots.destination = max(options.maximumRunningPerHost, 1)
        engine.policy.slots.interface = max(engine.policy.slots.interface, engine.policy.slots.destination)
        if !keepsOnDisk {
            // A caller waits, and decides by itself whether to ask again: no request waits for what others were
            // answered.
            engine.policy.breaker.consecutive = .max
            engine.policy.breaker.atLeast = Self.neverReached
            (engine.policy.breaker.openFirst, engine.policy.breaker.openLongest) = (.zero, .zero)
            engine.attempts.ignoresRetryAfterOfSingleAttempts = true
            // The tasks hold the results.
            engine.policy.results.count = 0
            engine.policy.dead.count = 0
        }
        engine.attempts.security = options.security
        engine.attempts.answerBytes = UInt64(clamping: max(options.maximumAnswerBytes, 0))
        engine.attempts.timeouts = TransferTimeouts(
            connect: options.timeouts.connect, total: options.timeouts.total, idle: options.timeouts.idle)
        engine.transfers.certificatesPath = options.certificatesPath
        if let stub = options.stub { engine.makeTransfers = { StubTransfers(stub, on: $0) } }
        return engine
    }
}

extension RequestSessionOptions {
    var linkPolicy: LinkPolicy { LinkPolicy(linkClasses: linkClasses) }

    func enterNamespace() {
        if let namespace { reach_enter_network_namespace(namespace) }
    }
}
