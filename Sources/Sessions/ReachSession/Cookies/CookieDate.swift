internal import ReachCore

/// The dates of cookies, which servers write in more forms than those of HTTP (RFC 6265, 5.1.1): the parts are found
/// wherever they stand.
package enum CookieDate {
    /// Reads a date.
    ///
    /// - Returns: `nil` where a part is missing or impossible. Dates before 1970 and after 2199 become the first or the
    ///   last instant between them.
    package static func parse(_ text: String) -> Timestamp? {
        var (time, day, month, year): ([Int]?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if 70...99 ~= year { year += 1900 } else if 0...69 ~= year { year += 2000 }
        guard year >= 1601, time[0] < 24, time[1] < 60, time[2] < 60 else { return nil }
        // The day is checked in a year of the same length.
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let near = 1970..<2200 ~= year ? year : isLeap ? 1972 : 1971
        let parts = [month, day] + time
        let digits = parts.map { $0 < 10 ? "0\($0)" : "\($0)" }
        guard let date = Timestamp("\(near)-\(digits[0])-\(digits[1])T\(digits[2]):\(digits[3]):\(digits[4])Z") else {
            return nil
        }
        if year == near { return date }
        return Timestamp(secondsSince1970: year < 1970 ? 0 : Int.max, nanoseconds: 0)
    }

    /// Letters, digits, ":" and bytes that are neither space nor punctuation of ASCII belong to a token.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }

    /// Reads the digits at the front of a token; what follows them must not be a digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let front = token.prefix { 48...57 ~= $0 }
        guard digits.contains(front.count) else { return nil }
        return Int(Substring(front))
    }

    /// `hh:mm:ss`, with one or two digits each, and anything but a digit behind them.
    private static func clock(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[..<2].allSatisfy({ $0.allSatisfy { 48...57 ~= $0 } }) else { return nil }
        let numbers = parts.compactMap { number($0, digits: 1...2) }
        return numbers.count == 3 ? numbers : nil
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return months.firstIndex(of: name).map { $0 + 1 }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
}
