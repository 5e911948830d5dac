internal import ReachCore

/// Whether a path works, as checks of it found: one check serves all failures of its time.
struct PathEvidence: Hashable, Sendable {
    private enum Check: Hashable, Sendable {
        case running(until: BootTime)
        case answered(works: Bool, at: BootTime)
    }

    enum Answer: Hashable, Sendable {
        case works(Bool)
        /// A check is on its way. It must be started if `begin` is set.
        case pending(begin: Bool)
    }

    private var checks: [UInt32: Check] = [:]

    /// What is known of the path by that interface.
    mutating func ask(about interface: UInt32, at now: BootTime, _ policy: QueuePolicy) -> Answer {
        switch checks[interface] {
        case .answered(let works, let time) where now - time < policy.paths.checkLifetime: return .works(works)
        case .running: return .pending(begin: false)
        case .answered, nil:
            checks[interface] = .running(until: now + policy.paths.checkLimit)
            return .pending(begin: true)
        }
    }

    mutating func answer(_ works: Bool, for interface: UInt32, at now: BootTime) {
        checks[interface] = .answered(works: works, at: now)
    }

    /// When a check that does not answer counts as failed.
    var deadline: BootTime? {
        checks.values.compactMap { if case .running(let until) = $0 { until } else { nil } }.min()
    }

    /// The interfaces whose checks took too long.
    mutating func expire(at now: BootTime) -> [UInt32] {
        if checks.isEmpty { return [] }
        let late = checks.filter { if case .running(let until) = $0.value { until <= now } else { false } }.map(\.key)
        for interface in late { checks[interface] = .answered(works: false, at: now) }
        return late.sorted()
    }

    /// Another network: what was found no longer holds.
    mutating func forgetAnswers() {
        checks = checks.filter { if case .running = $0.value { true } else { false } }
    }
}
