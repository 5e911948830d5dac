internal import ReachCore
internal import ReachQueue

/// The columns of `request`. Each is named here once: statements list all of them in this order, and rows are read by them.
enum RequestColumn: CInt, CaseIterable {
    case id, state, owner, destination, condition, priority, orderKey, uniqueMode, uniqueName, depends, strict,
        repeatable
    case maximumAttempts, bytes, lifetime, deadlineWall, deadlineBoot, boot
    case attempts, networkFailures, tries, held, networkFailure, notBeforeWall, notBeforeBoot, notBeforeIn, reason,
        overWall
    case leaseInterface, leaseWall
    case method, url, headers, idempotencyKey, accepted, outputPath, bodyKind, bodyPath, bodyBytes, uploadProtocol
    case kept, seen
    case interceptor, timeouts, tag, failsOffline
    case waitsWall
    case location, compressed

    /// The name in the file: `orderKey` is `order_key`.
    var name: String {
        "\(self)".reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }

    /// All columns, for a SELECT whose rows are read by ``SQLiteStatement/integer(_:)`` and the others.
    static let list = allCases.map { "request." + $0.name }.joined(separator: ", ")

    /// All columns in the same places, with NULL for those that the scheduler does not need: of a million rows, SQLite then
    /// decodes a third less.
    static let schedulingList = allCases.map { $0.isForScheduling ? "request." + $0.name : "NULL" }
        .joined(separator: ", ")

    /// The same with NULL for those that change: what is to be sent does not depend on them.
    static let specificationList = allCases.map { $0.isForSending ? "request." + $0.name : "NULL" }
        .joined(separator: ", ")

    private var isForSending: Bool {
        switch self {
        case .state, .repeatable, .bytes, .deadlineWall, .deadlineBoot, .boot, .attempts, .networkFailures, .tries,
            .held,
            .networkFailure, .notBeforeWall, .notBeforeBoot, .notBeforeIn, .reason, .overWall, .leaseInterface,
            .leaseWall, .kept, .seen, .waitsWall:
            false
        default: true
        }
    }

    private var isForScheduling: Bool {
        switch self {
        case .leaseInterface, .leaseWall, .method, .url, .idempotencyKey, .accepted, .outputPath, .bodyPath, .bodyBytes,
            .seen, .timeouts, .tag, .failsOffline, .location, .compressed:
            false
        default: true
        }
    }
}

extension SQLiteStatement {
    func integer(_ column: RequestColumn) -> Int64 { integer(column.rawValue) }
    func optionalInteger(_ column: RequestColumn) -> Int64? { optionalInteger(column.rawValue) }
    func flag(_ column: RequestColumn) -> Bool { flag(column.rawValue) }
    func text(_ column: RequestColumn) -> String? { text(column.rawValue) }
    func hasText(_ text: String, in column: RequestColumn) -> Bool { hasText(text, in: column.rawValue) }
    func isNull(_ column: RequestColumn) -> Bool { isNull(column.rawValue) }
}

/// Values that a statement writes into a row, each with its column.
struct RowWriter<Source: Sendable>: Sendable {
    typealias Value = @Sendable (Source) -> SQLiteValue

    private var columns: [(column: RequestColumn, value: Value)] = []

    /// - Parameter name: Sets the value of each column, in the order of the statement.
    init(_ name: (inout RowWriter) -> Void) { name(&self) }

    mutating func set(_ column: RequestColumn, _ value: @escaping Value) { columns.append((column, value)) }

    /// The parameters of a statement, in the order of the columns.
    func values(_ source: Source) -> [SQLiteValue] { columns.map { $0.value(source) } }

    var count: Int { columns.count }

    func index(of column: RequestColumn) -> Int? { columns.firstIndex { $0.column == column } }

    var insertion: String { insertion(columns.count) }

    /// - Parameter count: So many of the first columns: those that a change log of an earlier version knows.
    func insertion(_ count: Int) -> String {
        let names = columns.prefix(count).map(\.column.name)
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO request (\(names.joined(separator: ", "))) VALUES (\(marks))"
    }

    /// The values of a change log of an earlier version, with those of new columns.
    func filled(_ values: [SQLiteValue]) -> [SQLiteValue] {
        values.count >= count ? values : values + Array(repeating: .null, count: count - values.count)
    }

    /// - Parameter more: What else is set.
    func update(_ more: String...) -> String {
        "UPDATE request SET \((columns.map { $0.column.name + " = ?" } + more).joined(separator: ", ")) WHERE id = ?"
    }
}

