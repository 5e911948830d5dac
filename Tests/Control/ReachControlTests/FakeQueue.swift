import ReachCore
import ReachLoop
import ReachQueue

@testable import ReachControl

/// A request queue that records the calls it gets, and gives the answers that a test has set.
final class FakeQueue: QueueService {
    private(set) var requests: [(RequestSpecification, Caller)] = []
    private(set) var actions: [String] = []
    var filters: [QueueFilter] = []
    /// Answers that wait for ``answerAll()``, if ``answersLater`` is set.
    private(set) var waiting: [() -> Void] = []
    var answersLater = false
    /// Whether lists wait for ``continueParts()``, and how many of them were continued.
    var listsInParts = false
    private(set) var parts: [() -> Void] = []
    private(set) var finishedLists = 0
    private(set) var watchCount = 0
    private(set) var cancelCount = 0
    private var sinks: [Int64?: [Int: (QueueNotice) -> Void]] = [:]
    var uploads: [String: [UInt8]] = [:]
    var items: [Int64: RequestReport] = [:]
    var body: [UInt8] = []
    /// The error with which every call is answered, if set.
    var failure: QueueServiceError?

    private func answer<Value>(_ value: Value, _ reply: @escaping Reply<Value>) {
        let result: Result<Value, QueueServiceError> = failure.map { .failure($0) } ?? .success(value)
        guard answersLater else { return reply(result) }
        waiting.append { reply(result) }
    }

    /// - Returns: The number of answers that waited.
    func answerAll() -> Int {
        let answers = waiting
        waiting = []
        for answer in answers { answer() }
        return answers.count
    }

    /// Continues the lists that wait, each in a turn of its user.
    func continueParts() {
        let waiting = parts
        parts = []
        for part in waiting { part() }
    }

    private func find<Value>(_ id: Int64, _ reply: @escaping Reply<Value>, _ value: (RequestReport) -> Value) {
        guard let item = items[id] else { return reply(.failure(.notFound(id))) }
        answer(value(item), reply)
    }

    func add(_ request: RequestSpecification, for caller: Caller, reply: @escaping Reply<QueueReceipt>) {
        requests.append((request, caller))
        answer(QueueReceipt(id: Int64(requests.count), isKept: request.uniqueness.key != nil), reply)
    }

    func upload(_ piece: QueueUpload.Piece, for caller: Caller, reply: @escaping Reply<QueueUpload>) {
        let name = piece.name ?? "u\(uploads.count)"
        if case .bytes(let bytes) = piece.content { uploads[name, default: []] += bytes }
        answer(QueueUpload(name: name, bytes: Int64(uploads[name]?.count ?? 0)), reply)
    }

    func list(
        _ filter: QueueFilter, for caller: Caller, inTurn: @escaping (_ part: @escaping () -> Void) -> Void,
        reply: @escaping Reply<QueuePage>
    ) {
        filters.append(filter)
        if listsInParts {
            parts.append { inTurn { self.finishedLists += 1 } }
            return
        }
        let matching = items.values.sorted { $0.id < $1.id }.filter { $0.id.rawValue > filter.after }
        let page = Array(matching.prefix(filter.limit))
        answer(
            QueuePage(items: page, next: page.count < matching.count ? page.last?.id.rawValue : nil, count: 2), reply)
    }

    var heldQueues: [QueueHold] = []

    func setFleetHold(_ isHeld: Bool, reason: String?, reply: @escaping Reply<Void>) {
        actions.append("\(isHeld ? "hold" : "release") for the fleet \(reason ?? "-")")
        answer((), reply)
    }

    func holds(for caller: Caller, reply: @escaping Reply<[QueueHold]>) { answer(heldQueues, reply) }

    var budgets: [MeteredReport] = []

    func status(for caller: Caller, reply: @escaping Reply<QueueStatus>) {
        answer(QueueStatus(count: items.count, holds: heldQueues, budgets: budgets), reply)
    }

