internal import ReachCore

/// The running attempts, and the slots that they occupy: of all, of the channel (interface), and of the user.
///
/// Invariants: the running attempts of a channel and of a user are those in the list, which has the oldest first; an
/// interface has one channel, while it is the path of a group or of an attempt. An attempt whose answer an interceptor
/// judges occupies no slot.
struct RunningAttempts: Sendable {
    var fixed: FixedPolicy
    private var attempts: [RunningAttempt] = []
    private var judged: [Slot: RunningAttempt] = [:]
    private var channels = Slab<Channel>()
    private var shares: [UInt32: OwnerShare] = [:]
    /// The number of starts so far. It orders the users by their latest start.
    private var starts: UInt64 = 0
    /// The time until which a user with half of all slots does not get the last free one.
    private(set) var sharedUntil: BootTime
    /// The process ends: nothing starts any more.
    var isStopped = false

    init(_ fixed: FixedPolicy, at now: BootTime) {
        self.fixed = fixed
        sharedUntil = now
    }

    private var policy: QueuePolicy { fixed.policy }

    var isEmpty: Bool { attempts.isEmpty }
    var count: Int { attempts.count }
    var indices: Range<Int> { attempts.indices }
    var ids: [RequestID] { attempts.map(\.id) }
    /// Whether all slots are occupied.
    var isFull: Bool { attempts.count >= policy.slots.all }
    /// The number of free slots.
    var room: Int { policy.slots.all - attempts.count }

    subscript(index: Int) -> RunningAttempt {
        _read { yield attempts[index] }
        _modify { yield &attempts[index] }
    }

    func index(of id: RequestID) -> Int? {
        for index in attempts.indices where attempts[index].id == id { return index }
        return nil
    }

    func index(at slot: Slot) -> Int? { attempts.firstIndex { $0.slot == slot } }

    func first(at slot: Slot) -> RunningAttempt? { attempts.first { $0.slot == slot } }

    /// An attempt that waits for the result of a check of its path.
    func indexJudged(by interface: UInt32) -> Int? {
        attempts.firstIndex { $0.phase == .judging && $0.path.interfaceIndex == interface }
    }

    /// The times at which attempts end that lost their paths.
    var lingerEnds: [(id: RequestID, end: BootTime)] {
        attempts.compactMap { attempt in attempt.lingerUntil.map { (attempt.id, $0) } }
    }

    /// The next of these times.
    var earliestLingerEnd: BootTime? {
        var earliest: BootTime?
        for index in attempts.indices {
            if let end = attempts[index].lingerUntil, earliest.map({ end < $0 }) ?? true { earliest = end }
        }
        return earliest
    }

    // MARK: Slots

    mutating func begin(_ attempt: RunningAttempt) {
        starts += 1
        shares[attempt.owner, default: OwnerShare()].lastStart = starts
        occupy(attempt)
    }

    private mutating func occupy(_ attempt: RunningAttempt) {
        shares[attempt.owner, default: OwnerShare()].running += 1
        channels[attempt.channel].running += 1
        attempts.append(attempt)
    }

    mutating func end(_ index: Int) -> RunningAttempt {
        let attempt = attempts.remove(at: index)
        shares[attempt.owner]?.running -= 1
        channels[attempt.channel].running -= 1
        freeIfUnused(attempt.channel)
        return attempt
    }

    // MARK: Attempts whose answer is judged

    var judgedSlots: [Slot] { judged.keys.sorted() }

    mutating func setJudged(_ attempt: RunningAttempt) { judged[attempt.slot] = attempt }

    mutating func endJudgement(_ slot: Slot) -> RunningAttempt? { judged.removeValue(forKey: slot) }

    /// Counts a judged attempt again, until its end is handled in this turn or, after a check of the path, in a later
    /// one.
    mutating func regain(_ judged: RunningAttempt) {
        var attempt = judged
        attempt.channel = channel(for: attempt.path)
        occupy(attempt)
    }

    // MARK: Channels

    /// All channels, also those that are free.
    var allChannels: some Sequence<ChannelIndex> { channels.indices }
    var channelCapacity: Int { channels.capacity }

    /// The channel of a path's interface.
    mutating func channel(for path: QueuePath) -> ChannelIndex {
        let limit = path.traits.isCarried(by: .wwan) ? policy.slots.modem : policy.slots.interface
        for channel in channels.indices
        where channels[channel].isUsed && channels[channel].interfaceIndex == path.interfaceIndex {
            channels[channel].limit = limit
            return channel
        }
        return channels.insert(Channel(interfaceIndex: path.interfaceIndex, limit: limit))
    }

    /// A group moves from one channel to another.
    mutating func moveGroup(from old: ChannelIndex?, to new: ChannelIndex?) {
        if let new { channels[new].groups += 1 }
        guard let old else { return }
        channels[old].groups -= 1
        freeIfUnused(old)
    }

