package import ReachCore

/// Decides when each queued request is sent: a value without clock, thread, disk or network. ``handle(_:at:)`` receives
/// what happened, and returns what to do.
///
/// A turn takes a time that does not grow with the number of requests waiting: those of one condition pause and resume
/// as one, and what is due is taken in portions. While no path is there nothing wakes it but the end of a request's
/// time.
///
/// It sends nothing before the lease is committed, and reports nothing that must be kept before that is committed.
package struct QueueScheduler: Sendable {
    package let policy: QueuePolicy
    /// Of all that is left to chance.
    package let seed: UInt64
    var random: SplitMix64
    /// The moment of the present turn.
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
    /// When root held everything.
    var heldSince: BootTime?
    /// The fleet's hold, beside those of users.
    var fleetHold: FleetHold?
    /// Ends of time to live.
    var deadlines = DeadlineQueue<Int32>()
    /// When dead requests are forgotten.
    var deadUntil = DeadlineQueue<Int32>()
    /// The orders that dead requests belonged to, and join again when they are sent again.
    var deadOrders: [Int32: OrderChains.Key] = [:]
    var recentlyOver = RecentRequests(capacity: 4096)
    var chains = OrderChains()
    var lines = ReadyLines()

    var groups: [RequestGroup] = []
    var freeGroups: [Int32] = []
    var groupNumbers: [RequestGroup.Key: Int32] = [:]
    var idleGroups: [Int32] = []
    /// How many have a path.
    var openGroups = 0
    /// Those that settle, or of which a canary decides.
    var unproved: Set<Int32> = []
    /// When the next canary may start.
    var canaryAt: BootTime?
    /// The users with a canary that no slot is free for, and the channel it would take.
    var crowdedOut: [UInt32: Int32] = [:]
    var gateTimers = DeadlineQueue<Int32>()
    /// The earliest wait in each open group.
    var groupTimers = DeadlineQueue<Int32>()
    /// Counts the resumes.
    var generation: UInt32 = 0

    var destinations: [DestinationRecord] = []
    var freeDestinations: [Int32] = []
    var destinationNumbers: [DestinationRecord.Key: Int32] = [:]
    var sites: [DestinationSite] = []
    var freeSites: [Int32] = []
    var siteNumbers: [Destination: Int32] = [:]
    var idleDestinations: [Int32] = []
    var troubles: [Int32: DestinationTrouble] = [:]
    /// Those with a breaker that is not closed, or a wait that ends with the epoch.
    var attentive: Set<Int32> = []
    var destinationTimers = DeadlineQueue<Int32>()

    var channels: [Channel] = []
    var freeChannels: [Int32] = []
    var firstChannel = 0
    var running: [RunningAttempt] = []
    /// Attempts that have an answer which an interceptor judges: they hold no slot.
    var judged: [Int32: RunningAttempt] = [:]
    /// Destinations with lines that were stalled because no more requests could be prepared.
    var awaitingPreparation: Set<Int32> = []
    /// The names of the interceptors that the program has registered.
    var interceptors: Set<String> = []

    /// `nil` until the network is known.
    var paths: PathSet?
    /// Counts the networks in which names are looked up again.
    var networkNumber: UInt64 = 1
    /// Sites whose names are to be looked up, and when.
    var lookupTimers = DeadlineQueue<Int32>()
    /// The lookups of names that are on their way, and the users whose requests need them.
    var pendingLookups: [Destination: UInt32] = [:]
    /// When they last differed from those before; `nil` since the first look.
    var pathsChanged: BootTime?
    var hasGivenUpWaiting = false
    /// The interfaces by which something was answered since they came.
    var provedInterfaces: Set<UInt32> = []
    var histories: [UInt32: PathHistory] = [:]
    /// Since when requests wait for a path that stays up longer.
    var heldBack: [Int32: BootTime] = [:]
    var evidence = PathEvidence()
    /// New requests cannot be stored.
    var isDegraded = false
    /// Nothing can be stored, not even in the space that is kept for ends and changes.
    var isStuck = false
    var isStopped = false
    var degradedSince: BootTime

    /// What each user with requests has of the slots.
    var shares: [UInt32: OwnerShare] = [:]
    /// Counts the starts, to know whose turn was longest ago.
    var starts: UInt64 = 0
    /// When somebody who waits for a slot is given one of another's.
    var yieldAt: BootTime?
    /// Until then the last free slot is not for those who have half of all.
    var sharedUntil: BootTime
    /// Starts keep their distance until then.
    var spacedUntil: BootTime
    var nextStart: BootTime
    /// When admission goes on, if it stopped for the distance.
    var admitAt: BootTime?
    /// A portion was cut: go on at once.
    var hasMore = false

    /// When ``QueueInput/wake`` is wanted; in the past if at once.
    package private(set) var deadline: BootTime?

    var turn = TurnOutput()
    var pending = PendingWrites()

    /// - Parameters:
    ///   - firstID: The number of the first request that will be added: larger than any ever given.
    ///   - seed: Of all that is left to chance.
    package init(_ policy: QueuePolicy = QueuePolicy(), firstID: Int64 = 1, seed: UInt64, at moment: Instant) {
        self.policy = policy
        self.seed = seed
        random = SplitMix64(seed: seed)
        self.moment = moment
        started = moment.boot
        nextID = firstID
        degradedSince = moment.boot
        spacedUntil = moment.boot
        nextStart = moment.boot
        sharedUntil = moment.boot
        deadline = nextDeadline
    }

    var now: BootTime { moment.boot }
    var epoch: UInt64 { paths?.epoch ?? 0 }

    /// How many requests are not over.
    package var count: Int { aliveCount }

    /// How many of a client's are not over; for root, of everybody's.
    package func count(of client: QueueInput.Client) -> Int {
        client.user == 0 ? aliveCount : owners[client.user]?.count ?? 0
    }

    /// Bytes of requests that are not over and of uploads: an owner's, and everybody's.
    package func bytes(of owner: UInt32) -> (owner: Int64, all: Int64) {
        let account = owners[owner]
        return ((account?.bytes ?? 0) + (account?.reserved ?? 0), aliveBytes + reservedBytes)
    }

    /// Counts the bytes of an owner's uploads, before a request uses them.
    package mutating func reserve(_ bytes: Int64, for owner: UInt32) {
        var account = owners[owner] ?? OwnerAccount()
        account.reserved += bytes
        owners[owner] = account.isIdle ? nil : account
        reservedBytes += bytes
    }

    /// Of the last ``PathSet``; 0 before the first.
    package var publishedEpoch: UInt64 { epoch }

    /// How many attempts have begun and not ended.
    package var runningCount: Int { running.count }

    /// Takes one command in.
    ///
    /// - Parameter moment: Never earlier than that of the command before.
    /// - Returns: What is to be done, in this order.
    package mutating func handle(_ command: QueueInput, at moment: Instant) -> [QueueAction] {
        handle([command], at: moment)
    }

    /// Takes commands in that came at once, in their order: what starts, and what is written, follows from all of them.
    ///
    /// - Parameter moment: Never earlier than that of the commands before.
    /// - Returns: What is to be done, in this order.
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

    /// Many that expire in the same second cost one waking.
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
            // What is confirmed is on the disk; what cannot get there is not begun.
            if !isStuck { return executeChange(command) }
            turn.actions.append(.reply(ticket, .refused(.storage)))
        case .paths(let set): pathsChanged(to: set)
        case .targetPath(let destination, let path): targetPathChanged(destination, path)
        case .routes(let routes): routesChanged(routes)
        case .attemptRouted(let id, let path, let route): attemptRouted(id, by: path, route)
        case .lookedUp(let destination, let route): lookedUp(destination, route)
        case .pathChecked(let interface, let works, let isProof): pathChecked(interface, works, isProof: isProof)
        case .restore(let requests, let breakers, let held): restore(requests, breakers, heldQueues: held)
        case .committed(let number): committed(number)
        case .notCommitted(let number): notCommitted(number)
        case .postponed(let number): postponed(number)
        case .degraded(let isDegraded): setDegraded(isDegraded)
        case .requestSent(let id): markSent(id)
        case .answering(let id): if let index = place(of: id) { answered(index) }
        case .interceptors(let names): setInterceptors(names)
        case .prepared(let id, let isReady): prepared(id, isReady)
        case .answerHeld(let id): answerHeld(id)
        case .judged(let id, let verdict): judged(id, verdict)
        case .ended(let id, let end): attemptEnded(id, end)
        case .stop: stop()
        case .wake: break
        }
    }

    /// A client's change of what is there.
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

