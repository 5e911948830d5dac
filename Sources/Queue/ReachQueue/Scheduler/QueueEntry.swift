internal import ReachCore

typealias Slot = SlabIndex<QueueEntry>

/// What the scheduler holds of a request: numbers, since there may be a million requests. URL, headers and body stay in
/// the store until the request starts.
struct QueueEntry: Sendable {
    /// The structure that it is in.
    enum Place: UInt8, Sendable {
        /// Its insertion is not committed.
        case storing
        /// In the lines of requests that could start.
        case ready
        /// In its group's waits after a failure of the network.
        case networkWait
        /// In its group's waits after any other failure.
        case destinationWait
        /// In none: held, or behind another request of its order.
        case parked
        /// Its interceptor prepares its next attempt.
        case preparing
        case running
        /// Its interceptor judges the answer of its last attempt.
        case judged
        case dead
        /// Forgotten: its slot is free for another request.
        case free

        /// Whether it stands in a line or among the waits of its group.
        var isPlaced: Bool {
            switch self {
            case .ready, .networkWait, .destinationWait: true
            case .storing, .parked, .preparing, .running, .judged, .dead, .free: false
            }
        }
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
        /// When it is stored, the requests before it in its order are cancelled.
        static let supersedes = Flags(rawValue: 1 << 7)
        /// It does not cancel a request that is running.
        static let sparesRunning = Flags(rawValue: 1 << 8)
        /// An event said that it waits, so another one says when it can start.
        static let reportedWaiting = Flags(rawValue: 1 << 9)
        /// Cancelled before it was stored.
        static let cancelled = Flags(rawValue: 1 << 10)
        /// The request that it depends on died before it was stored.
        static let orphaned = Flags(rawValue: 1 << 11)
        /// It is ready, and its interceptor has prepared it.
        static let prepared = Flags(rawValue: 1 << 12)
        /// It waits for a path that stays up long enough for its body.
        static let awaitsWindow = Flags(rawValue: 1 << 13)
        /// Its upload continues where the last attempt was cut off.
        static let resumable = Flags(rawValue: 1 << 14)
        /// Its body is larger than what is left of a budget for metered links.
        static let awaitsBudget = Flags(rawValue: 1 << 15)
    }

    let id: RequestID
    var group: GroupIndex
    var destination: DestinationIndex
    /// The order that it belongs to. The order of the fields keeps an entry at 120 bytes.
    var chain: SlabIndex<OrderChains.Chain>?
    let priority: RequestPriority
    var startClass: StartClass = .fresh
    var place: Place = .storing
    let owner: UInt32
    var flags: Flags = []
    var reason: DeathReason?
    /// Attempts that the path's loss cut off when the server may have received the request.
    var losses: UInt8 = 0
    /// Failures of the destination.
    var attempts: Int32 = 0
    var networkFailures: Int32 = 0
    /// How the last attempt failed; nothing if an earlier run made it.
    var failure = AttemptFailure()
    /// All attempts, however they ended: the number of the next one.
    var tries: Int32 = 0
    /// `Int32.max`: any number.
    var maximumAttempts: Int32 = .max
    var bytes: Int64 = 0
    /// The bytes of the answer that it died of.
    var answerBytes: Int64 = 0
    var created: BootTime
    var deadline: BootTime
    var notBefore = BootTime(nanoseconds: .min)
    /// The time since which it is in its place.
    var since: BootTime
    var heldSince: BootTime
    /// The time since which it waits for anything: since it was added, or since its last attempt ended, also in an
    /// earlier run.
    var waitsSince: BootTime

    /// The bytes that it occupies while it is dead.
    var deadBytes: Int64 { bytes + answerBytes }
}

/// Requests of one class are in the same line: new requests do not wait for a backlog, nor a backlog for them.
enum StartClass: UInt8, Sendable, CaseIterable {
    /// Added while its condition was met, and never tried.
    case fresh = 0
    /// Waited for the network, or comes from an earlier run.
    case backlog = 1
    /// Tried before.
    case retry = 2
}

/// A set of priorities.
struct PrioritySet: Hashable, Sendable {
    private var bits: UInt8 = 0

    var isEmpty: Bool { bits == 0 }

    mutating func insert(_ priority: RequestPriority) { bits |= 1 << priority.rawValue }

    mutating func remove(_ priority: RequestPriority) { bits &= ~(1 << priority.rawValue) }

    func forEach(_ body: (RequestPriority) -> Void) {
        for priority in RequestPriority.allCases where bits & 1 << priority.rawValue != 0 { body(priority) }
    }

    /// The priority of the highest rank; of two, the more urgent one.
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
