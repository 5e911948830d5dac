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
    package var policy: QueuePolicy { fixed.policy }
    private let fixed: Fixed
    /// The seed of the random numbers.
    package let seed: UInt64
    var random: SplitMix64
    /// The instant of the current turn.
    var moment: Instant
    let started: BootTime

    var entries: [QueueEntry] = []
    var freeSlots: [Int32] = []
    var slots: [RequestID: Int32] = [:]
    var nextID: Int64
    var aliveCount = 0
    var aliveBytes: Int64 = 0
    var reservedBytes: Int64 = 0
    var owners: [UInt32: OwnerAccount] = [:]
    /// What the disk has room for, as it was measured last; `nil` where nothing is kept on a disk.
    package var diskRoom: DiskRoom?
    /// When the requests of an earlier run were restored; `nil` without any.
    var restored: BootTime?
    /// What is still to be restored; `nil` if nothing is.
    var expected: ExpectedRequests?
    /// Circuit breakers of an earlier run, for destinations whose requests are still to be restored.
    var storedBreakers: [StoredBreaker] = []
    /// The time since which root holds all requests; `nil` if root does not.
    var heldSince: BootTime?
    /// The fleet's hold, which is independent of those of users.
    var fleetHold: FleetHold?
    /// The times at which unfinished requests expire.
    var deadlines = SlotDeadlines()
    /// The times at which dead requests are deleted.
    var deadUntil = DeadlineQueue<Int32>()
    /// The order that each dead request had; it joins this order again when it is retried.
    var deadOrders: [Int32: OrderChains.Key] = [:]
    var recentlyOver = RecentRequests(capacity: 4096)
    var chains = OrderChains()
    var lines = ReadyLines()

    var groups: [RequestGroup] = []
    var freeGroups: [Int32] = []
    var groupNumbers: [RequestGroup.Key: Int32] = [:]
    /// The group and the destination of the last request that was added: mostly the next one has the same.
    var lastGroup: Int32?
    var lastDestination: Int32?
    var idleGroups: [Int32] = []
    /// The number of groups that have a path.
    var openGroups = 0
    /// The groups whose path is not proved: they settle, or wait for a canary's answer.
    var unproved: Set<Int32> = []
    /// The earliest time at which another canary may start.
    var canaryAt: BootTime?
    /// The users whose canary waits for a free slot, and the channel of that canary.
    var crowdedOut: [UInt32: Int32] = [:]
    var gateTimers = DeadlineQueue<Int32>()
    /// For each open group, the time at which the first wait in it ends.
    var groupTimers = DeadlineQueue<Int32>()
    /// Increases each time that a group resumes.
    var generation: UInt32 = 0

    var destinations: [DestinationRecord] = []
    var freeDestinations: [Int32] = []
    var destinationNumbers: [DestinationRecord.Key: Int32] = [:]
    var sites: [DestinationSite] = []
    var freeSites: [Int32] = []
    var siteNumbers: [Destination: Int32] = [:]
    var idleDestinations: [Int32] = []
    var troubles: [Int32: DestinationTrouble] = [:]
    /// The destinations with a circuit breaker that is not closed, or with a wait that a new epoch ends.
    var attentive: Set<Int32> = []
    var destinationTimers = DeadlineQueue<Int32>()

    var channels: [Channel] = []
    var freeChannels: [Int32] = []
    var firstChannel = 0
    var running: [RunningAttempt] = []
    /// The attempts whose answer an interceptor judges; they occupy no slot.
    var judged: [Int32: RunningAttempt] = [:]
    /// The destinations whose lines wait until another request may be prepared.
    var awaitingPreparation: Set<Int32> = []
    /// The names of the interceptors that the program has registered.
    var interceptors: Set<String> = []

    /// `nil` until the network is known.
    var paths: PathSet?
    /// The last time at which ``paths`` changed; `nil` before the first change.
    var pathsChanged: BootTime?
    /// Whether the network was unknown for so long that this counts as an outage.
    var hasGivenUpWaiting = false
    /// Increases with each network, in which names are looked up again.
    var networkNumber: UInt64 = 1
    /// The sites whose names are to be looked up, and when.
    var lookupTimers = DeadlineQueue<Int32>()
    /// The names that are being looked up, and the users whose requests need them.
    var pendingLookups: [Destination: UInt32] = [:]
    /// The interfaces over which something was answered since they have a path.
    var provedInterfaces: Set<UInt32> = []
    var histories: [UInt32: PathHistory] = [:]
    /// The requests that wait for a path that stays up longer, and since when.
    var heldBack: [Int32: BootTime] = [:]
    var evidence = PathEvidence()
    /// Whether new requests cannot be stored.
    var isDegraded = false
    /// Whether no change can be stored at all, not even in the space that is reserved for the ends of requests.
    var isStuck = false
    var isStopped = false
    var degradedSince: BootTime

    /// The slots that each user with requests has.
    var shares: [UInt32: OwnerShare] = [:]
    /// The number of starts so far. It orders the users by their latest start.
    var starts: UInt64 = 0
    /// The time at which a user who waits gets a slot of another user.
    var yieldAt: BootTime?
    /// The time until which a user with half of all slots does not get the last free one.
    var sharedUntil: BootTime
    var spacing: StartSpacing
    /// The time until which starts are spaced.
    var spacedUntil: BootTime { spacing.until }
    /// The earliest time of the next start while starts are spaced.
    var nextStart: BootTime
    /// The time at which requests are admitted again, if spacing has stopped their admission.
    var admitAt: BootTime?
    /// Whether the turn ended before everything that is due was handled, so that the next turn follows at once.
    var hasMore = false

    /// The time at which the owner must send ``QueueInput/wake``, at once if it is past; `nil` for none.
    package private(set) var deadline: BootTime?

    var turn = TurnOutput()
    var pending = PendingWrites()

    /// - Parameters:
    ///   - firstID: The number of the next request, larger than the number of any earlier request.
    ///   - seed: The seed of the random numbers.
    package init(_ policy: QueuePolicy = QueuePolicy(), firstID: Int64 = 1, seed: UInt64, at moment: Instant) {
        fixed = Fixed(policy)
        self.seed = seed
        random = SplitMix64(seed: seed)
        self.moment = moment
        started = moment.boot
        nextID = firstID
        degradedSince = moment.boot
        spacing = StartSpacing(at: moment.boot)
        nextStart = moment.boot
        sharedUntil = moment.boot
        deadline = nextDeadline
    }

    /// What never changes. It is large, so it is stored by reference: that makes the scheduler cheaper to copy.
    private final class Fixed: Sendable {
        let policy: QueuePolicy

        init(_ policy: QueuePolicy) { self.policy = policy }
    }

    var now: BootTime { moment.boot }
    var epoch: UInt64 { paths?.epoch ?? 0 }

    /// The number of unfinished requests.
    package var count: Int { aliveCount }

    /// The number of a user's unfinished requests; for root, of those of all users.
    package func count(of client: QueueInput.Client) -> Int {
        client.user == 0 ? aliveCount : owners[client.user]?.count ?? 0
    }

    /// The bytes that count for the limits of one owner and of all owners: unfinished requests, uploads, and the bytes
    /// of dead requests beyond those that the policy keeps. There may be some, since the last dead request is always
    /// kept.
    package func bytes(of owner: UInt32) -> (owner: Int64, all: Int64) {
        func surplus(_ account: OwnerAccount) -> Int64 { max(0, account.deadBytes - policy.deadBytes) }
        let account = owners[owner] ?? OwnerAccount()
        return (
            account.bytes + account.reserved + surplus(account),
            owners.values.reduce(aliveBytes + reservedBytes) { $0 + surplus($1) }
        )
    }

    /// The limit that more bytes of an owner would exceed; `nil` if they fit.
    ///
    /// - Parameter isLimited: Whether the limit of one user applies; for root only the queue's does.
    package func excess(of bytes: Int64, for owner: UInt32, isLimited: Bool) -> ByteExcess? {
        let held = self.bytes(of: owner)
        // Small requests of other users still fit, whoever filled the disk.
        let isByDisk = policy.limits.bytes == nil && policy.limits.ownerBytes == nil
        if isLimited, isByDisk, held.owner + bytes <= DiskRoom.leastOfOwner { return nil }
        let all = policy.limits.bytesOfAll(diskRoom)
        if held.all + bytes > all.bytes { return ByteExcess(limit: all, wanted: held.all + bytes) }
        guard isLimited else { return nil }
        let limit = policy.limits.bytesOfOwner(diskRoom, others: held.all - held.owner)
        return held.owner + bytes > limit.bytes ? ByteExcess(limit: limit, wanted: held.owner + bytes) : nil
    }

    /// The longest upload that would fit if there were nothing else in the queue. A longer one never fits.
    ///
    /// - Parameter isLimited: Whether the limit of one user applies.
    package func longest(isLimited: Bool) -> ByteLimit {
        isLimited ? policy.limits.bytesOfOwner(diskRoom, others: 0) : policy.limits.bytesOfAll(diskRoom)
    }

    /// Counts the bytes of an upload for its owner until a request uses the upload. A negative number takes them off
    /// again.
    package mutating func reserve(_ bytes: Int64, for owner: UInt32) {
        var account = owners[owner] ?? OwnerAccount()
        account.reserved += bytes
        owners[owner] = account.isIdle ? nil : account
        reservedBytes += bytes
    }

    /// The epoch of the latest ``PathSet``; 0 before the first.
    package var publishedEpoch: UInt64 { epoch }

    /// The number of running attempts.
    package var runningCount: Int { running.count }

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
        self.moment = moment
        hasMore = false
        for command in commands { execute(command) }
        advance()
        admit()
        publishWaiting()
        deadline = nextDeadline
        return finishTurn()
    }

    private var nextDeadline: BootTime? {
        if hasMore { return now }
        var earliest = deadlines.earliest.map(Self.roundedUp)
        func note(_ time: BootTime?) {
            if let time, earliest.map({ time < $0 }) ?? true { earliest = time }
        }
        note(gateTimers.earliest)
        note(admitAt)
        note(canaryAt)
        note(yieldAt)
        if sharedUntil > now, openGroups > 0 { note(sharedUntil) }
        note(evidence.deadline)
        note(lookupTimers.earliest)
        for index in running.indices { note(running[index].lingerUntil) }
        if openGroups > 0 {
            note(destinationTimers.earliest)
            note(groupTimers.earliest)
        }
        if paths == nil, !hasGivenUpWaiting { note(started + policy.firstLook) }
        return earliest
    }

    /// Rounds up to a full second, so that all requests that expire in one second cause one wake-up.
    private static func roundedUp(_ time: BootTime) -> BootTime {
        let second: Int64 = 1_000_000_000
        guard time.nanoseconds < .max - second else { return time }
        return BootTime(nanoseconds: (time.nanoseconds + second - 1) / second * second)
    }

    private mutating func execute(_ command: QueueInput) {
        switch command {
        case .add(let request, let ticket): add(request, ticket)
        case .hold(_, _, let ticket), .release(_, _, let ticket), .cancel(_, _, let ticket),
            .retry(_, _, let ticket), .retryAll(_, _, let ticket), .forget(_, _, let ticket),
            .holdQueue(_, let ticket), .releaseQueue(_, let ticket), .setFleetHold(_, _, let ticket):
            // A change is confirmed when it is on the disk, so one that cannot be written is refused.
            if !isStuck { return executeChange(command) }
            turn.actions.append(.reply(ticket, .refused(.storage)))
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
        case .degraded(let isDegraded): setDegraded(isDegraded)
        case .requestSent(let id): markSent(id)
        case .answering(let id): if let index = place(of: id) { answered(index) }
        case .uploadAdvanced(let id): uploadAdvanced(id)
        case .interceptors(let names): setInterceptors(names)
        case .prepared(let id, let isReady): prepared(id, isReady)
        case .answerHeld(let id): answerHeld(id)
        case .judged(let id, let verdict): judged(id, verdict)
        case .ended(let id, let end): attemptEnded(id, end)
        case .stop: stop()
        case .wake: break
        }
    }

    /// Executes a client's change of existing requests.
    private mutating func executeChange(_ command: QueueInput) {
        switch command {
        case .hold(let id, let client, let ticket): hold(id, client, ticket)
        case .release(let id, let client, let ticket): release(id, client, ticket)
        case .cancel(let id, let client, let ticket): cancel(id, client, ticket)
        case .retry(let id, let client, let ticket): retry(id, client, ticket)
        case .retryAll(let reason, let client, let ticket): retryAll(reason, client, ticket)
        case .forget(let id, let client, let ticket): forget(id, client, ticket)
        case .holdQueue(let client, let ticket): setQueueHold(true, client, ticket)
        case .releaseQueue(let client, let ticket): setQueueHold(false, client, ticket)
        case .setFleetHold(let isHeld, let reason, let ticket): setFleetHold(isHeld, reason, ticket)
        default: break
        }
    }

    private mutating func setDegraded(_ degraded: Bool) {
        if !degraded { isStuck = false }
        guard degraded != isDegraded else { return }
        isDegraded = degraded
        degradedSince = now
    }
}

