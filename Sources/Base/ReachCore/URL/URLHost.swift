/// The host of a web URL, as a name or an address to connect to.
package struct URLHost {
    /// The name in lower case, or the address in its usual form, without brackets and zone.
    package let name: String
    /// The host as part of a URL: an IPv4 address in its usual form, anything else as it was written.
    package let written: String
    package let address: IPAddress?
    /// The interface of a link-local address, as in `[fe80::1%25eth0]` (RFC 6874) and `[fe80::1%eth0]`.
    package private(set) var zone: String?

    /// - Parameter text: A host of ``URLReference``.
    /// - Returns: `nil` if the text is neither an address nor made of letters, digits, "-", ".", "_" and "~", and for
    ///   numbers that are not an address: a resolver, libcurl and a person could read those differently.
    package init?(_ text: String) {
        if text.utf8.first == UInt8(ascii: "[") {
            let inside = text.dropFirst().dropLast()
            let bare = inside.prefixScalars { $0 != "%" }
            guard let address = IPAddress(String(bare)) else { return nil }
            self.address = address.unmapped
            name = address.description
            written = text
            let zone = inside[bare.endIndex...].dropFirst()
            if !zone.isEmpty {
                self.zone = String(zone.hasPrefix("25") && zone.utf8.count > 2 ? zone.dropFirst(2) : zone)
            }
            return
        }
        guard !text.isEmpty, text.utf8.allSatisfy(URLCharacters.isUnreserved) else { return nil }
        if let bits = Self.ipv4(text) {
            guard let bits = bits else { return nil }
            let address = IPAddress(ipv4: bits)
            self.address = address
            name = address.description
            written = address.description
        } else {
            address = nil
            name = text.lowercased()
            written = text
        }
    }

    /// Reads numbers as browsers and libcurl do: one to four of them, decimal, octal (0) or hexadecimal (0x); the last
    /// one fills the remaining bytes.
    ///
    /// - Returns: `.none` for a name, which does not end in a number; `.some(nil)` for numbers that are not an address.
    private static func ipv4(_ text: String) -> UInt32?? {
        var parts = text.split(scalar: ".", omittingEmptySubsequences: false)
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        guard let last = parts.last, last.unicodeScalars.first?.isDigit == true,
            number(last) != nil || last.utf8.allSatisfy({ 48...57 ~= $0 })
        else { return .none }
        let numbers = parts.compactMap(number)
        guard numbers.count == parts.count, (1...4).contains(numbers.count) else { return .some(nil) }
        var bits: UInt64 = 0
        for (index, number) in numbers.dropLast().enumerated() {
            guard number < 256 else { return .some(nil) }
            bits |= number << (24 - 8 * UInt64(index))
        }
        guard let rest = numbers.last, rest < 1 << (8 * UInt64(5 - numbers.count)) else { return .some(nil) }
        return UInt32(bits | rest)
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.first.map({ 48...57 ~= $0 }) == true else { return nil }
        if let digits = text.after("0x") ?? text.after("0X") {
            let isPlain = digits.unicodeScalars.first?.hexDigit != nil  // The initialiser would take a sign.
            return digits.isEmpty ? 0 : isPlain ? UInt64(digits, radix: 16) : nil
        }
        return text.utf8.count > 1 && text.hasUTF8Prefix("0") ? UInt64(text, radix: 8) : UInt64(text)
    }
}
