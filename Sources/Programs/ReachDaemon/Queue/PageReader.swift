internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime

/// Reads a page of requests in portions, each in a turn of the user who asked: however many rows are searched, other
/// users wait for one portion at most. It reads no more than an answer has room for.
final class PageReader {
    private let filter: QueueFilter
    private let user: UInt32
    private let ofAll: Bool
    private let engine: QueueEngine
    private let inTurn: (_ part: @escaping () -> Void) -> Void
    private let item: (RequestReport) -> RequestReport
    typealias Page = (items: [RequestReport], next: Int64?)

    private var items: [RequestReport] = []
    private var bytes = 0

    /// Rows read at a time, which take less than a millisecond of the store's time and of the loop's.
    private static let portion = 32
    private static let longestPage = 1000

    /// - Parameters:
    ///   - ofAll: Whether everybody's requests are wanted.
    ///   - inTurn: Runs a part of the work in a turn of the user, or not at all if the client has hung up.
    ///   - item: What the answer says of a request.
    init(
        _ filter: QueueFilter, for user: UInt32, ofAll: Bool, from engine: QueueEngine,
        inTurn: @escaping (_ part: @escaping () -> Void) -> Void, item: @escaping (RequestReport) -> RequestReport
    ) {
        self.filter = filter
        self.user = user
        self.ofAll = ofAll
        self.engine = engine
        self.inTurn = inTurn
        self.item = item
    }

    /// Reads until the page is full or all requests are read.
    ///
    /// - Parameter finish: Called on the loop with the requests, and with the number of the last one if there are more;
    ///   or with why they cannot be read.
    func read(after: Int64, finish: @escaping (Result<Page, QueueServiceError>) -> Void) {
        let limit = min(filter.limit, Self.longestPage)
        var query = RecordQuery(owner: ofAll ? nil : user, after: after, limit: Self.portion, isOver: filter.isOver)
        if filter.states.isEmpty { query.limit = min(Self.portion, limit - items.count + 1) }
        let asked = query.limit
        engine.driver.records(query, for: user) { [self] found in
            inTurn { [self] in
                let records: [RequestReport]
                switch found {
                case .success(let reports): records = reports
                case .failure(let error): return finish(.failure(QueueServiceError(reading: error)))
                }
                for record in records {
                    let item = item(record)
                    guard filter.states.isEmpty || filter.states.contains(item.state) else { continue }
                    guard items.count < limit, bytes < QueueInterface.pageBytes else {
                        return finish(.success((items, items.last?.id.rawValue)))
                    }
                    items.append(item)
                    bytes += item.request.specification.url.utf8.count
                }
                guard records.count == asked, let last = records.last else { return finish(.success((items, nil))) }
                read(after: last.id.rawValue, finish: finish)
            }
        }
    }
}

extension QueueServiceError {
    /// What a client is told that asked for what cannot be read.
    init(reading error: QueueStoreError) { self = .notAvailable(reason: "the queue's file cannot be read: \(error)") }
}

extension QueueFilter {
    /// Whether all that is wanted is over, or none of it.
    fileprivate var isOver: Bool? {
        let over = Set(QueuedRequestState.allCases.filter(\.isTerminal))
        if states.isEmpty { return nil }
        if states.isSubset(of: over) { return true }
        return states.isDisjoint(with: over) ? false : nil
    }
}
