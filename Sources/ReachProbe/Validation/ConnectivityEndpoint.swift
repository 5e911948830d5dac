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

    /// The page that is asked, written one way for all of its URLs: its answer counts once, and costs its bytes once.
    package var page: String {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        let literal = name.contains(":") ? "[\(name)]" : name.lowercased()
        return "\(isSecure ? "https" : "http")://\(literal):\(port)\(path)"
    }

    /// - Returns: `nil` unless it is an absolute URL of http or https with a host, in printable ASCII and without a
    ///   user or password, since it is sent to whoever answers for the host.
    package init?(_ url: String, expectation: Expectation = .noContent) {
        guard url.utf8.count <= 2000, url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), (try? Target(url)) != nil,
            let reference = try? URLReference(url, slips: .allowed), let authority = reference.authority,
            reference.scheme == "http" || reference.scheme == "https", authority.userInformation == nil,
            authority.port != 0, !authority.host.contains("%")
        else { return nil }
        self.url = url
        isSecure = reference.scheme == "https"
        let isBracketed = authority.host.hasPrefix("[")
        host = isBracketed ? String(authority.host.dropFirst().dropLast()) : authority.host
        port = authority.port ?? (isSecure ? 443 : 80)
        path = (reference.path.isEmpty ? "/" : reference.path) + (reference.query.map { "?" + $0 } ?? "")
        self.expectation = expectation
    }
}
