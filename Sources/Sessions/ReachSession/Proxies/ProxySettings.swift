internal import Glibc
internal import ReachCore
internal import ReachTransfer

/// A proxy through which requests are sent.
public struct Proxy: Hashable, Sendable, CustomStringConvertible {
    /// Without a password.
    public var description: String {
        "\(url.scheme)://\(url.address?.family == .ipv6 ? "[\(url.host)]" : url.host):\(url.port)"
    }
    let url: TransferURL

    /// Reads the URL of a proxy: `http://`, `socks5://` (this machine resolves the target's name) or `socks5h://` (the
    /// proxy does), with a host, and possibly a user, a password and a port. As for curl, the scheme is http and the
    /// port 1080 where the text names none. Special characters of a user and a password are percent-escaped.
    ///
    /// - Throws: A ``RequestError`` of the kind `request` with the word `bad-proxy`. A proxy that is itself reached by
    ///   https is not supported.
    public init(_ text: String) throws(RequestError) {
        do throws(TransferURL.ValidationError) {
            url = try TransferURL(proxy: text.containsUTF8("://") ? text : "http://" + text)
        } catch {
            // The text may hold a password.
            throw RequestError(
                .request, "bad-proxy",
                error.kind == .unsupportedScheme
                    ? "a proxy's URL begins with http://, socks5:// or socks5h://" : "a proxy's URL cannot be read")
        }
    }
}

/// The proxies of a session, by the scheme of a request's URL. Each hop of a redirect is sent through the proxy for its
/// own URL.
///
/// An https request goes through a tunnel (CONNECT, or SOCKS): the proxy sees its host and its size, and the target's
/// certificate is judged as without a proxy. The proxy's own credentials (Basic, or SOCKS5's user and password) go to
/// the proxy only.
///
/// The session waits for a path to the Internet, as for any request, and not for one to the proxy: for a request that
/// goes through a proxy ``RequestConstraint/reachable`` means ``RequestConstraint/any``, since a host behind a proxy
/// may have neither a name nor a path here. The proxy's own name is resolved by this machine.
///
/// A failure has the word `proxy-failed` (no connection, no answer), `proxy-refused` (it makes no connection to the
/// target) or `proxy-authentication` (it wants other credentials).
public struct ProxySettings: Hashable, Sendable {
    /// The proxy for http; `nil` for none.
    public var http: Proxy?
    /// The proxy for https; `nil` for none.
    public var https: Proxy?
    /// The hosts that are reached without a proxy.
    public var exceptions: ProxyExceptions

    /// No proxy.
    public static let none = ProxySettings()

    /// Proxies for both schemes, and the exceptions from both.
    public init(http: Proxy? = nil, https: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions("")) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// One proxy for both schemes.
    public init(_ proxy: Proxy, exceptions: ProxyExceptions = ProxyExceptions("")) {
        self.init(http: proxy, https: proxy, exceptions: exceptions)
    }

    /// The proxies of this process's environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
    ///
    /// - Throws: A ``RequestError`` with the word `bad-proxy`, if one cannot be used.
    public static func environment() throws(RequestError) -> ProxySettings {
        try ProxySettings(variables: CommandEnvironment.proxies)
    }

    /// The proxies of an environment, by curl's rules: each variable in lower case, or else in capitals. `HTTP_PROXY`
    /// in capitals is not read, as a web server gives it to CGI programs from a client's header `Proxy`. An empty
    /// variable means no proxy.
    public init(variables: [String: String]) throws(RequestError) {
        let environment = EnvironmentProxies { variables[$0] }
        func proxy(isSecure: Bool) throws(RequestError) -> Proxy? {
            guard let text = environment.text(isSecure: isSecure) else { return nil }
            return try Proxy(text)
        }
        http = try proxy(isSecure: false)
        https = try proxy(isSecure: true)
        exceptions = ProxyExceptions(environment.exceptions)
    }

    /// The proxy for a URL.
    package func proxy(for url: TransferURL) -> TransferProxy {
        guard let proxy = url.isSecure ? https : http, !exceptions.contain(url.host, port: url.port) else {
            return .none
        }
        return .explicit(proxy.url)
    }
}

private enum CommandEnvironment {
    static var proxies: [String: String] {
        let names = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
        return (names + names.map { $0.uppercased() }).reduce(into: [:]) { found, name in
            found[name] = getenv(name).map { String(cString: $0) }
        }
    }
}

/// The hosts that are reached without a proxy: a list as in the variable `no_proxy`.
public struct ProxyExceptions: Hashable, Sendable {
    private let list: ProxyExclusionList

    /// Reads a list with commas or blanks between its parts. Each is a domain, which includes the hosts below it, with
    /// or without a dot at its front; an address; a block of addresses such as `192.0.2.0/24`; or `*` for everything. A
    /// domain or an address may have a port (`example.org:8080`, `[2001:db8::1]:8080`), and then means that port only.
    /// A part that cannot be read means nothing.
    public init(_ text: String) { list = ProxyExclusionList(text) }

    /// Whether a host is reached without a proxy.
    ///
    /// - Parameter host: A name in lower case, or an address without brackets.
    package func contain(_ host: String, port: UInt16) -> Bool { list.contain(host, port: port) }
}
