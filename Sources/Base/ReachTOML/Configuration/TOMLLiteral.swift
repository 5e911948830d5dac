internal import ReachCore

/// Values as TOML 1.0 writes them.
package enum TOMLLiteral {
    /// A basic string.
    package static func text(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A key, in quotes where it needs them.
    package static func key(_ name: String) -> String {
        let isBare =
            !name.isEmpty
            && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        return isBare ? name : text(name)
    }

    package static func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ", ") + "]" }

    /// A duration in the largest unit of which it is a multiple, in quotes.
    package static func duration(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        guard nanoseconds != 0 else { return text("0s") }
        let units: [(String, Int64)] = [
            ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
            ("ms", 1_000_000), ("us", 1000),
        ]
        for (name, size) in units where nanoseconds % size == 0 { return text("\(nanoseconds / size)\(name)") }
        let rest = String(nanoseconds % 1000)
        return text("\(nanoseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest + "us")
    }
}