    private mutating func freeIfUnused(_ channel: ChannelIndex) {
        if !channels[channel].isUsed { channels.remove(channel) }
    }

    func isFull(_ channel: ChannelIndex) -> Bool { channels[channel].running >= channels[channel].limit }

    /// Whether the channel has a slot for the user.
    ///
    /// After a user had to wait, the last slot stays free for a while for those who have less: otherwise each of a row
    /// of short requests would wait.
    func hasRoom(_ channel: ChannelIndex, for user: UInt32, at now: BootTime) -> Bool {
        let (running, limit) = (channels[channel].running, channels[channel].limit)
        guard running < limit else { return false }
        guard now < sharedUntil else { return true }
        if room <= 1, (shares[user]?.running ?? 0) * 2 >= policy.slots.all { return false }
        guard running + 1 >= limit, limit > 1 else { return true }
        return attempts.count { $0.channel == channel && $0.owner == user } * 2 < limit
    }

    // MARK: Users

    /// The users with slots, or with turns that count.
    var users: Dictionary<UInt32, OwnerShare>.Keys { shares.keys }

    func share(of user: UInt32) -> OwnerShare { shares[user] ?? OwnerShare() }

    mutating func setShare(_ share: OwnerShare, of user: UInt32) { shares[user] = share }

    /// The user has no unfinished request any more.
    mutating func forget(_ user: UInt32) { shares[user] = nil }

    /// - Parameter isStarved: Whether the user could start a request but for slots that others have beyond their
    ///   shares.
    /// - Returns: The time since which that is so.
    mutating func setStarved(_ isStarved: Bool, _ user: UInt32, at now: BootTime) -> BootTime? {
        guard isStarved else {
            shares[user]?.starvedSince = nil
            return nil
        }
        let since = shares[user]?.starvedSince ?? now
        shares[user, default: OwnerShare()].starvedSince = since
        return since
    }

    /// Keeps the last free slot for users who have less, since one had to wait.
    mutating func keepLastSlot(until time: BootTime) { sharedUntil = time }

    /// The numbers of attempts of each user, in one channel or in all.
    func counts(in channel: ChannelIndex?) -> [UInt32: Int] {
        var counts: [UInt32: Int] = [:]
        for attempt in attempts where channel == nil || attempt.channel == channel {
            counts[attempt.owner, default: 0] += 1
        }
        return counts
    }
}

/// The slots of one user, and the turns of that user's own requests: a priority of one user means nothing to the
/// requests of another.
struct OwnerShare: Sendable {
    fileprivate(set) var running = 0
    /// The number of the last start.
    fileprivate(set) var lastStart: UInt64 = 0
    /// The time since which a request of this user could start but for slots that others have beyond their shares.
    fileprivate var starvedSince: BootTime?
    // One for each priority, in place: a share is copied for each start.
    private var credits: InlineArray<4, Int> = InlineArray(repeating: 0)
    private var lastWasNew: InlineArray<4, Bool> = InlineArray(repeating: false)
    private var lastWasRetry: InlineArray<4, Bool> = InlineArray(repeating: true)

    /// Whether its turn is before another's: the user with fewer slots gets the next one, which makes shares max-min
    /// fair; of two with equally many, the one who waited longer.
    func precedes(_ other: OwnerShare) -> Bool { (running, lastStart) < (other.running, other.lastStart) }

    /// The priority whose turn it is, by smooth weighted turns: with each start every present priority's credit grows
    /// by its weight, and the chosen priority pays the sum of the weights (``pay(_:among:)``).
    func next(of priorities: PrioritySet) -> RequestPriority? {
        priorities.first { credits[Int($0.rawValue)] + $0.weight }
    }

    mutating func pay(_ chosen: RequestPriority, among present: PrioritySet) {
        present.forEach {
            credits[Int($0.rawValue)] += $0.weight
            credits[Int(chosen.rawValue)] -= $0.weight
        }
    }

    /// The order in which the classes of a priority are served. New requests and the backlog take turns (as in
    /// Postfix), and within the backlog retries and requests that were never tried.
    func order(of priority: RequestPriority) -> InlineArray<3, StartClass> {
        let old: (StartClass, StartClass) =
            lastWasRetry[Int(priority.rawValue)] ? (.backlog, .retry) : (.retry, .backlog)
        return lastWasNew[Int(priority.rawValue)] ? [old.0, old.1, .fresh] : [.fresh, old.0, old.1]
    }

    mutating func served(_ startClass: StartClass, of priority: RequestPriority) {
        lastWasNew[Int(priority.rawValue)] = startClass == .fresh
        if startClass != .fresh { lastWasRetry[Int(priority.rawValue)] = startClass == .retry }
    }
}
