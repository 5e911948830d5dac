package import ReachCore

/// What the server asks of the daemon. It is asked on the event loop's thread, and may answer at once or later there.
package protocol ControlService: AnyObject {
    typealias Reply<Value> = (Result<Value, MonitorError>) -> Void

    /// The state of a target now. Called for those that nobody watches, too.
    func status(of target: Target, for caller: Caller, reply: @escaping Reply<ReachabilityState>)

    /// Watches a target, on behalf of all who subscribe to it: the server asks once for each target.
    ///
    /// - Parameter sink: Takes what happens from now on, the first determined state included. May be called before this
    ///   returns.
    func watch(
        _ target: Target, for caller: Caller, sink: @escaping (MonitorEvent) -> Void
    ) throws(MonitorError) -> ControlWatch

    /// The machine's links, and what each is and carries.
    func links(for caller: Caller, reply: @escaping Reply<[LinkReport]>)

    /// Why a target is reachable or not. May take seconds, where a name is to be resolved.
    func explain(_ target: Target, for caller: Caller, reply: @escaping Reply<Explanation>)

    /// What is known of the configured probes, in their order.
    func probes(for caller: Caller, reply: @escaping Reply<[ProbeReport]>)

    /// Makes one attempt now. Everybody may ask for a configured probe; a URL is for those who may change something, since the
    /// daemon may send what they may not.
    func probe(_ order: ProbeOrder, for caller: Caller, reply: @escaping Reply<ProbeAnswer>)

    /// Reads the configuration anew. Only called for those who may change something.
    func reload(for caller: Caller, reply: @escaping Reply<Void>)
}

/// A target that is watched.
package struct ControlWatch {
    /// The state that a newcomer is told; `nil` while it is not determined.
    package let state: () -> ReachabilityState?
    /// Ends it: nobody subscribes any more.
    package let cancel: () -> Void

    package init(state: @escaping () -> ReachabilityState?, cancel: @escaping () -> Void) {
        self.state = state
        self.cancel = cancel
    }
}

/// Something about a watched target that every subscriber is told.
package enum MonitorEvent: Sendable {
    /// The first determined state, or a difference.
    case change(ReachabilityChange)
    case resync(Instant, reason: String)
    case wake(Instant, slept: Duration)
    /// Told with the Internet's events.
    case probe(ProbeEvent)

    var encoded: EncodedEvent {
        switch self {
        case .change(let change): .change(change, source: .daemon)
        case .resync(let moment, let reason): .resync(reason: reason, at: moment)
        case .wake(let moment, let slept): .wake(slept: slept, at: moment)
        case .probe(let event): .probe(event)
        }
    }
}
