internal import ReachCore

/// The URL of a portal's page in a form that is safe to pass to hooks and programs that open it: a valid http or https
/// URL (RFC 3986) with a host and without a user, whatever the portal sent.
///
/// Bytes that a URL may not contain are escaped in the path, query and fragment, as browsers do it. An invalid host or
/// port makes the address invalid.
struct PortalAddress: Hashable, Sendable {
    let text: String

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasUTF8Prefix($0) }) else {
            return nil
        }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        guard Self.isAuthority(authority) else { return nil }
        self.text = scheme + String(decoding: authority, as: UTF8.self) + Self.escaped(rest[authority.endIndex...])
    }

    /// Whether the text is a host, or an address in brackets, and optionally a port.
    private static func isAuthority(_ text: ArraySlice<UInt8>) -> Bool {
        let isBracketed = text.first == UInt8(ascii: "[")
        let hostEnd: Int?
        if isBracketed {
            hostEnd = text.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
        } else {
            hostEnd = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        }
        guard let hostEnd else { return false }
        let host = isBracketed ? text[..<hostEnd].dropFirst().dropLast() : text[..<hostEnd]
        let port = text[hostEnd...]
        guard !host.isEmpty, host.count <= 255,
            host.allSatisfy({ isBracketed ? isHexadecimal($0) || ":.".utf8.contains($0) : isOfName($0) })
        else { return false }
        guard let colon = port.first else { return true }
        let number = Int(String(decoding: port.dropFirst(), as: UTF8.self))
        return colon == UInt8(ascii: ":") && port.dropFirst().allSatisfy { 0x30...0x39 ~= $0 }
            && number.map { 1...65_535 ~= $0 } == true
    }

    private static func escaped(_ text: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        var hasFragment = false
        for (place, byte) in zip(text.indices, text) {
            let isEscape =
                byte == UInt8(ascii: "%")
                && text[place...].dropFirst().prefix(2).count { isHexadecimal($0) } == 2
            // A fragment must not contain another number sign.
            let beginsFragment = byte == UInt8(ascii: "#") && !hasFragment
            hasFragment = hasFragment || beginsFragment
            if isEscape || beginsFragment || isOfName(byte) || "/?:@!$&'()*+,;=".utf8.contains(byte) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x46 ~= byte & 0xdf
    }

    /// Whether the byte is unreserved (RFC 3986 2.3).
    private static func isOfName(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x5a ~= byte & 0xdf || "-._~".utf8.contains(byte)
    }
}
