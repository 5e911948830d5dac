internal import ReachCore
internal import ReachQueue

/// A change as the change log and the tables take it: values of columns.
struct LoggedChange {
    /// A new one needs a new version of ``QueueSchema``: a program that does not know it would stop reading there.
    enum Kind: UInt8 {
        case insert = 1
        case lease = 2
        case update = 3
        case hold = 4
        case finish = 5
        case purge = 6
        case markRead = 7
        /// A row of the outbox, by its number.
        case event = 8
        /// The rows of the outbox up to this number are no longer needed.
        case trimEvents = 9
        /// A dead request is sent again.
        case revive = 10
        /// Of an owner's queue, by the owner; 0 is everybody's.
        case holdQueue = 11
        case releaseQueue = 12
        case openBreaker = 13
        case closeBreaker = 14
        /// What a scope has moved over metered links.
        case setMetered = 15
        /// A request carries others; a change for each few of them.
        case join = 16
    }

    let kind: Kind
    /// The number of the request, of a row of the outbox, or of an owner; 0 for breakers.
    let id: Int64
    /// Columns of `request`, in the order of the kind's ``RowWriter``. A log of an earlier version may lack the last
    /// ones.
    var row: [SQLiteValue] = []
    /// What is not of that row: the bytes of a new request's body, the columns of an answer, a deadline, or a breaker.
    var more: [SQLiteValue] = []

    /// Appends a change as the change log takes it.
    static func append(_ change: StoreChange, boot: Int64, to changes: inout [LoggedChange]) {
        func add(_ kind: Kind, _ id: Int64, _ row: [SQLiteValue] = [], more: [SQLiteValue] = []) {
            changes.append(LoggedChange(kind: kind, id: id, row: row, more: more))
        }
        switch change {
        case .insert(let stored, let request):
            let row = NewRow.writer.values(NewRow(stored: stored, request: request.specification, boot: boot))
            var body: [SQLiteValue] = []
            if case .inline(let bytes) = request.specification.body { body = [.blob(bytes)] }
            add(.insert, stored.id.rawValue, row, more: body)
        case .lease(let id, let attempt, let interface, _, let moment):
            add(.lease, id.rawValue, [.integer(attempt), .text(interface), .integer(moment.wall.nanosecondsSince1970)])
        case .update(let progress):
            add(.update, progress.id.rawValue, ChangedRow.writer.values(ChangedRow(progress: progress, boot: boot)))
        case .holdRequest(let id, let isHeld): add(.hold, id.rawValue, [.flag(isHeld)])
        case .finish(let progress, let end, let result, let moment):
            let state = RowState(end)
            let row = ChangedRow.writer.values(
                ChangedRow(progress: progress, state: state, reason: end.reason, over: moment, boot: boot))
            add(.finish, progress.id.rawValue, row, more: result.map(columns) ?? [])
        case .purge(let ids):
            for id in ids { add(.purge, id.rawValue) }
        case .markRead(let id): add(.markRead, id.rawValue)
        case .revive(let progress, let deadline):
            let row = ChangedRow.writer.values(ChangedRow(progress: progress, boot: boot))
            add(.revive, progress.id.rawValue, row, more: times(of: deadline) + [.integer(boot)])
        case .holdQueue(let owner, let isHeld):
            add(isHeld ? .holdQueue : .releaseQueue, Int64(owner ?? 0))
        case .openBreaker(let breaker):
            let more =
                place(of: breaker.destination, breaker.interface, breaker.owner) + times(of: breaker.openUntil)
                + [.integer(boot), .integer(breaker.step)]
            add(.openBreaker, 0, more: more)
        case .closeBreaker(let destination, let interface, let owner):
            add(.closeBreaker, 0, more: place(of: destination, interface, owner))
        case .join(let id, let others):
            for start in stride(from: 0, to: others.count, by: Self.mostJoined) {
                let some = others[start..<min(start + Self.mostJoined, others.count)]
                add(.join, id.rawValue, more: some.map { .integer($0.rawValue) })
            }
        case .setMetered(let account):
            let more: [SQLiteValue] = [
                .text(account.scope.text), .optional(account.first), .integer(account.bytes),
                .integer(account.reported), .optional(account.before?.first), .optional(account.before?.bytes),
                .optional(account.ahead),
            ]
            add(.setMetered, 0, more: more)
        }
    }

