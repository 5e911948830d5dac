package import ReachCore

/// Decides when each queued request is sent: a value without clock, thread, disk or network. ``handle(_:at:)`` receives
/// what happened, and returns what to do.
///
/// The cost of a turn does not grow with the number of waiting requests: requests with the same condition pause and
/// resume together, and a turn handles at most a fixed number of those that are due. Without a path, the only timers
/// are the deadlines of requests.
///
/// A request is sent only after its lease is committed, and an event that must survive a crash is reported only after
/// its change is committed.
package struct QueueScheduler: Sendable {
    private var fixed: FixedPolicy
    var turn: Turn
    var requests: RequestTable
    var deadlines: RequestDeadlines
    var owners = Owners()
    var gates: Gates
    var destinations: Destinations
    var lines = ReadyLines()
    var attempts: RunningAttempts
    var admission: AdmissionState
    var network: NetworkState
    var store: StoreState
    var metered: MeteredLedger
    var joins: Joins

    /// - Parameters:
    ///   - firstID: The number of the next request, larger than the number of any earlier request.
    ///   - seed: The seed of the random numbers.
    package init(_ policy: QueuePolicy = QueuePolicy(), firstID: Int64 = 1, seed: UInt64, at moment: Instant) {
        fixed = FixedPolicy(policy, seed: seed)
        turn = Turn(at: moment, SplitMix64(seed: seed))
        requests = RequestTable(firstID: firstID)
        deadlines = RequestDeadlines(policy)
        gates = Gates(fixed)
        destinations = Destinations(fixed)
        attempts = RunningAttempts(fixed, at: moment.boot)
        admission = AdmissionState(fixed, at: moment.boot)
        network = NetworkState(fixed, at: moment.boot)
        store = StoreState(at: moment.boot)
        metered = MeteredLedger(fixed)
        joins = Joins(fixed)
    }

    package var policy: QueuePolicy { fixed.policy }

    /// The seed of the random numbers.
    package var seed: UInt64 { fixed.seed }

    /// The instant of the current turn.
    var moment: Instant { turn.moment }
    var now: BootTime { turn.now }
    var epoch: UInt64 { network.epoch }

    /// The epoch of the latest ``PathSet``; 0 before the first.
    package var publishedEpoch: UInt64 { epoch }

    /// The number of running attempts.
    package var runningCount: Int { attempts.count }

    /// Handles one input.
    ///
    /// - Parameter moment: Never earlier than the instant of the previous call.
    /// - Returns: The actions to carry out, in this order.
    package mutating func handle(_ command: QueueInput, at moment: Instant) -> [QueueAction] {
        handle([command], at: moment)
    }

    /// Handles inputs that arrived together, in their order. It decides once, after all of them, what starts and what
    /// is written.
    ///
    /// - Parameter moment: Never earlier than the instant of the previous call.
    /// - Returns: The actions to carry out, in this order.
    package mutating func handle(_ commands: [QueueInput], at moment: Instant) -> [QueueAction] {
        turn.moment = moment
        turn.hasMore = false
        advanceMetered()
        for command in commands { execute(command) }
        advance()
        admit()
        publishWaiting()
        return store.actions(of: turn.end())
    }

    /// The time at which the owner must send ``QueueInput/wake``, at once if it is past; `nil` for none.
    package var deadline: BootTime? {
        if turn.hasMore { return now }
        var earliest = deadlines.next
        func note(_ time: BootTime?) {
            if let time, earliest.map({ time < $0 }) ?? true { earliest = time }
        }
        note(gates.earliestTimer)
        note(admission.retryAt)
        note(network.evidence.deadline)
        note(network.silenceEnds)
        note(destinations.lookups.earliestTimer)
        note(attempts.earliestLingerEnd)
        if gates.openCount > 0 {
            if attempts.sharedUntil > now { note(attempts.sharedUntil) }
            note(destinations.earliestTimer)
            note(gates.earliestWait)
        }
        note(network.firstLookEnds)
        note(metered.deadline(at: moment))
        return earliest
    }

    private mutating func execute(_ command: QueueInput) {
        switch command {
        case .add(let request, let ticket): add(request, ticket)
        case .hold(let id, let client, let ticket): change(ticket) { $0.hold(id, client, ticket) }
        case .release(let id, let client, let ticket): change(ticket) { $0.release(id, client, ticket) }
        case .cancel(let id, let client, let ticket): change(ticket) { $0.cancel(id, client, ticket) }
        case .retry(let id, let client, let ticket): change(ticket) { $0.retry(id, client, ticket) }
        case .retryAll(let reason, let client, let ticket): change(ticket) { $0.retryAll(reason, client, ticket) }
        case .forget(let id, let client, let ticket): change(ticket) { $0.forget(id, client, ticket) }
        case .holdQueue(let client, let ticket): change(ticket) { $0.setQueueHold(true, client, ticket) }
        case .releaseQueue(let client, let ticket): change(ticket) { $0.setQueueHold(false, client, ticket) }
        case .setFleetHold(let isHeld, let reason, let ticket):
            change(ticket) { $0.setFleetHold(isHeld, reason, ticket) }
        case .paths(let set): pathsChanged(to: set)
        case .targetPath(let destination, let path): targetPathChanged(destination, path)
        case .routes(let routes): routesChanged(routes)
        case .attemptRouted(let id, let path, let route): attemptRouted(id, by: path, route)
        case .lookedUp(let destination, let route): lookedUp(destination, route)
        case .pathChecked(let interface, let works, let isProof): pathChecked(interface, works, isProof: isProof)
        case .woke(let slept): woke(after: slept)
        case .restore(let requests, let breakers, let held): restore(requests, breakers, heldQueues: held)
        case .expectRestored(let requests): expect(requests)
        case .allRestored: endRestoring()
        case .committed(let number): committed(number)
        case .notCommitted(let number): notCommitted(number)
        case .postponed(let number): postponed(number)
        case .degraded(let isDegraded): store.setDegraded(isDegraded, at: now)
        case .requestSent(let id): markSent(id)
        case .spent(let id, let number, let total, let left, let isLast):
            spent(id, number, total: total, left: left, isLast: isLast)
        case .restoreMetered(let accounts): metered.restore(accounts)
        case .answering(let id): if let index = attempts.index(of: id) { answered(index) }
        case .uploadAdvanced(let id): uploadAdvanced(id)
        case .interceptors(let names): setInterceptors(names)
        case .prepared(let id, let isReady): prepared(id, isReady)
        case .answerHeld(let id): hold(id, isAnswered: true)
        case .failureHeld(let id): hold(id, isAnswered: false)
        case .judged(let id, let verdict): judged(id, verdict)
        case .ended(let id, let end): attemptEnded(id, end)
        case .policy(let policy): apply(policy)
        case .stop: stop()
        case .wake: break
        }
    }

    /// Decides by another policy from now on. A request keeps the deadline that it got when it was added, and its wait
    /// for others to be joined with; an attempt that runs goes on, and counts for no budget that is new.
    private mutating func apply(_ policy: QueuePolicy) {
        let before = fixed.policy
        guard policy != before else { return }
        fixed = FixedPolicy(policy, seed: fixed.seed)
        gates.fixed = fixed
        destinations.fixed = fixed
        attempts.fixed = fixed
        admission.fixed = fixed
        network.fixed = fixed
        metered.fixed = fixed
        joins.fixed = fixed
        if policy.dead != before.dead { keepDead(policy.dead) }
        if (policy.metered.perUser == nil) != (before.metered.perUser == nil) { regroupByPayer() }
        evaluateAll()
        // They may wait for a slot that there is now.
        for destination in destinations.all { lines.resume(destination: destination) }
    }

    /// Executes a client's change. It is confirmed when it is on the disk, so one that cannot be written is refused.
    private mutating func change(_ ticket: QueueInput.Ticket, _ change: (inout QueueScheduler) -> Void) {
        guard store.isStuck else { return change(&self) }
        turn.actions.append(.reply(ticket, .refused(.storage)))
    }
}

/// What changes only as a whole (``QueueInput/policy(_:)``). It is large, so the scheduler's parts share it.
final class FixedPolicy: Sendable {
    let policy: QueuePolicy
    let seed: UInt64

    init(_ policy: QueuePolicy, seed: UInt64) {
        self.policy = policy
        self.seed = seed
    }
}
