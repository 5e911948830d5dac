internal import ReachCore

/// Parses the URL of a ``ProbeTarget``.
struct ProbeTargetParser {
    private let text: String

    private static let grammar = "there are \(ProbeTarget.Kind.allCases.map(\.beginning).listed)"

    init(_ text: String) { self.text = text }

    mutating func parse() throws(TargetError) -> ProbeTarget {
        guard text.utf8.count <= Target.longestText else {
            throw fault("is longer than \(Target.longestText) bytes")
        }
        // Letters outside ASCII are escaped, those of the host by libidn2. Other bytes could smuggle lines into a
        // request.
        guard !text.utf8.contains(0x20), DisplayText.sanitized(text) == text else {
            throw fault("has spaces or control characters: write them as %20")
        }
        guard let colon = text.unicodeScalars.firstIndex(of: ":"),
            let kind = ProbeTarget.Kind(rawValue: text[..<colon].lowercased())
        else { throw fault("is no URL that can be probed\(suggestion ?? ": " + Self.grammar)") }
        let rest = text[text.unicodeScalars.index(after: colon)...]
        if kind == .dns { return try question(rest) }
        guard rest.hasUTF8Prefix("//") else { throw fault("has no // after its scheme") }
        let (host, port) = try self.host(rest.dropFirst(2))
        let path = rest.dropFirst(2).dropScalars { !"/?#".unicodeScalars.contains($0) }
        if kind != .http, kind != .https, !path.isEmpty, path != "/" {
            throw fault("has a path, which \(kind.rawValue) does not know")
        }
        guard let number = port ?? kind.standardPort else { throw fault("has no port: \(kind.rawValue)://HOST:PORT") }
        if kind == .icmp, port != nil { throw fault("has a port, which icmp does not know") }
        return ProbeTarget(kind: kind, description: text, host: host, port: number)
    }

    /// The URL that pings an address, where the text is one of IPv6, whose colons look like those of a URL.
    private var suggestion: String? {
        guard case .address(let address, let zone)? = (try? Target(text))?.subject else { return nil }
        let isIncomplete = address.isLinkLocal && zone == nil
        let suffix = (zone ?? (isIncomplete ? "eth0" : nil)).map { "%" + $0 } ?? ""
        let advice = isIncomplete ? ", with the interface of its link: every link has link-local addresses" : ""
        return "; try icmp://[\(address)\(suffix)]\(advice)"
    }

    /// `dns://SERVER[:PORT]/NAME[?type=TYPE]` or `dns:NAME[?type=TYPE]`.
    private func question(_ rest: Substring) throws(TargetError) -> ProbeTarget {
        var name = rest
        var server: (host: ProbeTarget.Host, port: UInt16?)?
        if rest.hasUTF8Prefix("//") {
            let authority = rest.dropFirst(2).prefixScalars { $0 != "/" }
            name = rest.dropFirst(2 + authority.count)
            guard name.hasUTF8Prefix("/") else { throw fault("names nothing to ask for: dns://SERVER/NAME") }
            name = name.dropFirst()
            if !authority.isEmpty { server = try host(authority) }
        }
        var type = DNSRecordType.a
        if let mark = name.unicodeScalars.firstIndex(of: "?") {
            type = try recordType(name[name.unicodeScalars.index(after: mark)...])
            name = name[..<mark]
        }
        let asked = try self.asked(name)
        guard DNSNameText.isValid(asked) else {
            throw fault("has no name that a name server could be asked for")
        }
        return ProbeTarget(
            kind: .dns, description: text, host: server?.host, port: server?.port ?? 53,
            question: ProbeTarget.Question(name: asked, type: type))
    }

    /// A name as name servers know it.
    private func asked(_ name: Substring) throws(TargetError) -> String {
        guard InternationalName.isOne(name) else { return String(name) }
        do throws(InternationalName.Failure) {
            return try InternationalName.ascii(name)
        } catch {
            throw fault(error.description)
        }
    }

    private func recordType(_ query: Substring) throws(TargetError) -> DNSRecordType {
        for part in query.splitScalars(whereSeparator: { $0 == "&" || $0 == ";" }) {
            let pair = part.split(scalar: "=", maxSplits: 1)
            if pair.count == 2, pair[0].lowercased() == "type" {
                if let type = DNSRecordType(rawValue: pair[1].uppercased()) { return type }
            } else if pair.count == 2, pair[0].lowercased() == "class", pair[1].uppercased() == "IN" {
                continue
            }
            let types = DNSRecordType.allCases.map(\.rawValue).joined(separator: ", ")
            throw fault("asks for something other than type=TYPE, TYPE being one of \(types)")
        }
        return .a
    }

    private func host(_ authority: Substring) throws(TargetError) -> (ProbeTarget.Host, UInt16?) {
        // Hosts and ports have the same grammar as in all other URLs.
        let url = "http://" + authority
        let target = try Target(url, quotedAs: text)
        let host: ProbeTarget.Host
        switch target.subject {
        case .address(let address, let zone): host = .address(address, zone: zone)
        case .name(let name): host = .name(name)
        case .internet, .prefix, .interface: throw fault("is sent to no host")
        }
        let pieces = URLPieces(url).authority
        let port = pieces?.portNumber ?? nil
        guard port != 0 else { throw fault("has no port that can be connected to") }
        return (host, port)
    }

    private func fault(_ what: String) -> TargetError {
        TargetError(description: "'\(DisplayText.excerpt(text))' \(what)")
    }
}

/// The text form of DNS names.
enum DNSNameText {
    /// Whether the labels have 1 to 63 bytes, and the name at most 253. Any other character may be part of a label
    /// (RFC 2181 11): services use underscores, reverse zones use slashes.
    static func isValid(_ name: String) -> Bool {
        let bare = name.before(".") ?? name[...]
        guard (1...253).contains(bare.utf8.count) else { return false }
        return bare.split(scalar: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != 0x5c }
        }
    }
}
