internal import ReachCore

/// An attempt that has begun. There are few at any time.
struct RunningAttempt: Sendable {
    enum Phase: Hashable, Sendable {
        /// The lease is being written: nothing is sent before it is safe.
        case leasing
        case sending
        /// It failed, and a check of the path is to say whose fault that is.
        case judging
    }

    /// How the request ends where the path turns out to work.
    struct Suspicion: Sendable {
        /// What it dies of; `nil` if it is done.
        let reason: DeathReason?
        let result: RequestResult?
    }

    let slot: Int32
    let id: RequestID
    let number: Int
    /// The path it goes by: the ordered one, or its destination's own.
    var path: QueuePath
    var channel: Int32
    let epoch: UInt64
    /// The first to its destination after a resume.
    let isCanary: Bool
    /// It started while nothing proved that its path works, and counts as a canary of its user.
    var isTrial: Bool
    var phase: Phase
    /// The first byte is out: it may have arrived.
    var isSent = false
    /// Its path is lost, or no longer satisfies: it is ended then if that lasts.
    var lingerUntil: BootTime?
    /// What its path lacks meanwhile.
    var lacking: Blocker = []
    /// While it is judged: somebody may have answered in the destination's place.
    var suspicion: Suspicion?

    /// Still on its path in `set`, sent from an address that is still there.
    func path(in set: PathSet) -> QueuePath? {
        guard let present = set[interfaceIndex: path.interfaceIndex] else { return nil }
        let keepsAddress = path.sources.isEmpty || !path.sources.isDisjoint(with: present.sources)
        return keepsAddress ? present : nil
    }
}

/// An interface that attempts go by.
struct Channel: Sendable {
    let interfaceIndex: UInt32
    var limit: Int
    var running = 0
    /// How many groups' path it is.
    var groups = 0
}
