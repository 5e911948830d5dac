/// How long a new status must last before it is reported.
///
/// ifplugd waits 5 s and NetworkManager 6 s before reporting a loss. The default here is to report at once. While a
/// status is held back, ``ReachabilityState/isHeld`` is true.
public struct HoldDown: Hashable, Sendable {
    /// The delay before "reachable" is reported.
    public var up: Duration
    /// The delay before "not reachable" or "unknown" is reported.
    public var down: Duration
    /// The longest time for which flapping can hold back a status.
    public var maximum: Duration

    /// Creates a hold-down. Negative delays count as zero.
    ///
    /// - Parameters:
    ///   - up: The delay before "reachable" is reported. Zero reports at once.
    ///   - down: The delay before "not reachable" or "unknown" is reported. Zero reports at once.
    ///   - maximum: The limit for endless flapping; by default ten times the longer of the two.
    public init(up: Duration = .zero, down: Duration = .zero, maximum: Duration? = nil) {
        self.up = max(up, .zero)
        self.down = max(down, .zero)
        self.maximum = maximum ?? max(self.up, self.down) * 10
    }
}

/// Holds a new status back until it has lasted, and what was proved of a path that went and came back meanwhile until a
/// check decides. A target has one; all mouths speak of what passes it.
struct ChangeHold: Sendable {
    private enum Phase {
        /// Nothing waits, and nothing that happened bears on what comes next.
        case settled
        /// Another status than the reported one waits.
        ///
        /// - Parameters:
        ///   - until: When it is reported.
        ///   - unsettled: When the status first differed from the reported one, without having agreed for a whole
        ///     hold-down since.
        case waiting(until: BootTime, unsettled: BootTime)
        /// The reported status is back, and the other one was never reported.
        ///
        /// - Parameter provedUntil: Until when an unproved return keeps the connectivity that was reported; `nil` if it
        ///   does not.
        case returned(at: BootTime, unsettled: BootTime, provedUntil: BootTime?)
        /// The times were replaced: what comes next is reported at once.
        case replaced
    }

    private let times: HoldDown
    private var phase: Phase

    /// - Parameter isReplacement: Whether it takes the place of another one, whatever that holds back.
    init(_ times: HoldDown, isReplacement: Bool = false) {
        self.times = times
        phase = isReplacement ? .replaced : .settled
    }

    /// Whether something waits for a verdict or for its time.
    var isWaiting: Bool {
        switch phase {
        case .waiting, .replaced: true
        case .settled, .returned: false
        }
    }

    /// When what is held back has waited long enough, unless a verdict comes first.
    var deadline: BootTime? {
        switch phase {
        case .waiting(let until, _): until
        case .returned(_, _, let provedUntil): provedUntil
        case .settled, .replaced: nil
        }
    }

    /// Notes a verdict with the status that is reported.
    mutating func agree(on status: ReachabilityStatus, at now: BootTime) {
        switch phase {
        case .waiting(_, let unsettled):
            // The loss was not reported, so nothing is until a check of the path that is back decides.
            phase = .returned(
                at: now, unsettled: unsettled, provedUntil: status == .reachable ? now + times.down : nil)
        case .replaced: phase = .settled
        case .settled, .returned: break
        }
    }

    /// Notes a verdict with another status than is reported.
    ///
    /// - Parameter isReversed: Whether it is not the kind of status that the last verdict had: the wait begins again
    ///   where another delay applies.
    /// - Returns: Whether it is reported now.
    mutating func differ(with status: ReachabilityStatus, isReversed: Bool, at now: BootTime) -> Bool {
        switch phase {
        case .settled: wait(with: status, unsettled: now, at: now)
        case .returned(let since, let unsettled, _):
            // Flapping ends once the verdict has agreed with what is reported for a whole hold-down.
            let hasSettled = now >= since + max(times.up, times.down)
            wait(with: status, unsettled: hasSettled ? now : unsettled, at: now)
        case .waiting(_, let unsettled): if isReversed { wait(with: status, unsettled: unsettled, at: now) }
        case .replaced: break
        }
        return isDue(at: now)
    }

    private mutating func wait(with status: ReachabilityStatus, unsettled: BootTime, at now: BootTime) {
        let delay = status == .reachable ? times.up : times.down
        phase = .waiting(until: min(now + delay, unsettled + times.maximum), unsettled: unsettled)
    }

    /// Whether what waits is reported now; then nothing waits any more.
    mutating func isDue(at now: BootTime) -> Bool {
        if case .waiting(let until, _) = phase, now < until { return false }
        phase = .settled
        return true
    }

    /// Whether what was reported of the path that is back still counts, if no check has decided yet.
    func keepsProof(at now: BootTime) -> Bool {
        guard case .returned(_, _, let until?) = phase else { return false }
        return now < until
    }

    /// Notes that what is proved of the path is reported.
    mutating func endProof() {
        guard case .returned(let since, let unsettled, _) = phase else { return }
        phase = .returned(at: since, unsettled: unsettled, provedUntil: nil)
    }
}
