package import ReachCore

/// Which targets a scrape may name: `https://*.example.net`, `icmp://192.0.2.0/24`, `tcp://db.example.net:5432`.
///
/// Without a port only the kind's own port is allowed, and with `:*` any port. Names are compared as they are written:
/// what a name stands for is up to its name servers.
package struct ProbeTargetPattern: Hashable, Sendable, CustomStringConvertible {
    private enum Host: Hashable, Sendable {
        case name(String)
        /// Any name below this one.
        case below(String)
        case addresses(IPPrefix)
    }

    /// The pattern as it was written.
    package let description: String
    package let kind: ProbeTarget.Kind
    private let host: Host
    /// `nil` for any.
    private let port: UInt16?

    /// - Throws: A sentence that says what is wrong with the text.
    package init(_ text: String) throws(TargetError) {
        func fault(_ problem: String) -> TargetError {
            TargetError(description: "'\(DisplayText.excerpt(text))' \(problem)")
        }
        guard text.utf8.count <= Target.longestText, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw fault("is no URL")
        }
        let parts = text.split(scalar: ":", maxSplits: 1)
        guard parts.count == 2, parts[1].hasUTF8Prefix("//"),
            let kind = ProbeTarget.Kind(rawValue: parts[0].lowercased())
        else { throw fault("does not begin with a scheme, as in https://*.example.net") }
        let authority = parts[1].dropFirst(2)
        let (hostText, portText) = Self.split(authority)
        guard let host = Self.host(hostText) else {
            throw fault("has no name, name below *., address or prefix in its place")
        }
        switch portText {
        case "*"?: port = nil
        case let digits?:
            guard kind != .icmp, let number = UInt16(digits), number > 0, digits.utf8.allSatisfy({ 48...57 ~= $0 })
            else {
                throw fault("has no port that can be connected to")
            }
            port = number
        case nil:
            guard let standard = kind.standardPort else { throw fault("has no port; :* allows any") }
            port = standard
        }
        (description, self.kind, self.host) = (text, kind, host)
    }

    /// The host, which may be a prefix with a slash, and what follows the colon behind it.
    private static func split(_ text: Substring) -> (host: Substring, port: Substring?) {
        if text.hasUTF8Prefix("[") {
            let inner = text.dropFirst().prefixScalars { $0 != "]" }
            let rest = text.dropFirst(1 + inner.count)
            guard rest.hasUTF8Prefix("]"), inner.containsUTF8(":") else { return ("", nil) }
            let port = rest.dropFirst()
            return (inner, port.isEmpty ? nil : port.hasUTF8Prefix(":") ? port.dropFirst() : "")
        }
        let parts = text.split(scalar: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count > 1 ? parts[1] : nil)
    }

    private static func host(_ text: Substring) -> Host? {
        let text = String(text)
        if let prefix = IPPrefix(text) { return .addresses(prefix) }
        if let address = IPAddress(text) {
            return IPPrefix(address, length: address.family == .ipv4 ? 32 : 128).map(Host.addresses)
        }
        let isBelow = text.hasUTF8Prefix("*.")
        let name = isBelow ? String(text.dropFirst(2)) : text
        // By the grammar of all other hosts, without what else a URL may have.
        guard name.utf8.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) }),
            case .name(let host)? = (try? Target("http://" + name + "/"))?.subject
        else { return nil }
        return isBelow ? .below(normal(host)) : .name(normal(host))
    }

    private static func normal(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.before(".").map(String.init) ?? lower
    }

    package func allows(_ target: ProbeTarget) -> Bool {
        guard target.kind == kind, port == nil || kind == .icmp || port == target.port else { return false }
        // Two readers of a URL that differ about its host would be a way past this list.
        let pieces = URLPieces(target.description)
        guard pieces.authority?.userInformation == nil, !target.description.utf8.contains(UInt8(ascii: "\\")) else {
            return false
        }
        switch (host, target.host) {
        // An address with a zone is one of a link that no list can know.
        case (.addresses(let prefix), .address(let address, zone: nil)?): return prefix.contains(address)
        case (.name(let name), .name(let wanted)?): return Self.normal(wanted).utf8.elementsEqual(name.utf8)
        case (.below(let domain), .name(let wanted)?): return Self.normal(wanted).hasUTF8Suffix("." + domain)
        default: return false
        }
    }
}