/// What one user's requests occupy.
struct OwnerAccount: Sendable {
    /// The number of unfinished requests.
    var count = 0
    /// The bytes of unfinished requests.
    var bytes: Int64 = 0
    /// The bytes of uploads that no request uses yet.
    var reserved: Int64 = 0
    /// The time since which the user holds all of their requests; `nil` if there is no such hold.
    var heldSince: BootTime?
    /// The times at which dead requests are deleted.
    var dead = DeadlineQueue<Int32>()
    /// The bytes of dead requests and of their answers.
    var deadBytes: Int64 = 0

    var isIdle: Bool { count == 0 && reserved == 0 && heldSince == nil && dead.isEmpty }
}

/// The owners of the requests that ended last. A call about such a request fails: for its owner because the request is
/// over, for other users as if it had never existed.
struct RecentRequests: Sendable {
    private struct Over: Sendable {
        let id: RequestID
        let owner: UInt32
    }

    private let capacity: Int
    /// Not by their numbers: every request comes in here, and few are asked for.
    private var requests: [Over] = []
    private var oldest = 0

    init(capacity: Int) { self.capacity = capacity }

    /// `nil` if it is not among them.
    func owner(of id: RequestID) -> UInt32? { requests.first { $0.id == id }?.owner }

    mutating func insert(_ id: RequestID, of owner: UInt32) {
        let over = Over(id: id, owner: owner)
        if requests.count < capacity {
            requests.append(over)
        } else {
            requests[oldest] = over
            oldest = (oldest + 1) % capacity
        }
    }
}
