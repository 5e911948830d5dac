internal import ReachCore

/// The timeouts of a transfer, and which one comes next: a value; the caller has the clock.
struct TransferTimers: Equatable {
    enum Expiry: Equatable {
        case total
        /// All addresses together.
        case connect
        /// The wait before the next address is tried, too.
        case address
        case idle
        /// Of the body of a redirect.
        case redirect
        /// No limit: the kernel is asked whether anything of the request was acknowledged.
        case look
    }

    private let timeouts: TransferTimeouts
    private let total: BootTime?
    private var connect: BootTime?
    private var address: BootTime?
    private var idle: BootTime?
    private var redirect: BootTime?
    private var look: BootTime?
    private var movedBefore: UInt64 = 0
    /// Whether the wait for the next address was extended.
    private var isExtended = false

    init(_ timeouts: TransferTimeouts, startedAt now: BootTime) {
        self.timeouts = timeouts
        total = timeouts.total.map { now + $0 }
    }

    /// A hop begins: its name is looked up, and connections are tried.
    mutating func beginConnecting(at now: BootTime) {
        connect = timeouts.connect.map { now + $0 }
        address = nil
        idle = nil
        redirect = nil
        look = nil
    }

    /// The head of a redirect has arrived, whose body need not.
    mutating func beginRedirect(at now: BootTime) {
        if redirect == nil { redirect = now + TransferTimeouts.redirectBody }
    }

    /// An attempt to one address begins.
    ///
    /// - Parameter othersAfter: The number of addresses that are still to be tried.
    mutating func beginAddress(at now: BootTime, othersAfter: Int) {
        address = othersAfter > 0 ? now + TransferTimeouts.nextAddressDelay : nil
        isExtended = false
    }

    /// Waits longer for an address that is connected and not ready for the request yet: it and those that are still to
    /// be tried have equal shares of the time left.
    ///
    /// - Returns: `false` if it had its share.
    mutating func extendAddress(at now: BootTime, othersAfter: Int) -> Bool {
        guard !isExtended, let end = [connect, total].compactMap({ $0 }).min() else { return false }
        isExtended = true
        address = now + .nanoseconds(max(0, (end - now).nanoseconds) / Int64(othersAfter + 1))
        return true
    }

    /// The request is sent.
    ///
    /// - Parameter isReused: Whether its connection was used before, so that a router may have forgotten it since.
    mutating func beginExchange(at now: BootTime, moved: UInt64, isReused: Bool = false) {
        connect = nil
        address = nil
        look = isReused ? now + ConnectionSilence.firstLook : nil
        beginIdlePeriod(at: now, moved: moved)
    }

    /// The time left for all addresses; `nil` without a limit.
    func timeToConnect(at now: BootTime) -> Duration? {
        [connect, total].compactMap { $0 }.min().map { .nanoseconds(max(0, ($0 - now).nanoseconds)) }
    }

    mutating func lookAgain(at now: BootTime) { look = now + ConnectionSilence.nextLook }

    var next: BootTime? {
        let limits = Self.earlier(Self.earlier(total, connect), Self.earlier(Self.earlier(address, idle), redirect))
        return Self.earlier(limits, look)
    }

    private static func earlier(_ one: BootTime?, _ other: BootTime?) -> BootTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// The timeout that has passed, if any. Where enough moved in an idle period, the next period begins.
    ///
    /// - Parameter moved: Bytes of the attempt so far, in both directions.
    mutating func expired(at now: BootTime, moved: UInt64) -> Expiry? {
        if let total, total <= now { return .total }
        if let connect, connect <= now { return .connect }
        if let address, address <= now { return .address }
        if let redirect, redirect <= now { return .redirect }
        if let look, look <= now {
            self.look = nil
            return .look
        }
        guard let idle, idle <= now else { return nil }
        if moved - movedBefore < max(1, timeouts.idleBytes) { return .idle }
        beginIdlePeriod(at: now, moved: moved)
        return nil
    }

    /// Begins an idle period; also after a pause of our own, which is not the server's silence.
    mutating func beginIdlePeriod(at now: BootTime, moved: UInt64) {
        idle = timeouts.idle.map { now + $0 }
        movedBefore = moved
    }
}
