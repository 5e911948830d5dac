/// Durations as text: `500ms`, `10s`, `1.5h`, `1m30s`, or a bare number of seconds, in arguments and configuration.
package enum DurationText {
    private static let units: [(name: String, nanoseconds: Double)] = [
        ("ms", 1e6), ("us", 1e3), ("s", 1e9), ("m", 60e9), ("h", 3600e9), ("d", 86400e9),
    ]

    /// Reads a duration.
    ///
    /// - Returns: `nil` for anything that is not a duration between zero and about 100 years.
    package static func parse(_ text: String) -> Duration? {
        var rest = text[...]
        var total = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefixScalars { $0.isDigit || $0 == "." }
            guard !digits.hasUTF8Prefix("."), !digits.hasUTF8Suffix("."), let number = Double(digits) else {
                return nil
            }
            rest = rest[digits.endIndex...]
            let name = rest.prefixScalars(while: \.isLetter)
            rest = rest[name.endIndex...]
            if name.isEmpty {
                guard rest.isEmpty, digits.utf8.count == text.utf8.count else { return nil }
                total += number * 1e9
            } else {
                guard let unit = units.first(where: { $0.name == name }) else { return nil }
                total += number * unit.nanoseconds
            }
        }
        // Rounded, because 1.001 * 1e9 is a little less than 1001000000.
        return total <= 3.2e18 ? .nanoseconds(Int64(total.rounded())) : nil
    }

    /// Describes a duration for people in about two units: `3 d 4 h`, `12 min 5 s`, `1.2 s`, `80 ms`.
    package static func describe(_ duration: Duration) -> String {
        let milliseconds = duration.nanoseconds / 1_000_000
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<1: return "\(milliseconds) ms"
        case ..<10: return "\(seconds).\(milliseconds / 100 % 10) s"
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }

    /// Describes a short duration with three significant digits: `0.12 ms`, `12.3 ms`, `1.23 s`.
    package static func milliseconds(_ duration: Duration) -> String {
        let microseconds = duration.microseconds
        switch microseconds {
        case ..<10_000: return "\(fixed(microseconds / 10, 2)) ms"
        case ..<100_000: return "\(fixed(microseconds / 100, 1)) ms"
        case ..<1_000_000: return "\(microseconds / 1000) ms"
        default: return "\(fixed(microseconds / 10_000, 2)) s"
        }
    }

    /// Formats a number that was multiplied by a power of ten.
    private static func fixed(_ number: Int64, _ decimals: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }
}
