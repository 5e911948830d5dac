package import ReachCore

/// Where a request goes: what limits, breakers and budgets are kept for. Scheme, host and port, and the proxy that the
/// request asks for: by another proxy another path leads there, and another server answers first.
package struct Destination: Hashable, Sendable, CustomStringConvertible {
    /// `https://example.net:443`: scheme and host in lower case, the port always there. With a proxy of the request's
    /// own `https://example.net:443 by http://192.0.2.1:3128`, or `... by none`.
    package let description: String

    /// The destination that was ``description`` before. For what comes back from the queue's file.
    package init(stored description: String) { self.description = description }

    /// - Throws: ``RequestValidationError`` for what is no URL of a host, or of another scheme than `http` and `https`.
    package init(url: String) throws(RequestValidationError) {
        guard url.utf8.count <= QueueLimits.longestHead else {
            throw Self.fault(url, "has more than \(QueueLimits.longestHead) bytes")
        }
        let reference = try Self.read(url)
        guard let scheme = reference.scheme else {
            throw Self.fault(url, "is not a URL such as https://example.net/")
        }
        guard scheme == "http" || scheme == "https" else {
            throw Self.fault(url, "is neither http nor https")
        }
        guard let authority = reference.authority else {
            throw Self.fault(url, "is not a URL such as https://example.net/")
        }
        guard authority.userInformation == nil else {
            throw Self.fault(url, "holds a user name: put credentials into a header")
        }
        guard authority.port != 0 else { throw Self.fault(url, Self.portFault) }
        do throws(TargetError) {
            _ = try Target.host(authority.host)
        } catch {
            throw RequestValidationError(.url, error.description)
        }
        let port = authority.port ?? (scheme == "http" ? 80 : 443)
        description = "\(scheme)://\(authority.host.lowercased()):\(port)"
    }

    // MARK: Proxies

    private static let by = " by "

    /// Scheme, host and port.
    package var origin: Substring {
        description.utf8Range(of: Self.by).map { description[..<$0.lowerBound] } ?? description[...]
    }

    /// The proxy that the request asks for.
    package var proxy: RequestProxy {
        guard let range = description.utf8Range(of: Self.by) else { return .usual }
        let text = String(description[range.upperBound...])
        return text == RequestProxy.noneWord ? .none : .server(text)
    }

    /// The same origin by another proxy.
    package func reached(by proxy: RequestProxy) -> Destination {
        Destination(stored: origin + (proxy.text.map { Self.by + $0 } ?? ""))
    }

    /// The host that is connected to, as far as the request says.
    private var peer: Target? {
        if case .server(let text) = proxy { try? Target(text) } else { target }
    }

    /// Whoever answers has proved to be the destination.
    package var isSecure: Bool { description.hasUTF8Prefix("https:") }

    /// A loopback address, or the name for one (RFC 6761, 6.3).
    package var isOnThisMachine: Bool {
        switch peer?.subject {
        case .address(let address, _): address.isLoopback
        case .name(let name): name == "localhost" || name.hasUTF8Suffix(".localhost")
        default: false
        }
    }

    /// Whether its addresses are known without a lookup: it is an address, or this machine.
    package var isAddress: Bool {
        if case .address = peer?.subject { return true }
        return isOnThisMachine
    }

    /// The host as a target: what `reachable` asks about.
    package var target: Target? { try? Target(String(origin)) }

    private static let portFault = "has a port that is no number from 1 to 65535"

    /// What is read here is what is sent: both ends use one reader.
    private static func read(_ url: String) throws(RequestValidationError) -> URLReference {
        do throws(WebAddressError) {
            return try URLReference(url, slips: .allowed)
        } catch {
            switch error.fault {
            case .badScheme, .noScheme: throw fault(url, "is not a URL such as https://example.net/")
            case .badPort: throw fault(url, portFault)
            case .badCharacter:
                throw fault(url, "has characters that a URL cannot have (\(error)): write them as %XX")
            default: throw fault(url, "cannot be used: \(error)")
            }
        }
    }

    private static func fault(_ url: String, _ what: String) -> RequestValidationError {
        RequestValidationError(.url, "'\(DisplayText.excerpt(url))' \(what)")
    }
}
