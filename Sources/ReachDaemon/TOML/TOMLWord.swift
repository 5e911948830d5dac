/// Values that are one word: truth values, numbers and dates.
enum TOMLWord {
    static func read(_ word: String) -> TOMLNode.Value? {
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf": return .float(.infinity)
        case "-inf": return .float(-.infinity)
        case "nan", "+nan", "-nan": return .float(.nan)
        default: break
        }
        if let number = integer(word) { return .integer(number) }
        if let number = float(word) { return .float(number) }
        return looksLikeMoment(word) ? .moment(word) : nil
    }

    private static func integer(_ word: String) -> Int64? {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where word.hasPrefix(prefix) {
            return digits(word.dropFirst(2), radix: radix).flatMap { Int64($0, radix: radix) }
        }
        let (sign, rest) = signed(word[...])
        return decimal(rest).flatMap { Int64(sign + $0) }
    }

    private static func float(_ word: String) -> Double? {
        let (sign, rest) = signed(word[...])
        let halves = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        let parts = halves[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count + halves.count > 2, var number = decimal(parts[0]) else { return nil }
        if parts.count == 2 {
            guard let fraction = digits(parts[1], radix: 10) else { return nil }
            number += "." + fraction
        }
        if halves.count == 2 {
            let (sign, power) = signed(halves[1])
            guard let power = digits(power, radix: 10) else { return nil }
            number += "e" + sign + power
        }
        return Double(sign + number)
    }

    private static func signed(_ text: Substring) -> (sign: String, rest: Substring) {
        text.hasPrefix("-") ? ("-", text.dropFirst()) : text.hasPrefix("+") ? ("", text.dropFirst()) : ("", text)
    }

    /// Digits without a zero in front.
    private static func decimal(_ text: Substring) -> String? {
        guard let digits = digits(text, radix: 10), digits == "0" || !digits.hasPrefix("0") else { return nil }
        return digits
    }

    /// The digits without the underscores, each of which must stand between two of them.
    private static func digits(_ text: Substring, radix: Int) -> String? {
        let groups = text.split(separator: "_", omittingEmptySubsequences: false)
        guard groups.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.hexDigitValue ?? 99 < radix } })
        else { return nil }
        return groups.joined()
    }

    /// `2026-11-21`, with or without a time, or `07:32:00`: enough to say what it is.
    private static func looksLikeMoment(_ word: String) -> Bool {
        let bytes = Array(word.utf8)
        func isDigits(_ range: Range<Int>) -> Bool {
            range.upperBound <= bytes.count
                && bytes[range].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        if isDigits(0..<4), isDigits(5..<7), isDigits(8..<10) {
            return bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-")
        }
        return isDigits(0..<2) && isDigits(3..<5) && isDigits(6..<8) && bytes[2] == UInt8(ascii: ":")
            && bytes[5] == UInt8(ascii: ":")
    }
}
