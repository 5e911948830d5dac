extension IPAddress: LosslessStringConvertible, CustomStringConvertible {
    /// The address as text: dotted decimal for IPv4, the form that RFC 5952 recommends for IPv6.
    public var description: String { family == .ipv4 ? dotted(UInt32(low)) : groups }

    /// Reads dotted decimal with four parts, or IPv6 as in RFC 4291. Like `inet_pton` it refuses octal and short forms.
    ///
    /// - Returns: `nil` for anything else, including text with a zone (`%eth0`) or a prefix length.
    public init?(_ text: String) {
        guard text.utf8.count <= 45 else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let (high, low) = Self.parseGroups(text) else { return nil }
            self.init(ipv6: high, low)
        } else {
            guard let bits = Self.parseDotted(text[...]) else { return nil }
            self.init(ipv4: bits)
        }
    }

    /// Appends ``description``.
    package func append(to output: inout ByteWriter) {
        guard family == .ipv4 else { return output.append(groups) }
        output.appendDigits(Int64(low >> 24 & 255))
        for shift: UInt64 in [16, 8, 0] {
            output.append(UInt8(ascii: "."))
            output.appendDigits(Int64(low >> shift & 255))
        }
    }

    private func dotted(_ bits: UInt32) -> String {
        "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
    }

    private var groups: String {
        if high == 0, low >> 32 == 0xffff { return "::ffff:" + dotted(UInt32(truncatingIfNeeded: low)) }
        let words = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> $0) } }
        let zeros = Self.longestRunOfZeros(in: words)
        let hex = words.map { String($0, radix: 16) }
        guard zeros.count > 1 else { return hex.joined(separator: ":") }
        return hex[..<zeros.lowerBound].joined(separator: ":") + "::" + hex[zeros.upperBound...].joined(separator: ":")
    }

    private static func longestRunOfZeros(in words: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for (index, word) in words.enumerated() {
            if word != 0 {
                start = index + 1
            } else if index + 1 - start > best.count {
                best = start..<index + 1
            }
        }
        return best
    }

    private static func parseDotted(_ text: Substring) -> UInt32? {
        var (bits, octet, digits, dots) = (UInt32(0), UInt32(0), 0, 0)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // Not "01", which some read as octal.
                guard digits == 0 || octet > 0 else { return nil }
                octet = octet * 10 + UInt32(byte - UInt8(ascii: "0"))
                digits += 1
                guard octet < 256 else { return nil }
            case UInt8(ascii: "."):
                guard digits > 0, dots < 3 else { return nil }
                bits = bits << 8 | octet
                (octet, digits, dots) = (0, 0, dots + 1)
            default: return nil
            }
        }
        return dots == 3 && digits > 0 ? bits << 8 | octet : nil
    }

    private static func parseGroups(_ text: String) -> (high: UInt64, low: UInt64)? {
        let zeros = text.utf8Range(of: "::")
        guard let head = words(text[..<(zeros?.lowerBound ?? text.endIndex)], isTail: zeros == nil) else { return nil }
        var all = head
        if let zeros {
            guard let tail = words(text[zeros.upperBound...], isTail: true), head.count + tail.count < 8 else {
                return nil
            }
            all += Array(repeating: 0, count: 8 - head.count - tail.count) + tail
        }
        guard all.count == 8 else { return nil }
        func half(_ part: ArraySlice<UInt16>) -> UInt64 { part.reduce(0) { $0 << 16 | UInt64($1) } }
        return (half(all[..<4]), half(all[4...]))
    }

    private static func words(_ text: Substring, isTail: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var result: [UInt16] = []
        let parts = text.split(scalar: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if isTail, index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
                guard let bits = parseDotted(part) else { return nil }
                result += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                // UInt16's initializer alone would accept "+1" and "-0".
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") }),
                    let word = UInt16(part, radix: 16)
                else { return nil }
                result.append(word)
            }
        }
        return result
    }
}
