internal import ReachCore

/// The proxy that a request asks for.
package enum RequestProxy: Hashable, Sendable {
    /// That of the configuration, or none.
    case usual
    /// None, whatever the configuration says.
    case none
    /// `http://192.0.2.1:3128`: scheme, host and port, which has no credentials.
    case server(String)

    static let noneWord = "none"

    /// `none`, or the server; `nil` for the configuration's.
    package var text: String? {
        switch self {
        case .usual: nil
        case .none: Self.noneWord
        case .server(let text): text
        }
    }

    /// Reads a proxy as curl's `-x` has it: the scheme is http and the port 1080 where the text names none; an empty
    /// text means no proxy.
    ///
    /// - Throws: ``RequestValidationError``. Credentials are refused, since other users can see a command's arguments,
    ///   and every report of the request would show them.
    package init(_ text: String) throws(RequestValidationError) {
        guard !text.isEmpty, text != Self.noneWord else {
            self = .none
            return
        }
        let url = text.utf8Range(of: "://") == nil ? "http://" + text : text
        guard url.utf8.count <= Self.longest, let reference = try? URLReference(url, slips: .allowed),
            let authority = reference.authority, authority.port != 0, (try? Target.host(authority.host)) != nil
        else { throw Self.fault("cannot be read: write http://HOST:PORT") }
        guard authority.userInformation == nil else {
            throw Self.fault("has a user: the key proxy of [queue] in reach.toml(5) may have one")
        }
        guard let scheme = reference.scheme, ["http", "socks5", "socks5h"].contains(scheme) else {
            throw Self.fault("begins with http://, socks5:// or socks5h://")
        }
        self = .server("\(scheme)://\(authority.host.lowercased()):\(authority.port ?? 1080)")
    }

    /// A name has 253 bytes at most.
    private static let longest = 512

    /// The text is not repeated: it may hold a password.
    private static func fault(_ what: String) -> RequestValidationError {
        RequestValidationError(.proxy, "the URL of a proxy " + what)
    }
}
