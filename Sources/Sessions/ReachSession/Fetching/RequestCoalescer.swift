/// Joins equal requests into one, as AFImageDownloader does, and limits how many run at a time.
///
/// Each caller gets a receipt. The answer goes to all waiting callers. A caller that cancels its receipt stops waiting,
/// and a request for which no caller waits is dropped.
///
/// - Parameters:
///   - Key: What makes requests equal: the URL, or more.
///   - Waiter: A waiting caller: a block, a continuation.
package struct RequestCoalescer<Key: Hashable & Sendable, Waiter> {
    /// One caller's claim to an answer. It is valid until the answer arrives.
    package struct Receipt: Hashable, Sendable {
        /// The key of the request.
        package let key: Key
        /// A number unique among receipts.
        package let number: UInt64
    }

    /// A request that runs or is queued. The answer of a dropped request does not reach callers that asked for the same
    /// key later.
    package struct Request: Hashable, Sendable {
        /// The key of the request.
        package let key: Key
        /// A number unique among requests.
        package let number: UInt64
    }

    /// What the caller has to do after asking.
    package enum Outcome: Hashable, Sendable {
        /// Start this request.
        case start(Request)
        /// The request starts when others have finished.
        case queued(Request)
        /// An equal request exists: both callers share its answer.
        case joined(Request)

        var request: Request {
            switch self {
            case .start(let request), .queued(let request), .joined(let request): request
            }
        }
    }

    /// The order in which queued requests start.
    package typealias Order = FetchOrder

    fileprivate struct Entry {
        let request: Request
        var isRunning: Bool
        var waiters: [(number: UInt64, waiter: Waiter)]
    }

    /// The maximum number of running requests: 4 in AFNetworking.
    package let limit: Int
    /// The order in which queued requests start. A change concerns requests that are queued later.
    package var order: Order
    /// The number of running requests.
    package private(set) var runningCount = 0

    private var entries: [Key: Entry] = [:]
    private var queue: [Request] = []
    private var lastNumber: UInt64 = 0

    /// Creates a coalescer.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of running requests, at least one.
    ///   - order: The order in which queued requests start.
    package init(limit: Int = 4, order: Order = .firstInFirstOut) {
        self.limit = max(limit, 1)
        self.order = order
    }

    /// The number of queued requests.
    package var queuedCount: Int { queue.count }

    /// Adds a caller for a key.
    package mutating func ask(_ key: Key, _ waiter: Waiter) -> (receipt: Receipt, outcome: Outcome) {
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

    /// Adds a caller to the request of a receipt.
    ///
    /// - Returns: The caller's receipt; `nil` where the request is over, or the receipt was cancelled.
    package mutating func add(_ waiter: Waiter, to receipt: Receipt) -> Receipt? {
        guard entries[receipt.key]?.waiters.contains(where: { $0.number == receipt.number }) == true else { return nil }
        let added = Receipt(key: receipt.key, number: nextNumber())
        entries[receipt.key]?.waiters.append((added.number, waiter))
        return added
    }

    /// The request of a receipt.
    ///
    /// - Returns: `nil` where the request is over, or the receipt was cancelled.
    package func request(of receipt: Receipt) -> Request? {
        guard let entry = entries[receipt.key], entry.waiters.contains(where: { $0.number == receipt.number }) else {
            return nil
        }
        return entry.request
    }

    /// What the caller has to do after a cancellation.
    package struct Cancellation {
        /// The caller that has to be notified.
        package let waiter: Waiter
        /// The request to stop, or that will not start, since no other caller waits for it.
        package let dropped: Request?
        /// The request to start in place of one that ran.
        package let start: Request?
    }

    /// Removes a caller.
    ///
    /// - Returns: What to do; `nil` where the answer came before.
    package mutating func cancel(_ receipt: Receipt) -> Cancellation? {
        guard var entry = entries[receipt.key],
            let index = entry.waiters.firstIndex(where: { $0.number == receipt.number })
        else { return nil }
        let waiter = entry.waiters.remove(at: index).waiter
        guard entry.waiters.isEmpty else {
            entries[receipt.key] = entry
            return Cancellation(waiter: waiter, dropped: nil, start: nil)
        }
        entries[receipt.key] = nil
        if entry.isRunning { runningCount -= 1 } else { queue.removeAll { $0 == entry.request } }
        return Cancellation(waiter: waiter, dropped: entry.request, start: next())
    }

    /// Whether a request was started, and neither finished nor dropped.
    package func isRunning(_ request: Request) -> Bool {
        entries[request.key].map { $0.request == request && $0.isRunning } ?? false
    }

    /// Finishes a request that was started, after its answer or error arrived.
    ///
    /// - Returns: All callers that wait for it, in the order in which they asked, and the request to start now.
    package mutating func finish(_ request: Request) -> (waiters: [Waiter], start: Request?) {
        guard let entry = entries[request.key], entry.request == request, entry.isRunning else { return ([], nil) }
        entries[request.key] = nil
        runningCount -= 1
        return (entry.waiters.map(\.waiter), next())
    }

    /// Takes the next request from the queue, if one more may run.
    private mutating func next() -> Request? {
        guard runningCount < limit, !queue.isEmpty else { return nil }
        let next = queue.removeFirst()
        entries[next.key]?.isRunning = true
        runningCount += 1
        return next
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}

/// The order in which queued requests start.
public enum FetchOrder: String, Hashable, Sendable, CaseIterable {
    /// The oldest first: AFNetworking's default.
    case firstInFirstOut = "fifo"
    /// The newest first, for what the user sees at present.
    case lastInFirstOut = "lifo"
}

extension RequestCoalescer: Sendable where Waiter: Sendable {}
extension RequestCoalescer.Entry: Sendable where Waiter: Sendable {}
extension RequestCoalescer.Cancellation: Sendable where Waiter: Sendable {}
