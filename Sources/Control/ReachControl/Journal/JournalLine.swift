package import ReachCore
internal import ReachRecords

/// A line of the journal's files: an event as reach-events(7) describes it, with its log and its number first.
///
///     {"log":"…","n":7,"v":1,"type":"queue",…,"boot":"…","outbox":3,"crc":"01234567"}
///
/// The number is found without reading the rest. Readers never see `outbox` and `crc`.
package struct JournalLine: Hashable, Sendable {
    package let log: String
    package let number: Int64
    /// The event with log and number, as readers get it.
    package let event: [UInt8]
    /// The number of the row of the queue's outbox from which the event came; `nil` for other events.
    package let outbox: Int64?

    /// The longest event in bytes, without its number.
    package static let longestEvent = 64 << 10
    /// Hexadecimal digits of a log.
    package static let logDigits = 32

    /// Encodes an event as a line, including the newline.
    ///
    /// - Parameter event: A JSON object without log and number.
    package static func encode(_ event: [UInt8], log: String, number: Int64, outbox: Int64? = nil) -> [UInt8] {
        var document = Self.event(event, log: log, number: number)
        if let outbox {
            document.removeLast()
            document += ",\"outbox\":\(outbox)}".utf8
        }
        return ChecksummedLine.encode(document)
    }

    /// An event with its log and its number.
    package static func event(_ event: [UInt8], log: String, number: Int64) -> [UInt8] {
        Array("{\"log\":\"\(log)\",\"n\":\(number),".utf8) + event.dropFirst()
    }

    /// The log and the number of a line, and the index behind them; `nil` if it does not begin with them.
    static func head(of line: ArraySlice<UInt8>) -> (log: ArraySlice<UInt8>, number: Int64, end: Int)? {
        let before = Array("{\"log\":\"".utf8)
        let between = Array("\",\"n\":".utf8)
        guard line.starts(with: before) else { return nil }
        let rest = line.dropFirst(before.count)
        let log = rest.prefix(logDigits)
        guard log.count == logDigits, rest.dropFirst(logDigits).starts(with: between) else { return nil }
        let digits = rest.dropFirst(logDigits + between.count).prefix { 48...57 ~= $0 }
        guard 1...18 ~= digits.count, digits.endIndex < line.endIndex, line[digits.endIndex] == UInt8(ascii: ",") else {
            return nil
        }
        return (log, digits.reduce(0) { $0 * 10 + Int64($1 - 48) }, digits.endIndex + 1)
    }

    init(_ event: [UInt8], log: String, number: Int64, outbox: Int64?) {
        (self.log, self.number, self.outbox) = (log, number, outbox)
        self.event = Self.event(event, log: log, number: number)
    }

    /// Whether the event of a row of the queue's outbox can be a line.
    package static func isReadable(_ event: [UInt8], outbox: Int64) -> Bool {
        let line = JournalLine(event, log: String(repeating: "0", count: logDigits), number: 1, outbox: outbox)
        return event.first == UInt8(ascii: "{") && 1..<largestRow ~= outbox && line.isReadable
    }

    /// A line has 18 digits for it.
    private static let largestRow: Int64 = 1_000_000_000_000_000_000

    /// - Parameter line: The line without its newline.
    /// - Returns: `nil` if the line is torn, damaged or no event.
    package init?(_ line: ArraySlice<UInt8>) {
        guard let document = ChecksummedLine.decode(line), let head = Self.head(of: document[...]) else { return nil }
        log = String(decoding: head.log, as: UTF8.self)
        number = head.number
        let mark = Array(",\"outbox\":".utf8)
        let digits = document.dropLast().suffix(19).reversed().prefix { 48...57 ~= $0 }.reversed()
        let body = document.dropLast(1 + digits.count)
        if !digits.isEmpty, digits.count < 19, body.suffix(mark.count).elementsEqual(mark) {
            outbox = digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
            event = body.dropLast(mark.count) + [UInt8(ascii: "}")]
        } else {
            outbox = nil
            event = document
        }
    }

    /// Whether readers can read the event: it is the JSON of one, on one line. The queue's file, from which some come,
    /// may be damaged.
    package var isReadable: Bool {
        guard event.allSatisfy({ $0 >= UInt8(ascii: " ") }), let json = try? JSONReader.read(event),
            let record = try? JournalRecord(reading: json)
        else { return false }
        return record.log == log && record.number == number
    }

    /// The event without log and number, as it was encoded.
    package var bare: [UInt8] {
        guard let head = Self.head(of: event[...]) else { return event }
        return [UInt8(ascii: "{")] + event[head.end...]
    }

    /// The word of the event's type, which follows its number and its version.
    package var type: String {
        let mark = Array("\"v\":1,\"type\":\"".utf8)
        guard let head = Self.head(of: event[...]), event[head.end...].starts(with: mark) else { return "" }
        let word = event[(head.end + mark.count)...].prefix { $0 != UInt8(ascii: "\"") }
        return String(decoding: word, as: UTF8.self)
    }

    /// The numbers that a gap stands for; `nil` for other events.
    package var gap: ClosedRange<Int64>? {
        guard type == "gap", let json = try? JSONReader.read(event), let first = json["first"]?.integer,
            first <= number
        else { return nil }
        return first...number
    }

    /// The user whose request's event it is; `nil` for the machine's.
    package var user: UInt32? {
        guard type == "queue" else { return nil }
        return (try? JSONReader.read(event))?["user"]?.integer.flatMap { UInt32(exactly: $0) }
    }

    /// The numbers of events that the journal keeps no more, and whose requests' they were, if all were one user's.
    package var expired: (numbers: ClosedRange<Int64>, user: UInt32?)? {
        guard let numbers = gap, let json = try? JSONReader.read(event),
            json["reason"]?.string == JournalGap.Reason.expired.rawValue
        else { return nil }
        return (numbers, json["user"]?.integer.flatMap { UInt32(exactly: $0) })
    }

    /// Whether a user may read the event: not the queue's events of others, nor that they are missing. `nil` may read
    /// all.
    func isVisible(to user: UInt32?) -> Bool {
        guard let user, type == "queue" || type == "gap" else { return true }
        let owner = (try? JSONReader.read(event))?["user"]?.integer
        return owner == Int64(user) || owner == nil && type == "gap"
    }
}

