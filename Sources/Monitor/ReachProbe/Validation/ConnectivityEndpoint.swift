internal import ReachCore

/// A page with a known answer, which distinguishes the Internet from a portal and from no connection.
package struct ConnectivityEndpoint: Hashable, Sendable {
    /// The right answer.
    package enum Expectation: Hashable, Sendable {
        /// Status 204, as `/generate_204` pages give it.
        case noContent
        /// Status 200 and this header, whose name is compared without regard to case; `nil` accepts any value.
        case header(name: String, value: String?)
        /// Status 200 and a body that begins with these bytes.
        case body(prefix: [UInt8])
    }

    /// The URL as it was written, with its host in ASCII.
    package let url: String
    package let isSecure: Bool
    /// A name, or an address without its brackets.
    package let host: String
    package let port: UInt16
    /// Path and query; at least `/`.
    package let path: String
    package var expectation: Expectation

    /// The requested page, in one form for all of its URLs, so that its answer counts once and costs its bytes once.
    package var page: String {
        let name = host.before(".") ?? host[...]
        let literal = name.unicodeScalars.contains(":") ? "[\(name)]" : name.lowercased()
        return "\(isSecure ? "https" : "http")://\(literal):\(port)\(path)"
    }

    /// - Returns: `nil` unless it is an absolute http or https URL with a host, and printable. A user or password is
    ///   not allowed either, since a portal would receive it.
    package init?(_ url: String, expectation: Expectation = .noContent) {
        guard url.utf8.count <= 2000, !url.utf8.contains(0x20), DisplayText.sanitized(url) == url,
            (try? Target(url)) != nil,
            let reference = try? URLReference(url, slips: .allowed), let authority = reference.authority,
            reference.scheme == "http" || reference.scheme == "https", authority.userInformation == nil,
            authority.port != 0, !authority.host.unicodeScalars.contains("%")
        else { return nil }
        isSecure = reference.scheme == "https"
        let isBracketed = authority.host.hasUTF8Prefix("[")
        host = isBracketed ? String(authority.host.dropFirst().dropLast()) : authority.host
        port = authority.port ?? (isSecure ? 443 : 80)
        path = (reference.path.isEmpty ? "/" : reference.path) + (reference.query.map { "?" + $0 } ?? "")
        let origin = "\(isSecure ? "https" : "http")://\(authority.host)\(authority.port.map { ":\($0)" } ?? "")"
        self.url = InternationalName.isOne(url) ? origin + path : url
        self.expectation = expectation
    }
}
