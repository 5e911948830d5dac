/// The dates of HTTP headers (RFC 9110, 5.6.7).
package enum HTTPDate {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete forms that a recipient must accept:
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. The day of the week is not looked at.
    package static func parse(_ text: String) -> Timestamp? {
        // A hyphen only stands between the parts of the second form.
        guard !zip(text.utf8, text.utf8.dropFirst()).contains(where: { $0 == 32 && $1 == 45 }) else { return nil }
        let words = text.splitScalars { $0 == " " || $0 == "," || $0 == "-" || $0 == "\t" }.map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT": return time(day: words[1], month: words[2], year: words[3], clock: words[4])
        case 5: return time(day: words[2], month: words[1], year: words[4], clock: words[3])
        default: return nil
        }
    }

    /// When a server wrote an answer, by its own clock: `Date`, and the time that the answer has spent in caches since
    /// (`Age`; RFC 9111, 5.1).
    package static func sent(_ date: String?, age: String?) -> Timestamp? {
        let seconds = age.flatMap { Int32($0) } ?? 0
        return date.flatMap(parse).map { $0 + .seconds(max(0, seconds)) }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func time(day: String, month: String, year: String, clock: String) -> Timestamp? {
        guard let monthIndex = months.firstIndex(of: month), day.count <= 2, let dayNumber = number(day) else {
            return nil
        }
        guard let yearNumber = self.year(year), clock.count == 8 else { return nil }
        let pad = { (number: Int, width: Int) in
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        // A leap second is the second after it.
        let second = clock.before("60").map { $0.hasUTF8Suffix(":") ? $0 + "59" : clock[...] } ?? clock[...]
        // Later than a timestamp can be is as late as one can be: whoever reads it has a bound of its own.
        guard yearNumber < 2262 else { return Timestamp(nanosecondsSince1970: .max) }
        return Timestamp("\(pad(yearNumber, 4))-\(pad(monthIndex + 1, 2))-\(pad(dayNumber, 2))T\(second)Z")
    }

    /// Two digits are of the last century from 70 on: no server answers with a date in the far future.
    private static func year(_ text: String) -> Int? {
        guard let year = number(text) else { return nil }
        switch text.count {
        case 2: return year < 70 ? 2000 + year : 1900 + year
        case 4: return year
        default: return nil
        }
    }

    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { 48...57 ~= $0 } ? Int(text) : nil
    }
}
