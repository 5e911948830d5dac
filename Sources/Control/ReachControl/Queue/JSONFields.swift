internal import ReachCore

/// The members of a JSON object in their order, each named once for writing and for reading.
struct JSONFields<Subject: Sendable>: Sendable {
    struct Field: Sendable {
        let write: @Sendable (inout JSONWriter, Subject) -> Void
        let read: @Sendable (inout Subject, StatusReader) throws(StatusReadingError) -> Void
    }

    /// How a member without a value is written.
    enum Absence { case null, missing }

    typealias Path<Value> = any WritableKeyPath<Subject, Value> & Sendable

    let fields: [Field]

    init(_ fields: [Field]) { self.fields = fields }

    func write(_ subject: Subject, to json: inout JSONWriter) { for field in fields { field.write(&json, subject) } }

    func read(_ subject: inout Subject, from reader: StatusReader) throws(StatusReadingError) {
        for field in fields { try field.read(&subject, reader) }
    }
}

extension JSONFields.Field {
    /// A member that is always there.
    static func value<Value: JSONMember>(_ name: StaticString, _ path: JSONFields<Subject>.Path<Value>) -> Self {
        Self(
            write: { json, subject in
                json.key(name)
                subject[keyPath: path].write(to: &json)
            },
            read: { (subject, reader) throws(StatusReadingError) in
                guard let value: Value = try reader.member(name) else { throw reader.fault(name.description) }
                subject[keyPath: path] = value
            })
    }

    /// A member that may be null or missing.
    static func optional<Value: JSONMember>(
        _ name: StaticString, _ path: JSONFields<Subject>.Path<Value?>,
        else absence: JSONFields<Subject>.Absence = .null
    ) -> Self {
        Self(
            write: { json, subject in
                let value = subject[keyPath: path]
                if value == nil, absence == .missing { return }
                json.key(name)
                if let value { value.write(to: &json) } else { json.value(nil) }
            },
            read: { (subject, reader) throws(StatusReadingError) in
                if let value: Value = try reader.member(name) { subject[keyPath: path] = value }
            })
    }

    /// An instant, as the time of both clocks.
    static func instant(_ wall: StaticString, _ boot: StaticString, _ path: JSONFields<Subject>.Path<Instant>) -> Self {
        Self(
            write: { json, subject in
                json.field(wall, subject[keyPath: path].wall)
                json.field(boot, subject[keyPath: path].boot.nanoseconds)
            },
            read: { (subject, reader) throws(StatusReadingError) in
                let nanoseconds = try reader.value(boot.description, \.integer)
                subject[keyPath: path] = Instant(
                    wall: try reader.time(wall.description), boot: BootTime(nanoseconds: nanoseconds))
            })
    }
}

extension JSONFields.Field {
    /// An instant that may be null or missing.
    static func optional(_ wall: StaticString, _ boot: StaticString, _ path: JSONFields<Subject>.Path<Instant?>) -> Self
    {
        Self(
            write: { json, subject in
                let instant = subject[keyPath: path]
                json.field(wall, instant?.wall.description)
                json.field(boot, instant?.boot.nanoseconds)
            },
            read: { (subject, reader) throws(StatusReadingError) in
                guard let nanoseconds = try reader.optional(boot.description, \.integer) else { return }
                subject[keyPath: path] = Instant(
                    wall: try reader.time(wall.description), boot: BootTime(nanoseconds: nanoseconds))
            })
    }
}

extension StatusReader {
    /// - Returns: `nil` where the member is missing or null.
    fileprivate func member<Value: JSONMember>(_ name: StaticString) throws(StatusReadingError) -> Value? {
        guard let json = try optional(name.description, \.itself) else { return nil }
        guard let value = Value(json: json) else { throw fault(name.description) }
        return value
    }
}

extension JSONValue {
    fileprivate var itself: JSONValue? { self }
}

/// A value of one member. Words and terms that a newer daemon adds are skipped, or have the weakest meaning.
protocol JSONMember: Sendable {
    /// - Returns: `nil` where the JSON has another type.
    init?(json: JSONValue)
    func write(to json: inout JSONWriter)
}

/// A member that is text.
protocol JSONText: JSONMember {
    init?(text: String)
    var text: String { get }
}

extension JSONText {
    init?(json: JSONValue) {
        guard let text = json.string else { return nil }
        self.init(text: text)
    }

    func write(to json: inout JSONWriter) { json.value(text) }
}

extension String: JSONText {
    init?(text: String) { self = text }
    var text: String { self }
}

extension Timestamp: JSONText {
    init?(text: String) { self.init(text) }
    var text: String { description }
    func write(to json: inout JSONWriter) { json.value(self) }
}

extension Bool: JSONMember {
    init?(json: JSONValue) {
        guard let flag = json.bool else { return nil }
        self = flag
    }

    func write(to json: inout JSONWriter) { json.value(self) }
}

extension JSONMember where Self: FixedWidthInteger {
    init?(json: JSONValue) {
        guard let number = json.integer.flatMap(Self.init(exactly:)) else { return nil }
        self = number
    }

    func write(to json: inout JSONWriter) { json.value(Int64(clamping: self)) }
}

extension Int: JSONMember {}
extension Int64: JSONMember {}
extension UInt32: JSONMember {}
extension UInt64: JSONMember {}

extension HeaderField: JSONMember {
    init?(json: JSONValue) {
        guard let name = json["name"]?.string, let value = json["value"]?.string else { return nil }
        self.init(name, value)
    }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.field("name", name)
            $0.field("value", value)
        }
    }
}

extension Array: JSONMember where Element: JSONMember {
    init?(json: JSONValue) {
        guard let elements = json.array else { return nil }
        self = elements.compactMap(Element.init(json:))
        guard count == elements.count else { return nil }
    }

    func write(to json: inout JSONWriter) { json.array { for element in self { element.write(to: &$0) } } }
}
