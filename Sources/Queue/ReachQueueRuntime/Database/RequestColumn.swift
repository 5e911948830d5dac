internal import ReachCore
internal import ReachQueue

/// The columns of `request` that are no terms. Statements list all columns in the order of ``names``, and rows are read
/// by it.
enum RequestColumn: CInt, CaseIterable {
    case id, state, owner, destination, condition, priority, repeatable
    case bytes, lifetime, deadlineWall, deadlineBoot, boot
    case attempts, networkFailures, tries, held, networkFailure, notBeforeWall, notBeforeBoot, notBeforeIn, reason,
        overWall
    case leaseInterface, leaseWall
    case method, url, headers, bodyKind, bodyPath, bodyBytes
    case kept, seen
    case waitsWall
    case carrier

    /// The name in the file: `bodyKind` is `body_kind`.
    var name: String {
        "\(self)".reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }

    /// The columns of terms follow those of this enumeration.
    static let terms: [(column: CInt, term: RequestTerm)] = RequestTerm.stored.enumerated().map { place, term in
        (CInt(allCases.count + place), term)
    }

    static let names = allCases.map(\.name) + RequestTerm.stored.compactMap(\.column?.name)

    /// All columns, for a SELECT whose rows are read by ``SQLiteStatement/integer(_:)`` and the others.
    static let list = names.map { "request." + $0 }.joined(separator: ", ")

    /// All columns in the same places, with NULL for those that the scheduler does not need: of a million rows, SQLite
    /// then decodes a third less.
    static let schedulingList = list(\.isForScheduling) { $0.isForScheduling }

    /// The same with NULL for those that change: what is to be sent does not depend on them.
    static let specificationList = list(\.isForSending) { _ in true }

    private static func list(
        _ isNeeded: (RequestColumn) -> Bool, _ isNeededTerm: (RequestTerm.Column) -> Bool
    ) -> String {
        let fixed = allCases.map { isNeeded($0) ? "request." + $0.name : "NULL" }
        let terms = RequestTerm.stored.compactMap(\.column).map { isNeededTerm($0) ? "request." + $0.name : "NULL" }
        return (fixed + terms).joined(separator: ", ")
    }

    private var isForSending: Bool {
        switch self {
        case .id, .owner, .destination, .condition, .priority, .lifetime, .method, .url, .headers, .bodyKind, .bodyPath,
            .bodyBytes:
            true
        default: false
        }
    }

    private var isForScheduling: Bool {
        switch self {
        case .leaseInterface, .leaseWall, .method, .url, .bodyPath, .seen: false
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

    /// Reads the terms that the row has, into usual ones.
    func read(into terms: inout RequestTerms) {
        for (column, term) in RequestColumn.terms where !isNull(column) {
            let value: TermValue =
                switch term.form {
                case .flag: .flag(flag(column))
                case .number: .number(integer(column))
                case .text, .word, .ranges: .text(text(column) ?? "")
                }
            // What cannot be read is as usual: ``RowRules`` has looked at what may not be.
            try? term.read(&terms, value)
        }
    }
}

/// Values that a statement writes into a row, each with its column.
struct RowWriter<Source: Sendable>: Sendable {
    typealias Value = @Sendable (Source) -> SQLiteValue

    fileprivate var columns: [(name: String, value: Value)] = []

    /// - Parameter name: Sets the value of each column, in the order of the statement.
    init(_ name: (inout RowWriter) -> Void) { name(&self) }

    mutating func set(_ column: RequestColumn, _ value: @escaping Value) { columns.append((column.name, value)) }

    /// The parameters of a statement, in the order of the columns.
    func values(_ source: Source) -> [SQLiteValue] { columns.map { $0.value(source) } }

    var count: Int { columns.count }

    func index(of column: RequestColumn) -> Int? { columns.firstIndex { $0.name == column.name } }

    var insertion: String { insertion(columns.count) }

    /// - Parameter count: So many of the first columns: those that a change log of an earlier version knows.
    func insertion(_ count: Int) -> String {
        let names = columns.prefix(count).map(\.name)
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO request (\(names.joined(separator: ", "))) VALUES (\(marks))"
    }

    /// The values of a change log of an earlier version, with those of new columns.
    func filled(_ values: [SQLiteValue]) -> [SQLiteValue] {
        values.count >= count ? values : values + Array(repeating: .null, count: count - values.count)
    }

    /// - Parameter more: What else is set.
    func update(_ more: String...) -> String {
        "UPDATE request SET \((columns.map { $0.name + " = ?" } + more).joined(separator: ", ")) WHERE id = ?"
    }
}

extension RowWriter<NewRow> {
    /// Sets the column of a term.
    mutating func set(term name: String) {
        for term in RequestTerm.stored where term.column?.name == name { set(term) }
    }

    mutating func set(_ term: RequestTerm) {
        guard let column = term.column else { return }
        columns.append(
            (
                column.name,
                {
                    switch term.write($0.terms) {
                    case .flag(let flag): .flag(flag)
                    case .number(let number): .integer(number)
                    case .text(let text): .text(text)
                    case .ranges, nil: column.isRequired ? .integer(0) : .null
                    }
                }
            ))
    }
}

/// A request that is added. New columns come last: see ``RowWriter/insertion(_:)``.
struct NewRow: Sendable {
    let stored: StoredRequest
    let request: RequestSpecification
    let terms: RequestTerms
    /// The start of the machine that boot times count from.
    let boot: Int64

    init(stored: StoredRequest, request: RequestSpecification, boot: Int64) {
        self.stored = stored
        self.request = request
        terms = request.terms
        self.boot = boot
    }

    private var lifetime: Int64 { (stored.deadline.boot - stored.created.boot).nanoseconds }

    static let writer = RowWriter<NewRow> { row in
        row.set(.id) { .integer($0.stored.id.rawValue) }
        row.set(.state) { _ in .integer(RowState.waiting.rawValue) }
        row.set(.owner) { .integer($0.stored.owner) }
        row.set(.destination) { .text($0.stored.destination.description) }
        row.set(.condition) { .text($0.stored.terms.value.condition.description) }
        row.set(.priority) { .integer($0.stored.terms.value.priority.rawValue) }
        for name in ["order_key", "unique_mode", "unique_name", "depends", "strict"] { row.set(term: name) }
        row.set(.repeatable) { .flag($0.stored.isRepeatable) }
        row.set(term: "maximum_attempts")
        row.set(.bytes) { .integer($0.stored.bytesHeld) }
        row.set(.lifetime) { .integer($0.lifetime) }
        row.set(.deadlineWall) { .integer($0.stored.deadline.wall.nanosecondsSince1970) }
        row.set(.deadlineBoot) { .integer($0.stored.deadline.boot.nanoseconds) }
        row.set(.boot) { .integer($0.boot) }
        row.set(.method) { .text($0.request.method) }
        row.set(.url) { .text($0.request.url) }
        row.set(.headers) { .text(RequestColumns.text(of: $0.request.headers)) }
        for name in ["idempotency_key", "accepted", "output_path"] { row.set(term: name) }
        row.set(.bodyKind) { .integer(RequestColumns.columns(of: $0.request.body).kind) }
        row.set(.bodyPath) { .optional(RequestColumns.columns(of: $0.request.body).path) }
        row.set(.bodyBytes) { .integer($0.request.body.count) }
        let last = ["upload_protocol", "interceptor", "timeouts", "tag", "fails_offline", "location", "compressed"]
        for name in last { row.set(term: name) }
        for term in RequestTerm.stored.sorted(by: { $0.version < $1.version }) where term.version > 1 { row.set(term) }
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