    func show(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>) { find(id, reply) { $0 } }

    func explain(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>) {
        find(id, reply) { $0.explained }
    }

    func hold(_ selection: QueueSelection, for caller: Caller, reply: @escaping Reply<Void>) {
        actions.append("hold \(selection)")
        answer((), reply)
    }

    func release(_ selection: QueueSelection, for caller: Caller, reply: @escaping Reply<Void>) {
        actions.append("release \(selection)")
        answer((), reply)
    }

    func cancel(_ id: Int64, for caller: Caller, reply: @escaping Reply<Void>) {
        actions.append("cancel \(id)")
        answer((), reply)
    }

    func retry(_ selection: QueueSelection, reason: String?, for caller: Caller, reply: @escaping Reply<Int>) {
        actions.append("retry \(selection) \(reason ?? "-")")
        answer(3, reply)
    }

    func result(
        _ id: Int64, from offset: Int64, upTo count: Int, for caller: Caller, reply: @escaping Reply<QueueAnswer>
    ) {
        let bytes = Array(body.dropFirst(Int(offset)).prefix(count))
        answer(
            QueueAnswer(
                id: id, state: .done, status: 201, headers: [HeaderField("X-A", "\"b\"")],
                bodyBytes: Int64(body.count), offset: offset, bytes: bytes), reply)
    }

    func watch(
        _ id: Int64?, for caller: Caller, sink: @escaping (QueueNotice) -> Void
    ) throws(QueueServiceError) -> QueueWatch {
        if let failure { throw failure }
        watchCount += 1
        let number = watchCount
        sinks[id, default: [:]][number] = sink
        return QueueWatch { [unowned self] in
            cancelCount += 1
            sinks[id]?[number] = nil
        }
    }

    func publish(_ notice: QueueNotice, toWatchersOf id: Int64? = nil) {
        for sink in (sinks[id] ?? [:]).values { sink(notice) }
    }
}

extension Instant {
    static func second(_ second: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: (1_795_230_000 + second) * 1_000_000_000),
            boot: BootTime(nanoseconds: second * 1_000_000_000))
    }
}

extension QueueExplanation.Reason {
    static let unmetered = Self(
        blocker: .metered, since: .second(60), until: nil, text: "No unmetered network is there.",
        remedy: "It starts when one is.")
    static let held = Self(
        blocker: .backoff, since: .second(60), until: .second(90), text: "It \"failed\".", remedy: "Nothing to do.")
}

extension RequestReport {
    static func waiting(_ id: Int64) -> RequestReport {
        var request = RequestSpecification(
            method: "PUT", stored: "https://host.example/\(id)", to: Destination(stored: ""))
        request.condition.isUnmetered = true
        return RequestReport(
            RequestID(rawValue: id), QueuedRequest(request, owner: 1000), created: Instant.second(1).wall,
            deadline: Instant.second(86_401).wall)
    }

    var explained: RequestReport {
        var report = self
        report.reasons = [.unmetered, .held]
        report.interface = "wlan0"
        return report
    }

    /// An item with a value for everything.
    static let full: RequestReport = {
        var item = waiting(7)
        item.state = .running
        item.reason = "status"
        item.blockers = [.metered, .backoff]
        item.orderKey = "o\u{7}"
        item.uniqueness = .unique(name: "k", mode: .keep)
        item.idempotency = .key("i")
        item.bodyBytes = 1 << 40
        item.notBefore = Instant.second(2).wall
        item.over = Instant.second(3).wall
        item.attempts = 1
        item.networkFailures = 2
        item.tries = 4
        item.running = AttemptProgress(
            id: item.id, interface: "eth0", began: .second(5),
            bytes: ByteProgress(sent: 10, toSend: 20, received: 0, toReceive: 30))
        item.status = 503
        item.answerBytes = 9
        return item
    }()
}
