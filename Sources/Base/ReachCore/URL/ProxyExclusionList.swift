/// The hosts that are reached without a proxy: a list as in the variable `no_proxy`.
package struct ProxyExclusionList: Hashable, Sendable {
    private enum Rule: Hashable, Sendable {
        case everything
        /// A domain, with the hosts below it.
        case domain(String, port: UInt16?)
        case addresses(IPPrefix, port: UInt16?)
    }

    private let rules: [Rule]

    /// Reads a list with commas or blanks between its parts. Each is a domain, which includes the hosts below it, with
    /// or without a dot at its front; an address; a block of addresses such as `192.0.2.0/24`; or `*` for everything. A
    /// domain or an address may have a port (`example.org:8080`, `[2001:db8::1]:8080`), and then means that port only.
    /// A part that cannot be read means nothing.
    package init(_ text: String) {
        rules = text.splitScalars { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { Self.rule(String($0)) }
    }

    private static func rule(_ text: String) -> Rule? {
        if text == "*" { return .everything }
        if let prefix = IPPrefix(text) { return .addresses(prefix, port: nil) }
        if let rule = address(text, port: nil) { return rule }
        var (name, port) = (text[...], UInt16?.none)
        if let colon = text.unicodeScalars.lastIndex(of: ":") {
            guard let number = UInt16(text[text.unicodeScalars.index(after: colon)...]) else { return nil }
            (name, port) = (text[..<colon], number)
        }
        if InternationalName.isOne(name) {
            guard let ascii = try? InternationalName.ascii(name) else { return nil }
            name = ascii[...]
        }
        if let rule = address(String(name), port: port) { return rule }
        while name.hasUTF8Prefix(".") { name.unicodeScalars.removeFirst() }
        if name.hasUTF8Suffix(".") { name.unicodeScalars.removeLast() }
        let isDomain = !name.isEmpty && !name.unicodeScalars.contains { $0 == ":" || $0 == "/" }
        return isDomain ? .domain(name.lowercased(), port: port) : nil
    }

    private static func address(_ text: String, port: UInt16?) -> Rule? {
        let bare = text.between("[", "]").map(String.init) ?? text
        return IPAddress(bare).flatMap { IPPrefix($0, length: $0.family == .ipv4 ? 32 : 128) }
            .map { .addresses($0, port: port) }
    }

    /// Whether a host is reached without a proxy.
    ///
    /// - Parameter host: A name in lower case, or an address without brackets.
    package func contain(_ host: String, port: UInt16) -> Bool {
        let name = host.before(".").map(String.init) ?? host
        let address = IPAddress(name)
        return rules.contains { rule in
            switch rule {
            case .everything: true
            case .domain(let domain, let only):
                address == nil && (only ?? port) == port && (name == domain || name.hasUTF8Suffix("." + domain))
            case .addresses(let block, let only): (only ?? port) == port && address.map(block.contains) ?? false
            }
        }
    }
}
