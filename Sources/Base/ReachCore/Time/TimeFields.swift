/// A cursor over the fields of a written time.
struct TimeFields {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text.utf8[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether a space comes next, and then a digit.
    var isAtSpacedNumber: Bool {
        rest.first == UInt8(ascii: " ") && rest.dropFirst().first.map(Self.isDigit) == true
    }

    /// Skips this character; `false` if something else comes next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips this word; `false` if something else comes next.
    mutating func skip(word: String) -> Bool {
        guard rest.starts(with: word.utf8) else { return false }
        rest = rest.dropFirst(word.utf8.count)
        return true
    }

    /// Reads a number of as many digits.
    mutating func number(_ digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let byte = rest.popFirst(), Self.isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - 48)
        }
        return value
    }

    /// Reads the fraction of a second, of one to nine digits behind a dot; 0 without a dot.
    mutating func nanoseconds() -> Int64? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit).count
        guard 1...9 ~= digits, var value = number(digits) else { return nil }
        for _ in digits..<9 { value *= 10 }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte }
}
