internal import ReachCore

/// What a URL or a reference to one is made of (RFC 3986, section 4.1).
struct AddressParts {
    struct Authority: Hashable {
        let userInformation: String?
        let host: String
        let port: UInt16?
    }

    private(set) var scheme: String?
    private(set) var authority: Authority?
    private(set) var path = ""
    private(set) var query: String?
    private(set) var fragment: String?

    init(_ text: String) throws(WebAddressError) {
        try Self.check(text)
        var rest = text[...]
        if let mark = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(where: { $0 == ":" || $0 == "/" }), rest[colon] == ":" {
            guard Self.isScheme(rest[..<colon]) else { throw WebAddressError(.badScheme, at: 0) }
            scheme = rest[..<colon].lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            let start = rest.index(rest.startIndex, offsetBy: 2)
            let end = rest[start...].firstIndex(of: "/") ?? rest.endIndex
            let offset = text.utf8.distance(from: text.startIndex, to: start)
            authority = try Self.authority(rest[start..<end], at: offset)
            rest = rest[end...]
        }
        path = String(rest)
        for bracket in ["[", "]"] where (path + (query ?? "") + (fragment ?? "")).contains(bracket) {
            throw WebAddressError(.badCharacter(bracket), at: Self.lastOffset(of: bracket, in: text))
        }
    }

    /// Every byte may stand somewhere in a URL, and percent signs escape something.
    private static func check(_ text: String) throws(WebAddressError) {
        let bytes = Array(text.utf8)
        var hashes = 0
        for (offset, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                guard offset + 2 < bytes.count, isHex(bytes[offset + 1]), isHex(bytes[offset + 2]) else {
                    throw WebAddressError(.badEscape, at: offset)
                }
            case UInt8(ascii: "#"):
                hashes += 1
                if hashes > 1 { throw WebAddressError(.badCharacter("#"), at: offset) }
            default:
                guard WebAddress.isUnreserved(byte) || ":/?[]@!$&'()*+,;=".utf8.contains(byte) else {
                    throw WebAddressError(.badCharacter(character(at: offset, of: text)), at: offset)
                }
            }
        }
    }

    private static func character(at offset: Int, of text: String) -> String {
        text.unicodeScalars[text.utf8.index(text.startIndex, offsetBy: offset)].description
    }

    private static func lastOffset(of character: String, in text: String) -> Int {
        let bytes = Array(text.utf8)
        return bytes.lastIndex(of: character.utf8.first ?? 0) ?? 0
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first | 0x20 else { return false }
        return text.utf8.allSatisfy { byte in
            WebAddress.isUnreserved(byte) && byte != UInt8(ascii: "_") && byte != UInt8(ascii: "~")
                || byte == UInt8(ascii: "+")
        }
    }

    private static func authority(_ text: Substring, at offset: Int) throws(WebAddressError) -> Authority {
        var host = text
        var userInformation: String?
        if let at = text.lastIndex(of: "@") {
            userInformation = String(text[..<at])
            host = text[text.index(after: at)...]
        }
        guard userInformation?.contains(where: { "@[]".contains($0) }) != true else {
            throw WebAddressError(.badHost, at: offset)
        }
        var port: UInt16?
        let afterBracket = host.lastIndex(of: "]") ?? host.startIndex
        if let colon = host[afterBracket...].lastIndex(of: ":") {
            let digits = host[host.index(after: colon)...]
            port = UInt16(digits)
            guard digits.isEmpty || (port != nil && digits.utf8.allSatisfy { 48...57 ~= $0 }) else {
                throw WebAddressError(.badPort, at: offset + text.utf8.count - digits.utf8.count)
            }
            host = host[..<colon]
        }
        guard !host.isEmpty else { throw WebAddressError(.noHost, at: offset) }
        guard isHost(host) else { throw WebAddressError(.badHost, at: offset) }
        return Authority(userInformation: userInformation, host: String(host), port: port)
    }

    private static func isHost(_ text: Substring) -> Bool {
        guard text.hasPrefix("[") else { return !text.contains { "[]:@".contains($0) } }
        guard text.hasSuffix("]") else { return false }
        let address = text.dropFirst().dropLast()
        // A zone's percent sign is itself escaped in a URL (RFC 6874).
        let bare = address.firstIndex(of: "%").map { address[..<$0] } ?? address
        return bare.contains(":") && IPAddress(String(bare)) != nil
    }
}