/// How much a user's requests take.
struct OwnerAccount: Sendable {
    /// Of those that are not over.
    var count = 0
    var bytes: Int64 = 0
    /// Bytes of uploads that no request uses yet.
    var reserved: Int64 = 0
    var heldSince: BootTime?
    /// When dead requests are forgotten, and their bytes with those of their answers.
    var dead = DeadlineQueue<Int32>()
    var deadBytes: Int64 = 0

    var isIdle: Bool { count == 0 && reserved == 0 && heldSince == nil && dead.isEmpty }
}

/// The requests that ended last, and their owners: only these learn that there was one.
struct RecentRequests: Sendable {
    private let capacity: Int
    private var order: [Int64] = []
    private var oldest = 0
    private var owners: [Int64: UInt32] = [:]

    init(capacity: Int) { self.capacity = capacity }

    /// `nil` if it is not among them.
    func owner(of id: RequestID) -> UInt32? { owners[id.rawValue] }

    mutating func insert(_ id: RequestID, of owner: UInt32) {
        guard owners.updateValue(owner, forKey: id.rawValue) == nil else { return }
        if order.count < capacity {
            order.append(id.rawValue)
        } else {
            owners[order[oldest]] = nil
            order[oldest] = id.rawValue
            oldest = (oldest + 1) % capacity
        }
    }
}