/// A request that is added. New columns come last: see ``RowWriter/insertion(_:)``.
struct NewRow: Sendable {
    let stored: StoredRequest
    let request: RequestSpecification
    /// The start of the machine that boot times count from.
    let boot: Int64

    private var lifetime: Int64 { (stored.deadline.boot - stored.created.boot).nanoseconds }

    static let writer = RowWriter<NewRow> { row in
        row.set(.id) { .integer($0.stored.id.rawValue) }
        row.set(.state) { _ in .integer(RowState.waiting.rawValue) }
        row.set(.owner) { .integer($0.stored.owner) }
        row.set(.destination) { .text($0.stored.destination.description) }
        row.set(.condition) { .text($0.stored.condition.description) }
        row.set(.priority) { .integer($0.stored.priority.rawValue) }
        row.set(.orderKey) { .optional($0.stored.orderKey) }
        row.set(.uniqueMode) { .optional($0.stored.uniqueness.mode) }
        row.set(.uniqueName) { .optional($0.stored.uniqueness.key) }
        row.set(.depends) { .flag($0.stored.dependsOnPrevious) }
        row.set(.strict) { .flag($0.stored.isStrict) }
        row.set(.repeatable) { .flag($0.stored.isRepeatable) }
        row.set(.maximumAttempts) { .optional($0.stored.maximumAttempts) }
        row.set(.bytes) { .integer($0.stored.bytesHeld) }
        row.set(.lifetime) { .integer($0.lifetime) }
        row.set(.deadlineWall) { .integer($0.stored.deadline.wall.nanosecondsSince1970) }
        row.set(.deadlineBoot) { .integer($0.stored.deadline.boot.nanoseconds) }
        row.set(.boot) { .integer($0.boot) }
        row.set(.method) { .text($0.request.method) }
        row.set(.url) { .text($0.request.url) }
        row.set(.headers) { .text(RequestColumns.text(of: $0.request.headers)) }
        row.set(.idempotencyKey) { .optional($0.request.idempotency.stored) }
        row.set(.accepted) { .text(RequestColumns.text(of: $0.request.acceptedStatuses)) }
        row.set(.outputPath) { .optional($0.request.outputPath) }
        row.set(.bodyKind) { .integer(RequestColumns.columns(of: $0.request.body).kind) }
        row.set(.bodyPath) { .optional(RequestColumns.columns(of: $0.request.body).path) }
        row.set(.bodyBytes) { .integer($0.request.body.count) }
        row.set(.uploadProtocol) { .optional($0.request.uploadProtocol?.rawValue) }
        row.set(.interceptor) { .optional($0.request.interceptor) }
        row.set(.timeouts) { .optional($0.request.timeouts?.text) }
        row.set(.tag) { .optional($0.request.tag) }
        row.set(.failsOffline) { .flag($0.request.failsOffline) }
        row.set(.location) { .optional($0.request.followsRedirects ? 1 : nil) }
        row.set(.compressed) { .optional($0.request.isCompressed ? 1 : nil) }
    }
}

/// The numbers of a request that change. New columns come last, and may be NULL.
struct ChangedRow: Sendable {
    let progress: RequestProgress
    var state = RowState.waiting
    var reason: String?
    var over: Instant?
    let boot: Int64

    static let writer = RowWriter<ChangedRow> { row in
        row.set(.state) { .integer($0.state.rawValue) }
        row.set(.attempts) { .integer($0.progress.attempts) }
        row.set(.networkFailures) { .integer($0.progress.networkFailures) }
        row.set(.tries) { .integer($0.progress.tries) }
        row.set(.held) { .flag($0.progress.isHeld) }
        row.set(.networkFailure) { .flag($0.progress.isNetworkFailure) }
        row.set(.notBeforeWall) { .optional($0.progress.notBefore?.wall.nanosecondsSince1970) }
        row.set(.notBeforeBoot) { .optional($0.progress.notBefore?.boot.nanoseconds) }
        row.set(.notBeforeIn) { .optional($0.progress.notBefore == nil ? nil : $0.boot) }
        row.set(.reason) { .optional($0.reason) }
        row.set(.overWall) { .optional($0.over?.wall.nanosecondsSince1970) }
        row.set(.waitsWall) { .optional($0.progress.waitsSince?.wall.nanosecondsSince1970) }
    }
}

/// The state of a request's row. What a waiting one waits for is not kept: it follows from the present.
enum RowState: Int64 {
    case waiting = 0
    case leased = 1
    case done = 2
    case dead = 3
    case cancelled = 4

    init(_ end: RequestEnd) {
        switch end {
        case .done: self = .done
        case .dead: self = .dead
        case .cancelled: self = .cancelled
        }
    }
}
