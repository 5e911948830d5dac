package import ReachCore

/// The members of a JSON object, each named once: ``JSONWriter`` writes their values, ``StatusReader`` reads them.
package protocol JSONMembers: ~Copyable {
    /// Whether values are read; otherwise they are written.
    var isReading: Bool { get }

    /// A member that is always there.
    mutating func member<Value: JSONMember>(_ name: StaticString, _ value: inout Value)

    /// A member that may be null or missing.
    mutating func optional<Value: JSONMember>(
        _ name: StaticString, _ value: inout Value?, else absence: JSONAbsence)
}

/// How a member without a value is written.
package enum JSONAbsence { case null, missing }

/// A value of one member. Words and terms that a newer daemon adds are skipped, or have the weakest meaning.
package protocol JSONMember {
    /// - Parameter key: The member's key with those of the enclosing objects, for the fault of another type.
    init(_ json: JSONValue, key: String) throws(StatusReadingError)
    func write(to json: inout JSONWriter)
}

/// A value that is an object.
package protocol JSONObject: JSONMember {
    /// The value into which members are read.
    static var blank: Self { get }

    /// Names the members in their order. A writer gets those of a copy, of which each is set to what it is.
    mutating func members(_ line: inout some JSONMembers & ~Copyable)
}

extension JSONObject {
    /// Reads what was written, maybe by a newer version.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        try self.init(StatusReader(json, path: key))
    }

    package init(_ reader: StatusReader) throws(StatusReadingError) {
        self = .blank
        var reader = reader
        members(&reader)
        if let fault = reader.firstFault { throw fault }
    }

    package func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }

    package func writeMembers(to json: inout JSONWriter) {
        var copy = self
        copy.members(&json)
    }
}

extension JSONWriter: JSONMembers {
    package var isReading: Bool { false }

    package mutating func member<Value: JSONMember>(_ name: StaticString, _ value: inout Value) {
        key(name)
        value.write(to: &self)
    }

    package mutating func optional<Value: JSONMember>(
        _ name: StaticString, _ value: inout Value?, else absence: JSONAbsence
    ) {
        if value == nil, absence == .missing { return }
        key(name)
        if let value { value.write(to: &self) } else { self.value(nil) }
    }

    /// Writes an object with the members with which each line begins, and those that `body` adds.
    package mutating func line(_ type: String, at moment: Instant, _ body: (inout JSONWriter) -> Void) {
        object { json in
            json.field("v", 1)
            json.field("type", type)
            json.times(moment.wall, moment.boot)
            body(&json)
        }
    }
}

extension StatusReader: JSONMembers {
    package var isReading: Bool { true }

    package mutating func member<Value: JSONMember>(_ name: StaticString, _ value: inout Value) {
        if let read: Value = read(name) { value = read } else { keep(fault(name.description)) }
    }

    package mutating func optional<Value: JSONMember>(
        _ name: StaticString, _ value: inout Value?, else absence: JSONAbsence
    ) {
        if let read: Value = read(name) { value = read }
    }

    private mutating func read<Value: JSONMember>(_ name: StaticString) -> Value? {
        let name = name.description
        guard let json = member(name) else { return nil }
        do throws(StatusReadingError) {
            return try Value(json, key: key(name))
        } catch {
            keep(error)
            return nil
        }
    }
}

// MARK: - Members that are made of others

extension JSONMembers where Self: ~Copyable {
    package mutating func optional<Value: JSONMember>(_ name: StaticString, _ value: inout Value?) {
        optional(name, &value, else: .null)
    }

    /// A member that an older daemon does not write: the value stays.
    package mutating func optional<Value: JSONMember>(_ name: StaticString, _ value: inout Value) {
        var found: Value? = value
        optional(name, &found, else: .null)
        value = found ?? value
    }

    /// A word that this version has to know.
    package mutating func knownWord<Word: RawRepresentable<String>>(_ name: StaticString, _ word: inout Word) {
        var known = KnownWord(word: word)
        member(name, &known)
        word = known.word
    }

    /// A word. One that this version does not know is `unknown`.
    package mutating func word<Word: RawRepresentable<String>>(
        _ name: StaticString, _ word: inout Word, unknown: Word
    ) {
        var text = word.rawValue
        member(name, &text)
        if isReading { word = Word(rawValue: text) ?? unknown }
    }

    /// A word that an older daemon may not write: the value stays. One that this version does not know is `unknown`.
    package mutating func optionalWord<Word: RawRepresentable<String>>(
        _ name: StaticString, _ word: inout Word, unknown: Word
    ) {
        var found: Word? = word
        self.word(name, &found, unknown: unknown)
        word = found ?? word
    }

    /// A word, or `nil`. One that this version does not know is `unknown`.
    package mutating func word<Word: RawRepresentable<String>>(
        _ name: StaticString, _ word: inout Word?, unknown: Word? = nil, else absence: JSONAbsence = .null
    ) {
        var text = word?.rawValue
        optional(name, &text, else: absence)
        if isReading { word = text.flatMap { Word(rawValue: $0) ?? unknown } }
    }

    /// The instant of the object's line.
    package mutating func moment(_ moment: inout Instant) { instant("time", "boottime_ns", &moment) }

    /// An instant, as the time of both clocks.
    package mutating func instant(_ wall: StaticString, _ boot: StaticString, _ instant: inout Instant) {
        var (time, nanoseconds) = (instant.wall, instant.boot.nanoseconds)
        member(wall, &time)
        member(boot, &nanoseconds)
        if isReading { instant = Instant(wall: time, boot: BootTime(nanoseconds: nanoseconds)) }
    }

