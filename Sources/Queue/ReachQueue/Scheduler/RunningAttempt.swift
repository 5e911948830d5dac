internal import ReachCore

typealias ChannelIndex = SlabIndex<Channel>

/// An attempt that has begun. There are few at any time.
struct RunningAttempt: Sendable {
    enum Phase: Hashable, Sendable {
        /// The lease is being written: nothing is sent before it is safe.
        case leasing
        case sending
        /// It failed, and a check of the path decides whether the network or the destination is at fault.
        case judging
    }

    /// How the request ends if the path turns out to work.
    struct Suspicion: Sendable {
        /// The reason of its death; `nil` if it is done.
        let reason: DeathReason?
        let result: RequestResult?
    }

    let slot: Slot
    let owner: UInt32
    let id: RequestID
    let number: Int
    /// The path it uses: that of its group, or its destination's own.
    var path: QueuePath
    var channel: ChannelIndex
    let epoch: UInt64
    /// The first to its destination after a resume.
    let isCanary: Bool
    /// Whether it started while nothing proved that its path works, and counts as a canary of its user.
    var isTrial: Bool
    var phase: Phase
    /// The first byte was sent, so the request may have arrived.
    var isSent = false
    /// Its path is lost, or no longer satisfies the condition: it is ended then if that lasts.
    var lingerUntil: BootTime?
    /// What its path lacks meanwhile.
    var lacking: Blocker = []
    /// While its interceptor judges it: whether there is an answer.
    var isAnswered = false
    /// How it failed, while that is judged.
    var trouble: AttemptTrouble?
    /// While it is judged: the answer, which may be that of another host.
    var suspicion: Suspicion?

    /// Its path in `set`, if it is still there with the address that the attempt uses.
    func path(in set: PathSet) -> QueuePath? {
        guard let present = set[interfaceIndex: path.interfaceIndex] else { return nil }
        let keepsAddress = path.sources.isEmpty || !path.sources.isDisjoint(with: present.sources)
        return keepsAddress ? present : nil
    }
}

/// An interface that attempts use.
struct Channel: Sendable {
    let interfaceIndex: UInt32
    var limit: Int
    var running = 0
    /// The number of groups whose path it is.
    var groups = 0

    var isUsed: Bool { running > 0 || groups > 0 }
}
