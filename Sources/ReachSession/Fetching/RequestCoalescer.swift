/// Makes one request of those that ask for the same, as AFImageDownloader does, and runs no more than a few at a time.
///
/// Whoever asks gets a receipt. The answer goes to all who wait; who gives a receipt back waits no more, and a request
/// that has not started is dropped when nobody waits. One that runs goes on, since its answer can be kept.
///
/// - Parameters:
///   - Key: What makes requests the same: the URL, or more.
///   - Waiter: Whoever waits: a block, a continuation.
public struct RequestCoalescer<Key: Hashable & Sendable, Waiter> {
    /// What one of those who ask holds. It stays good until the answer, and is of no use afterwards.
    public struct Receipt: Hashable, Sendable {
        /// What was asked for.
        public let key: Key
        /// No other receipt has it.
        public let number: UInt64
    }

    /// One request, which runs or waits for its turn. Answers of one that was dropped do not reach those who asked
    /// again.
    public struct Request: Hashable, Sendable {
        /// What was asked for.
        public let key: Key
        /// No other request has it.
        public let number: UInt64
    }

    /// What asking comes to.
    public enum Outcome: Hashable, Sendable {
        /// Start this request.
        case start(Request)
        /// It starts when others have ended.
        case queued(Request)
        /// Somebody asked for the same: there is one answer for both.
        case joined(Request)
    }

    /// Which of those that wait for their turn starts first.
    public enum Order: String, Hashable, Sendable, CaseIterable {
        /// Who came first: AFNetworking's default.
        case firstInFirstOut = "fifo"
        /// Who came last, for what a user looks at now.
        case lastInFirstOut = "lifo"
    }

    fileprivate struct Entry {
        let request: Request
        var isRunning: Bool
        var waiters: [(number: UInt64, waiter: Waiter)]
    }

    /// Requests that run at a time: 4 in AFNetworking.
    public let limit: Int
    /// Which starts first.
    public let order: Order
    /// How many run.
    public private(set) var runningCount = 0

    private var entries: [Key: Entry] = [:]
    private var queue: [Request] = []
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - limit: At least one.
    ///   - order: Which of those that wait starts first.
    public init(limit: Int = 4, order: Order = .firstInFirstOut) {
        self.limit = max(limit, 1)
        self.order = order
    }

    /// How many wait for their turn.
    public var queuedCount: Int { queue.count }

    /// Somebody asks.
    public mutating func ask(_ key: Key, _ waiter: Waiter) -> (receipt: Receipt, outcome: Outcome) {
        let receipt = Receipt(key: key, number: nextNumber())
        if entries[key] != nil {
            entries[key]?.waiters.append((receipt.number, waiter))
            return (receipt, .joined(entries[key]?.request ?? Request(key: key, number: 0)))
        }
        let request = Request(key: key, number: nextNumber())
        let isRunning = runningCount < limit
        entries[key] = Entry(request: request, isRunning: isRunning, waiters: [(receipt.number, waiter)])
        if isRunning {
            runningCount += 1
            return (receipt, .start(request))
        }
        queue.insert(request, at: order == .firstInFirstOut ? queue.endIndex : queue.startIndex)
        return (receipt, .queued(request))
    }

    /// Somebody waits no more.
    ///
    /// - Returns: Who it was, to be told of the cancellation; `nil` where the answer came before. `dropped` is the
    ///   request that now will not start, since nobody else waits for it.
    public mutating func cancel(_ receipt: Receipt) -> (waiter: Waiter, dropped: Request?)? {
        guard var entry = entries[receipt.key],
            let index = entry.waiters.firstIndex(where: { $0.number == receipt.number })
        else { return nil }
        let waiter = entry.waiters.remove(at: index).waiter
        guard entry.waiters.isEmpty, !entry.isRunning else {
            entries[receipt.key] = entry
            return (waiter, nil)
        }
        entries[receipt.key] = nil
        queue.removeAll { $0 == entry.request }
        return (waiter, entry.request)
    }

    /// A request that was started has its answer, or its error.
    ///
    /// - Returns: All who wait for it, in the order in which they asked, and the request to start now.
    public mutating func finish(_ request: Request) -> (waiters: [Waiter], start: Request?) {
        guard let entry = entries[request.key], entry.request == request, entry.isRunning else { return ([], nil) }
        entries[request.key] = nil
        runningCount -= 1
        let waiters = entry.waiters.map(\.waiter)
        guard runningCount < limit, !queue.isEmpty else { return (waiters, nil) }
        let next = queue.removeFirst()
        entries[next.key]?.isRunning = true
        runningCount += 1
        return (waiters, next)
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}

extension RequestCoalescer: Sendable where Waiter: Sendable {}
extension RequestCoalescer.Entry: Sendable where Waiter: Sendable {}