    /// Of one change.
    private static let mostJoined = 200

    private static func times(of moment: Instant) -> [SQLiteValue] {
        [.integer(moment.wall.nanosecondsSince1970), .integer(moment.boot.nanoseconds)]
    }

    private static func place(of destination: Destination, _ interface: String, _ owner: UInt32) -> [SQLiteValue] {
        [.text(destination.description), .text(RequestColumns.breakerPlace(interface, of: owner))]
    }

    /// The columns of `result` behind the request's number.
    private static func columns(of result: RequestResult) -> [SQLiteValue] {
        let body = RequestColumns.columns(of: result.body)
        var bytes: SQLiteValue = .null
        if case .inline(let inline) = result.body { bytes = .blob(inline) }
        return [
            .integer(result.status), .text(RequestColumns.text(of: result.headers)), .integer(body.kind),
            .optional(body.path), .integer(body.bytes), bytes,
        ]
    }

    /// The state that a request has after an end; `nil` for other changes.
    var endState: RowState? {
        guard kind == .finish, case .integer(let number)? = row.first else { return nil }
        return RowState(rawValue: number)
    }

    /// The spool file that it names: of a new request's body, or of an answer.
    var spoolName: String? {
        let places: (kind: Int, path: Int)? =
            switch kind {
            case .insert: Self.bodyPlaces
            case .finish: Self.answerPlaces
            default: nil
            }
        let values = kind == .insert ? row : more
        guard let places, places.path < values.count, case .integer(3) = values[places.kind],
            case .text(let name) = values[places.path]
        else { return nil }
        return name
    }

    private static let bodyPlaces: (kind: Int, path: Int)? = {
        guard let kind = NewRow.writer.index(of: .bodyKind), let path = NewRow.writer.index(of: .bodyPath) else {
            return nil
        }
        return (kind, path)
    }()
    /// In ``columns(of:)``.
    private static let answerPlaces: (kind: Int, path: Int)? = (2, 3)

    /// When a request ended; `nil` for other changes.
    var endTime: Timestamp? {
        guard kind == .finish, let place = Self.endPlace, place < row.count, case .integer(let time) = row[place] else {
            return nil
        }
        return Timestamp(nanosecondsSince1970: time)
    }

    private static let endPlace = ChangedRow.writer.index(of: .overWall)

    /// What an answer takes of its owner's room: its headers, and its body unless that is a file of the owner's.
    var answerBytes: Int64 {
        guard more.count >= 6, case .text(let headers) = more[1], case .integer(let kind) = more[2],
            case .integer(let bytes) = more[4]
        else { return 0 }
        // In SQL a length is of characters as Unicode counts them: of bytes that continue none.
        var (text, length) = (headers, 0)
        text.withUTF8 { utf8 in for byte in utf8 where byte & 0xc0 != 0x80 { length += 1 } }
        return Int64(length) + (kind == 1 || kind == 3 ? bytes : 0)
    }

    // MARK: Bytes

    /// What its values take in the change log, but for the lengths of texts.
    var bytes: Int {
        func bytes(of values: [SQLiteValue]) -> Int {
            values.reduce(0) { sum, value in
                switch value {
                case .null: sum + 1
                case .integer(let number): sum + 1 + ByteWriter.length(of: number)
                case .text(let text): sum + 1 + text.utf8.count
                case .blob(let blob): sum + 1 + blob.count
                }
            }
        }
        return bytes(of: row) + bytes(of: more)
    }

    func encode(into bytes: inout ByteWriter) {
        bytes.append(kind.rawValue)
        bytes.append(number: id)
        for values in [row, more] {
            bytes.append(number: Int64(values.count))
            for value in values { value.encode(into: &bytes) }
        }
    }

    /// - Returns: `nil` if the bytes are not those of a change.
    init?(_ bytes: inout ByteCursor) {
        guard let first = bytes.byte(), let kind = Kind(rawValue: first), let id = bytes.number() else { return nil }
        self.kind = kind
        self.id = id
        guard let row = Self.values(&bytes), let more = Self.values(&bytes) else { return nil }
        self.row = row
        self.more = more
        guard hasItsValues else { return nil }
    }

