internal import ReachCore

/// What the scheduler holds of a request: numbers, since there may be a hundred thousand. URL, headers and body stay in
/// the store until the request starts.
struct QueueEntry: Sendable {
    /// Which of the structures below it is in.
    enum Place: UInt8, Sendable {
        /// Its insertion is not committed.
        case storing
        /// In the lists of what could start.
        case ready
        /// In its group's waits after a failure of the network.
        case networkWait
        /// In its group's waits after any other failure.
        case destinationWait
        /// In none: held, or behind another one of its order key.
        case parked
        /// Its interceptor prepares its next attempt.
        case preparing
        case running
        /// Its interceptor judges the answer of its last attempt.
        case judged
        case dead
        /// Forgotten: its number is free for another.
        case free
    }

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        static let held = Flags(rawValue: 1 << 0)
        static let repeatable = Flags(rawValue: 1 << 1)
        static let strict = Flags(rawValue: 1 << 2)
        static let dependsOnPrevious = Flags(rawValue: 1 << 3)
        /// Its time to live ended while it was being stored.
        static let expired = Flags(rawValue: 1 << 4)
        static let networkFailure = Flags(rawValue: 1 << 5)
        static let awaitsClock = Flags(rawValue: 1 << 6)
        /// When it is stored, those before it in its chain are cancelled...
        static let supersedes = Flags(rawValue: 1 << 7)
        /// ...but for one that is running.
        static let sparesRunning = Flags(rawValue: 1 << 8)
        /// An event said that it waits, so another one says when it can start.
        static let reportedWaiting = Flags(rawValue: 1 << 9)
        /// Cancelled before it was stored.
        static let cancelled = Flags(rawValue: 1 << 10)
        /// The one it depends on died before it was stored.
        static let orphaned = Flags(rawValue: 1 << 11)
        /// It is ready, and its interceptor has prepared it.
        static let prepared = Flags(rawValue: 1 << 12)
        /// It waits for a path that stays up long enough for its body.
        static let awaitsWindow = Flags(rawValue: 1 << 13)
        /// Its upload continues where the last attempt was cut off.
        static let resumable = Flags(rawValue: 1 << 14)
    }

    let id: RequestID
    var group: Int32
    var destination: Int32
    /// The order it belongs to, or -1.
    var chain: Int32 = -1
    let owner: UInt32
    let priority: RequestPriority
    var startClass: StartClass = .fresh
    var place: Place = .storing
    var flags: Flags = []
    var reason: DeathReason?
    /// Failures of the destination.
    var attempts: Int32 = 0
    var networkFailures: Int32 = 0
    /// Attempts that the path's loss cut off when the server may have received the request.
    var losses: UInt8 = 0
    /// The status that the last attempt failed with; 0 if it brought none, or an earlier run made it.
    var failureStatus: Int16 = 0
    /// All attempts, whatever became of them: the number of the next one.
    var tries: Int32 = 0
    /// `Int32.max`: any number.
    var maximumAttempts: Int32 = .max
    var bytes: Int64 = 0
    /// Of the answer that it died of.
    var answerBytes: Int64 = 0
    var created: BootTime
    var deadline: BootTime
    var notBefore = BootTime(nanoseconds: .min)
    /// Since when it is where it is.
    var since: BootTime
    var heldSince: BootTime
    /// Since when it waits, whatever for: since it was added, or since its last attempt ended, also in an earlier run.
    var waitsSince: BootTime

    /// What it takes while it is dead.
    var deadBytes: Int64 { bytes + answerBytes }
}

/// What stands in the same line: new requests are not made to wait for a backlog, nor the other way round.
enum StartClass: UInt8, Sendable, CaseIterable {
    /// Came while its condition was met, and was never tried.
    case fresh = 0
    /// Waited for the network, or is from an earlier run.
    case backlog = 1
    /// Was tried before.
    case retry = 2
}

/// Some of the priorities.
struct PrioritySet: Hashable, Sendable {
    private var bits: UInt8 = 0

    var isEmpty: Bool { bits == 0 }

    mutating func insert(_ priority: RequestPriority) { bits |= 1 << priority.rawValue }

    mutating func remove(_ priority: RequestPriority) { bits &= ~(1 << priority.rawValue) }

    func forEach(_ body: (RequestPriority) -> Void) {
        for priority in RequestPriority.allCases where bits & 1 << priority.rawValue != 0 { body(priority) }
    }

    /// The one of the highest rank; of two, the more urgent one.
    func first(by rank: (RequestPriority) -> Int) -> RequestPriority? {
        var best: (priority: RequestPriority, rank: Int)?
        forEach { priority in
            let rank = rank(priority)
            if best.map({ rank > $0.rank }) ?? true { best = (priority, rank) }
        }
        return best?.priority
    }
}

/// Priority and class: one of twelve lines.
struct StartKind: Hashable, Sendable {
    static let count = 12

    let rawValue: UInt8

    init(_ priority: RequestPriority, _ startClass: StartClass) {
        rawValue = priority.rawValue * 3 + startClass.rawValue
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    var priority: RequestPriority { RequestPriority(rawValue: rawValue / 3) ?? .normal }
    var isRetry: Bool { rawValue % 3 == StartClass.retry.rawValue }

    static let all = (0..<UInt8(count)).map(StartKind.init(rawValue:))
}
