/// A record of a DNS message (RFC 1035 section 4.1.3), without its name.
///
/// c-ares parses the data of records. What it does not say, or says differently in its versions, is read here.
struct DNSRecord {
    enum Section { case answer, authority, additional }

    let section: Section
    let type: Int
    let isInternet: Bool
    /// How long it holds. A time with its top bit set counts as 0 (RFC 2181 section 8).
    let seconds: UInt32
    /// Where its data is in the message; the two bytes before are its length.
    let data: Range<Int>

    static let zone = 6
    static let options = 41

    /// The records of a message, as far as they are whole.
    static func all(in message: [UInt8]) -> [DNSRecord] {
        guard message.count >= DNSReply.headerBytes else { return [] }
        var place = DNSReply.headerBytes
        for _ in 0..<number(in: message, at: 4, bytes: 2) {
            guard let end = end(ofNameAt: place, in: message) else { return [] }
            place = end + 4
        }
        var records: [DNSRecord] = []
        let sections: [(Section, Int)] = [(.answer, 6), (.authority, 8), (.additional, 10)]
        for (section, count) in sections {
            for _ in 0..<number(in: message, at: count, bytes: 2) {
                // A name, then the type, the class, the time to live, and the count of the data's bytes.
                guard let end = end(ofNameAt: place, in: message), end + 10 <= message.count else { return records }
                place = end + 10 + number(in: message, at: end + 8, bytes: 2)
                guard place <= message.count else { return records }
                let seconds = number(in: message, at: end + 4, bytes: 4)
                records.append(
                    DNSRecord(
                        section: section, type: number(in: message, at: end, bytes: 2),
                        isInternet: number(in: message, at: end + 2, bytes: 2) == 1,
                        seconds: seconds > Int32.max ? 0 : UInt32(seconds), data: (end + 10)..<place))
            }
        }
        return records
    }

    /// The message without the record of EDNS, which is the last one of a question.
    static func withoutExtensions(_ message: [UInt8]) -> [UInt8] {
        // Its name is the root, a single byte, before eight bytes and the count of its data.
        guard let record = all(in: message).last, record.section == .additional, record.type == options,
            record.data.upperBound == message.count, message[11] > 0
        else { return message }
        var rest = Array(message[..<(record.data.lowerBound - 11)])
        rest[11] -= 1
        return rest
    }

    /// The message without the options of EDNS (RFC 6891 section 6.1.2), but with all else of its record.
    ///
    /// Newer versions of c-ares send cookies (RFC 7873), and drop responses with others. Some routers answer with the
    /// cookie of whoever queried the name first, and old servers refuse queries with options. A query has a channel of
    /// its own here, so no cookie that a server gave is ever sent back to it.
    static func withoutOptions(_ message: [UInt8]) -> [UInt8] {
        guard let options = all(in: message).first(where: { $0.section == .additional && $0.type == Self.options }),
            !options.data.isEmpty
        else { return message }
        var rest = message
        rest[options.data.lowerBound - 2] = 0
        rest[options.data.lowerBound - 1] = 0
        rest.removeSubrange(options.data)
        return rest
    }

    /// The place behind a name of a message: its labels end with an empty one, or with a reference to a name before.
    ///
    /// - Returns: `nil` if the message ends before.
    static func end(ofNameAt start: Int, in message: [UInt8]) -> Int? {
        var place = start
        while place < message.count {
            let count = Int(message[place])
            if count >= 0xc0 { return place + 2 <= message.count ? place + 2 : nil }
            place += 1 + count
            if count == 0 { return place }
        }
        return nil
    }

    static func number(in message: [UInt8], at place: Int, bytes count: Int) -> Int {
        message[place..<(place + count)].reduce(0) { $0 << 8 + Int($1) }
    }
}