    /// Whether there are as many values as a change of its kind has. What they are the tables' rules say; but numbers
    /// go on behind these.
    private var hasItsValues: Bool {
        let isInRange = 0...RowRules.numbers.upperBound ~= id
        return switch kind {
        case .insert: isInRange && 1...NewRow.writer.count ~= row.count && more.count <= 1
        case .lease: row.count == 3 && more.isEmpty
        case .update: 1...ChangedRow.writer.count ~= row.count && more.isEmpty
        case .hold: row.count == 1 && more.isEmpty
        case .finish: 1...ChangedRow.writer.count ~= row.count && (more.isEmpty || more.count == 6)
        case .trimEvents: isInRange && row.isEmpty && more.isEmpty
        case .purge, .markRead, .holdQueue, .releaseQueue: row.isEmpty && more.isEmpty
        case .event: isInRange && row.isEmpty && more.count == 1
        case .revive: 1...ChangedRow.writer.count ~= row.count && more.count == 3
        case .openBreaker: row.isEmpty && more.count == 6
        case .setMetered: row.isEmpty && more.count == 7
        case .join: row.isEmpty && 1...Self.mostJoined ~= more.count
        case .closeBreaker: row.isEmpty && more.count == 2
        }
    }

    init(kind: Kind, id: Int64, row: [SQLiteValue] = [], more: [SQLiteValue] = []) {
        self.kind = kind
        self.id = id
        self.row = row
        self.more = more
    }

    private static func values(_ bytes: inout ByteCursor) -> [SQLiteValue]? {
        guard let count = bytes.number(), 0...256 ~= count else { return nil }
        var values: [SQLiteValue] = []
        for _ in 0..<count {
            guard let value = SQLiteValue(&bytes) else { return nil }
            values.append(value)
        }
        return values
    }
}

extension SQLiteValue {
    private enum Tag {
        static let null: UInt8 = 0
        static let integer: UInt8 = 1
        static let text: UInt8 = 2
        static let blob: UInt8 = 3
    }

    fileprivate func encode(into bytes: inout ByteWriter) {
        switch self {
        case .null: bytes.append(Tag.null)
        case .integer(let number):
            bytes.append(Tag.integer)
            bytes.append(number: number)
        case .text(let text):
            bytes.append(Tag.text)
            bytes.append(number: Int64(text.utf8.count))
            bytes.append(text)
        case .blob(let blob):
            bytes.append(Tag.blob)
            bytes.append(number: Int64(blob.count))
            bytes.append(blob)
        }
    }

    fileprivate init?(_ bytes: inout ByteCursor) {
        switch bytes.byte() {
        case Tag.null: self = .null
        case Tag.integer:
            guard let number = bytes.number() else { return nil }
            self = .integer(number)
        case Tag.text:
            guard let count = bytes.number(), let text = bytes.take(count) else { return nil }
            self = .text(String(decoding: text, as: UTF8.self))
        case Tag.blob:
            guard let count = bytes.number(), let blob = bytes.take(count) else { return nil }
            self = .blob(Array(blob))
        default: return nil
        }
    }
}

extension ByteWriter {
    /// Appends a number in groups of seven bits, the lowest first; those near zero are short, also negative ones.
    fileprivate mutating func append(number: Int64) {
        append(count: Self.length(of: number)) { bytes in
            var (rest, place) = (UInt64(bitPattern: number << 1 ^ number >> 63), 0)
            while rest >= 0x80 {
                bytes[place] = UInt8(truncatingIfNeeded: rest) | 0x80
                rest >>= 7
                place += 1
            }
            bytes[place] = UInt8(truncatingIfNeeded: rest)
        }
    }

    /// The bytes that `append(number:)` writes.
    fileprivate static func length(of number: Int64) -> Int {
        let bits = 64 - UInt64(bitPattern: number << 1 ^ number >> 63).leadingZeroBitCount
        return max(1, (bits + 6) / 7)
    }
}

/// Reads bytes from the first to the last.
struct ByteCursor {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    /// Reads what `append(number:)` wrote.
    mutating func number() -> Int64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let next = byte() else { return nil }
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
        }
        return nil
    }

    mutating func take(_ count: Int64) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}
