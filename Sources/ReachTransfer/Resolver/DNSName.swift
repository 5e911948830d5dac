/// A domain name of DNS (RFC 1035 section 3.1), in lower case: case makes no difference.
package struct DNSName: Hashable, Sendable, CustomStringConvertible {
    /// Without the root's empty one; each has 1 to 63 bytes.
    package let labels: [[UInt8]]

    /// Reads a name as people write it, with a trailing dot or without.
    ///
    /// - Returns: `nil` where a label is empty or longer than 63 bytes, or all is longer than DNS can tell.
    package init?(_ text: String) {
        let name = text.utf8.last == UInt8(ascii: ".") ? text.utf8.dropLast() : text.utf8[...]
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
        self.init(labels: labels)
    }

    init?(labels: [[UInt8]]) {
        guard labels.allSatisfy({ (1...63).contains($0.count) }), labels.reduce(1, { $0 + $1.count + 1 }) <= 255 else {
            return nil
        }
        self.labels = labels.map { label in label.map { (65...90).contains($0) ? $0 + 32 : $0 } }
    }

    /// The name's bytes in a message, without compression.
    var encoded: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }

    /// As people write it; what is not printable is `\DDD`, as in zone files.
    package var description: String {
        guard !labels.isEmpty else { return "." }
        return labels.map { label in
            label.map { byte in
                if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "\\") {
                    return "\\\(Character(Unicode.Scalar(byte)))"
                }
                if (33...126).contains(byte) { return String(Character(Unicode.Scalar(byte))) }
                let digits = String(byte)
                return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }.joined()
        }.joined(separator: ".")
    }
}
