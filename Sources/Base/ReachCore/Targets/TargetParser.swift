/// Parses targets as people write them.
enum TargetParser {
    static func parse(_ text: String, quotedAs whole: String) throws(TargetError) -> Target.Subject {
        try checkLength(text)
        guard !text.isEmpty else { throw TargetError(description: "a target must not be empty") }
        if text == "internet" { return .internet }
        if let name = text.after("interface:") { return try interface(String(name)) }
        if text.utf8Range(of: "://") != nil { return try url(text, whole) }
        if text.unicodeScalars.contains("/") {
            guard let prefix = IPPrefix(text) else { throw fault(text, "is not a prefix such as 192.0.2.0/24") }
            return .prefix(prefix)
        }
        return try host(text, whole: text)
    }

    /// Before anything else reads it.
    private static func checkLength(_ text: String) throws(TargetError) {
        guard text.utf8.count <= Target.longestText else {
            throw fault(text, "is longer than \(Target.longestText) bytes")
        }
    }

    static func interface(_ name: String) throws(TargetError) -> Target.Subject {
        guard !name.isEmpty else { throw TargetError(description: "an interface name must not be empty") }
        // IFNAMSIZ allows 15 bytes and ALTIFNAMSIZ 127. The characters are those that dev_valid_name refuses.
        guard name.utf8.count <= 127 else { throw fault(name, "is too long for an interface name (127 bytes)") }
        guard name != ".", name != "..", !name.utf8.contains(where: { " /:\t\n\u{b}\u{c}\r\0".utf8.contains($0) })
        else { throw fault(name, "cannot be an interface name") }
        return .interface(name)
    }

    static func host(_ text: String, whole: String) throws(TargetError) -> Target.Subject {
        try checkLength(text)
        var bare = text[...]
        let inside = bare.between("[", "]").flatMap { $0.isEmpty ? nil : $0 }
        if let inside {
            bare = inside
            guard bare.unicodeScalars.contains(":") else { throw fault(whole, "is not an IPv6 address in brackets") }
        }
        if let percent = bare.unicodeScalars.firstIndex(of: "%") {
            guard let address = IPAddress(String(bare[..<percent])) else {
                throw fault(whole, "is not an address with a zone such as fe80::1%eth0")
            }
            guard case .interface(let zone) = try interface(String(bare[bare.unicodeScalars.index(after: percent)...]))
            else {
                throw fault(whole, "has no interface after the %")
            }
            return .address(address, zone: zone)
        }
        if let address = IPAddress(String(bare)) { return .address(address.unmapped, zone: nil) }
        if inside != nil { throw fault(whole, "is not an IPv6 address in brackets") }
        if bare.unicodeScalars.contains(":") {
            throw fault(whole, "is neither an IPv6 address nor a host name (a target has no port)")
        }
        guard InternationalName.isOne(bare) else { return .name(try hostName(String(bare), whole: whole)) }
        let name = try ascii(bare, whole: whole)
        // Wide digits are digits.
        if let address = IPAddress(name) { return .address(address.unmapped, zone: nil) }
        return .name(try hostName(name, whole: whole))
    }

    private static func ascii(_ name: Substring, whole: String) throws(TargetError) -> String {
        do throws(InternationalName.Failure) {
            return try InternationalName.ascii(name)
        } catch {
            throw fault(whole, error.description)
        }
    }

    /// Checks a host name: letters, digits and hyphens in labels of 1 to 63 bytes, 253 bytes in all (RFC 1123).
    /// Underscores are allowed, because names with them are in use.
    private static func hostName(_ text: String, whole: String) throws(TargetError) -> String {
        guard !text.isEmpty else { throw TargetError(description: "a host name must not be empty") }
        let name = text.before(".") ?? text[...]
        guard name.utf8.count <= 253 else { throw fault(whole, "is too long for a host name (253 bytes)") }
        let labels = name.split(scalar: ".", omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.utf8.count), label.utf8.allSatisfy(\.isOfHostName),
                !label.hasUTF8Prefix("-"), !label.hasUTF8Suffix("-")
            else { throw fault(whole, "is not a host name") }
        }
        if labels.last?.utf8.allSatisfy({ 48...57 ~= $0 }) == true {
            throw fault(whole, "is not an IPv4 address, nor a host name")
        }
        return text
    }

    private static func url(_ text: String, _ whole: String) throws(TargetError) -> Target.Subject {
        let pieces = URLPieces(text)
        guard pieces.hasGoodScheme else { throw fault(whole, "is not a URL: its scheme is wrong") }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw fault(whole, "has control characters, which a URL cannot have")
        }
        guard let authority = pieces.authority else { throw fault(whole, "is a URL without a host") }
        guard authority.portNumber != nil else { throw fault(whole, "has a port that is no number up to 65535") }
        guard !authority.host.isEmpty else { throw fault(whole, "is a URL without a host") }
        return try host(unescapingZone(of: String(authority.host)), whole: whole)
    }

    /// What programs send to the host of a URL that is a target; `nil` where its scheme does not say.
    static func flow(ofURL text: String) -> PacketFlow? {
        let pieces = URLPieces(text)
        let usual: UInt16
        switch pieces.scheme?.lowercased() {
        case "http", "ws": usual = 80
        case "https", "wss": usual = 443
        default: return nil
        }
        return .tcp((pieces.authority?.portNumber ?? nil) ?? usual)
    }

    /// The host with a plain percent sign before its zone, which a URL escapes as `%25` (RFC 6874).
    private static func unescapingZone(of host: String) -> String {
        guard let escaped = host.utf8Range(of: "%25") else { return host }
        return host[..<escaped.lowerBound] + "%" + host[escaped.upperBound...]
    }

    private static func fault(_ text: String, _ what: String) -> TargetError {
        TargetError(description: "'\(DisplayText.excerpt(text))' \(what)")
    }
}
