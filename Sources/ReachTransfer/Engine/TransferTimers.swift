internal import ReachCore

/// Which of a transfer's timeouts comes next, and what it means: a value; the clock is the caller's.
struct TransferTimers: Equatable {
    enum Expiry: Equatable {
        case total
        /// All addresses together.
        case connect
        /// This address's share.
        case address
        case idle
    }

    private let timeouts: TransferTimeouts
    private let total: BootTime?
    private var connect: BootTime?
    private var address: BootTime?
    private var idle: BootTime?
    private var movedBefore: UInt64 = 0

    init(_ timeouts: TransferTimeouts, startedAt now: BootTime) {
        self.timeouts = timeouts
        total = timeouts.total.map { now + $0 }
    }

    /// A hop begins: its name is asked for, and connections are tried.
    mutating func beginConnecting(at now: BootTime) {
        connect = timeouts.connect.map { now + $0 }
        address = nil
        idle = nil
    }

    /// One address is tried, with so many others after it: each has an equal share of what is left.
    mutating func beginAddress(at now: BootTime, othersAfter: Int) {
        address = nil
        guard othersAfter > 0, let end = [connect, total].compactMap({ $0 }).min() else { return }
        address = now + .nanoseconds(max(0, (end - now).nanoseconds) / Int64(othersAfter + 1))
    }

    /// The request is on its way.
    mutating func beginExchange(at now: BootTime, moved: UInt64) {
        connect = nil
        address = nil
        beginIdlePeriod(at: now, moved: moved)
    }

    /// What is left for all addresses; `nil` without a limit.
    func timeToConnect(at now: BootTime) -> Duration? {
        [connect, total].compactMap { $0 }.min().map { .nanoseconds(max(0, ($0 - now).nanoseconds)) }
    }

    var next: BootTime? { Self.earlier(Self.earlier(total, connect), Self.earlier(address, idle)) }

    private static func earlier(_ one: BootTime?, _ other: BootTime?) -> BootTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// What has run out. Where it is the idle period and enough moved in it, the next one begins.
    ///
    /// - Parameter moved: Bytes in both directions since the beginning.
    mutating func expired(at now: BootTime, moved: UInt64) -> Expiry? {
        if let total, total <= now { return .total }
        if let connect, connect <= now { return .connect }
        if let address, address <= now { return .address }
        guard let idle, idle <= now else { return nil }
        if moved - movedBefore < max(1, timeouts.idleBytes) { return .idle }
        beginIdlePeriod(at: now, moved: moved)
        return nil
    }

    /// Time during which nothing could move, for reasons of ours, is not held against the server.
    mutating func beginIdlePeriod(at now: BootTime, moved: UInt64) {
        idle = timeouts.idle.map { now + $0 }
        movedBefore = moved
    }
}