    package mutating func instant(_ wall: StaticString, _ boot: StaticString, _ instant: inout Instant?) {
        var (time, nanoseconds) = (instant?.wall, instant?.boot.nanoseconds)
        optional(wall, &time)
        optional(boot, &nanoseconds)
        guard isReading, let time, let nanoseconds else { return }
        instant = Instant(wall: time, boot: BootTime(nanoseconds: nanoseconds))
    }

    package mutating func microseconds(_ name: StaticString, _ duration: inout Duration) {
        var number = duration.microseconds
        member(name, &number)
        if isReading { duration = .microseconds(number) }
    }

    package mutating func microseconds(
        _ name: StaticString, _ duration: inout Duration?, else absence: JSONAbsence = .null
    ) {
        var number = duration?.microseconds
        optional(name, &number, else: absence)
        if isReading { duration = number.map { .microseconds($0) } }
    }

    package mutating func milliseconds(_ name: StaticString, _ duration: inout Duration) {
        var number = duration.nanoseconds / 1_000_000
        member(name, &number)
        if isReading { duration = .milliseconds(number) }
    }
}

extension JSONMembers where Self: ~Copyable {
    /// Only links and paths of which these are known have the keys, since states are written for each change.
    package mutating func network(
        _ network: inout String?, isTrusted: inout Bool, _ meteredReason: inout MeteredReason?
    ) {
        word("metered_reason", &meteredReason, else: .missing)
        optional("network", &network, else: .missing)
        if isReading || network != nil { optional("trusted", &isTrusted) }
    }

    /// What broke; read as `nil` also where a newer daemon uses another word.
    package mutating func rootCause(
        _ cause: inout RootCause?, _ kindKey: StaticString = "root_cause",
        _ interfaceKey: StaticString = "root_interface", else absence: JSONAbsence = .null
    ) {
        var (kind, interface) = (cause?.kind, cause?.interface)
        if isReading || kind != nil || absence == .null {
            word(kindKey, &kind)
            optional(interfaceKey, &interface)
        }
        if isReading { cause = kind.map { RootCause($0, interface: interface) } }
    }
}

// MARK: - Values

/// A member that is text.
package protocol JSONText: JSONMember {
    init?(text: String)
    var text: String { get }
}

extension JSONText {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        guard let text = json.string, let value = Self(text: text) else { throw StatusReadingError(key: key) }
        self = value
    }

    package func write(to json: inout JSONWriter) { json.value(text) }
}

private struct KnownWord<Word: RawRepresentable<String>>: JSONText {
    let word: Word

    init(word: Word) { self.word = word }

    init?(text: String) {
        guard let word = Word(rawValue: text) else { return nil }
        self.word = word
    }

    var text: String { word.rawValue }
}

extension String: JSONText {
    package init?(text: String) { self = text }
    package var text: String { self }
}

extension Timestamp: JSONText {
    package init?(text: String) { self.init(text) }
    package var text: String { description }
    package func write(to json: inout JSONWriter) { json.value(self) }
}

extension Target: JSONText {
    package init?(text: String) {
        guard let target = try? Target(text) else { return nil }
        self = target
    }

    package var text: String { description }
}

extension IPAddress: JSONText {
    package init?(text: String) { self.init(text) }
    package var text: String { description }
    package func write(to json: inout JSONWriter) { json.value(address: self) }
}

extension HardwareAddress: JSONText {
    package init?(text: String) { self.init(text) }
    package var text: String { description }
}

extension Bool: JSONMember {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        guard let flag = json.bool else { throw StatusReadingError(key: key) }
        self = flag
    }

    package func write(to json: inout JSONWriter) { json.value(self) }
}

extension Double: JSONMember {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        switch json {
        case .double(let number): self = number
        case .integer(let number): self = Double(number)
        default: throw StatusReadingError(key: key)
        }
    }

    package func write(to json: inout JSONWriter) { json.value(self) }
}

extension JSONMember where Self: FixedWidthInteger {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        guard let number = json.integer.flatMap(Self.init(exactly:)) else { throw StatusReadingError(key: key) }
        self = number
    }

    package func write(to json: inout JSONWriter) { json.value(Int64(clamping: self)) }
}

extension Int: JSONMember {}
extension Int8: JSONMember {}
extension Int32: JSONMember {}
extension Int64: JSONMember {}
extension UInt8: JSONMember {}
extension UInt32: JSONMember {}
extension UInt64: JSONMember {}

extension Array: JSONMember where Element: JSONMember {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        guard let elements = json.array else { throw StatusReadingError(key: key) }
        self = try elements.map { element throws(StatusReadingError) in try Element(element, key: key) }
    }

    package func write(to json: inout JSONWriter) { json.array { for element in self { element.write(to: &$0) } } }
}

extension Instant {
    package static let blank = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
}

extension LineQuality: JSONObject {
    package static var blank: LineQuality {
        LineQuality(.good, lossPermille: 0, roundTrip: nil, jitter: nil, packets: 0)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.optionalWord("word", &word, unknown: .good)
        line.member("loss_permille", &lossPermille)
        line.microseconds("round_trip_us", &roundTrip)
        line.microseconds("jitter_us", &jitter)
        line.member("packets", &packets)
    }
}
