internal import ReachCore

/// A page that answers in a known way, by which the Internet is told from a portal and from nothing.
package struct ConnectivityEndpoint: Hashable, Sendable {
    /// What the right answer is.
    package enum Expectation: Hashable, Sendable {
        /// Status 204, as `/generate_204` pages give it.
        case noContent
        /// Status 200 and this header, letter case of the name aside; any value where none is given.
        case header(name: String, value: String?)
        /// Status 200 and a body that begins with these bytes.
        case body(prefix: [UInt8])
    }

    /// As it was written.
    package let url: String
    package let isSecure: Bool
    /// A name, or an address without its brackets.
    package let host: String
    package let port: UInt16
    /// With its query, at least `/`.
    package let path: String
    package var expectation: Expectation

    /// - Returns: `nil` unless it is an absolute URL of http or https with a host, in printable ASCII and without a
    ///   user or password, since it is sent to whoever answers for the host.
    package init?(_ url: String, expectation: Expectation = .noContent) {
        guard url.utf8.count <= 2000, url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), (try? Target(url)) != nil,
            let colon = url.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let rest = url[colon...]
        guard rest.hasPrefix("://") else { return nil }
        switch url[..<colon].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        let afterScheme = rest.dropFirst(3)
        let end = afterScheme.firstIndex { "/?#".contains($0) } ?? afterScheme.endIndex
        guard let authority = HostAndPort(String(afterScheme[..<end])), !authority.host.contains("%") else {
            return nil
        }
        let tail = afterScheme[end...].prefix { $0 != "#" }
        self.url = url
        host = authority.host
        port = authority.port ?? (isSecure ? 443 : 80)
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        self.expectation = expectation
    }
}

/// The part of a URL between the scheme and the path.
private struct HostAndPort {
    let host: String
    let port: UInt16?

    init?(_ text: String) {
        guard !text.contains("@") else { return nil }
        var host = text[...]
        var digits: Substring?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<close]
            let behind = text[text.index(after: close)...]
            guard behind.isEmpty || behind.hasPrefix(":") else { return nil }
            digits = behind.isEmpty ? nil : behind.dropFirst()
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            digits = text[text.index(after: colon)...]
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        guard let digits else {
            port = nil
            return
        }
        guard let number = UInt16(digits), number > 0, digits.allSatisfy(\.isNumber) else { return nil }
        port = number
    }
}