/// A gap in a log.
package struct JournalGap: Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable {
        /// The journal keeps no more.
        case expired
        /// They could not be written.
        case refused
        case tooLarge = "too-large"
        /// The lines are damaged.
        case damaged
        /// Another log begins.
        case log
    }

    package let reason: Reason
    /// The numbers for which it stands; `nil` if they are not known.
    package let numbers: ClosedRange<Int64>?

    package init(_ reason: Reason, _ numbers: ClosedRange<Int64>? = nil) {
        self.reason = reason
        self.numbers = numbers
    }

    /// The event, without log and number.
    ///
    /// - Parameter user: The user whose requests' events all of them were, if one's.
    package func event(at moment: Instant, boot: String, user: UInt32? = nil) -> [UInt8] {
        JournalEvents.encode("gap", at: moment, boot: boot) { json in
            json.field("reason", reason.rawValue)
            json.field("first", numbers?.lowerBound)
            json.field("last", numbers?.upperBound)
            json.field("count", (numbers?.count).map(\.wide))
            if let user { json.field("user", Int64(user)) }
        }
    }
}

/// Encodes what the journal records: the objects of the event streams without their number in the stream, and with the
/// boot of the machine from which their boot times count.
package enum JournalEvents {
    package static func encode(_ event: EncodedEvent, boot: String) -> [UInt8] {
        var bytes = event.unnumbered
        bytes.removeLast()
        var json = JSONWriter()
        json.object { $0.field("boot", boot) }
        bytes.append(UInt8(ascii: ","))
        return bytes + json.bytes.dropFirst()
    }

    static func encode(
        _ type: String, at moment: Instant, boot: String, _ body: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        encode(EncodedEvent(type, at: moment, body), boot: boot)
    }

    /// The daemon began to run. Without a record of its end, `lastSeen` is the last event of the run before.
    package static func started(at moment: Instant, lastSeen: Timestamp?, boot: String) -> [UInt8] {
        encode("started", at: moment, boot: boot) { json in
            if let lastSeen { json.field("last_seen", lastSeen) }
        }
    }

    package static func stopped(at moment: Instant, boot: String) -> [UInt8] {
        encode("stopped", at: moment, boot: boot) { _ in }
    }
}
