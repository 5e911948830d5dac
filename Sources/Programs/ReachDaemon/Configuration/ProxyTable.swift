internal import ReachCore
internal import ReachTOML

/// The keys `proxy`, `https_proxy` and `no_proxy` of a table.
package struct ProxyTable: Hashable, Sendable {
    /// One proxy, as it is written.
    package enum Choice: Hashable, Sendable {
        /// That of the daemon's own environment.
        case environment
        case none
        /// The URL of a proxy, which may have a user and a password.
        case url(String)

        var text: String {
            switch self {
            case .environment: "environment"
            case .none: "none"
            case .url(let text): text
            }
        }
    }

    /// The proxy for both schemes; `nil` as ``Choice/environment``.
    package var proxy: Choice?
    /// The proxy for https, where it is another one.
    package var https: Choice?
    /// The hosts that are reached without a proxy.
    package var exceptions: [String] = []
}

extension ConfigurationKind<ProxyTable.Choice?> {
    static var proxy: Self {
        Self(
            "the URL of a proxy in quotes, such as \"http://192.0.2.1:3128\", or \"none\" or \"environment\"",
            write: { $0.map { TOMLLiteral.text($0.text) } }
        ) { value in
            guard let text = value.text else { return .otherType }
            if text == "none" || text.isEmpty { return .value(ProxyTable.Choice.none) }
            if text == "environment" { return .value(.environment) }
            // Not repeated, since it may hold a password.
            guard let reference = try? URLReference(text, slips: .allowed), let authority = reference.authority,
                authority.port != 0, (try? Target.host(authority.host)) != nil,
                ["http", "socks5", "socks5h"].contains(reference.scheme)
            else { return .wrong("it does not begin with http://, socks5:// or socks5h://, or has no host") }
            return .value(.url(text))
        }
    }
}

extension ConfigurationKind<String> {
    static var proxyException: Self {
        Self(
            "a domain, an address, a prefix or \"*\" in quotes, such as \"example.org\" or \"192.0.2.0/24\"",
            write: { TOMLLiteral.text($0) }
        ) { value in
            guard let text = value.text else { return .otherType }
            let isOne = !text.utf8.contains { $0 == 0x20 || $0 == 0x2c || $0 == 0x09 }
            return Reading(
                isOne && ProxyExclusionList(text) != ProxyExclusionList("") ? text : nil,
                else: "\"\(text)\" is none of them")
        }
    }
}
