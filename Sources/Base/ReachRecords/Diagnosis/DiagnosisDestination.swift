package import ReachCore

/// An address, with the interface of a link-local one.
package struct HostAddress: Hashable, Sendable, CustomStringConvertible {
    package let address: IPAddress
    package let zone: String?

    package init(_ address: IPAddress, zone: String? = nil) {
        self.address = address
        self.zone = zone
    }

    package var family: IPAddress.Family { address.family }

    package var description: String { address.description + (zone.map { "%" + DisplayText.sanitized($0) } ?? "") }
}

/// A host that a diagnosis tests, and how.
package struct DiagnosisDestination: Hashable, Sendable {
    package enum Host: Hashable, Sendable {
        case address(HostAddress)
        case name(String)
    }

    /// What follows a connection.
    package enum Exchange: Hashable, Sendable {
        /// A handshake.
        case tls
        /// A request for this URL.
        case http(String)
    }

    /// A proxy that programs use for this destination, by the environment.
    package struct Proxy: Hashable, Sendable {
        /// The URL, which may have a user and a password.
        package let url: String
        package let host: Host
        package let port: UInt16

        package init(url: String, host: Host, port: UInt16) {
            self.url = url
            self.host = host
            self.port = port
        }
    }

    /// As it was written.
    package let title: String
    package let host: Host
    /// The ports to connect to; empty for echo requests alone.
    package let ports: [UInt16]
    package let exchange: Exchange?
    /// Whether no port was named: any answer of the host is enough.
    package let isBare: Bool
    /// Whether it is a page with a known answer, of the configuration.
    package let isEndpoint: Bool
    package var proxy: Proxy?

    package init(
        title: String, host: Host, ports: [UInt16], exchange: Exchange? = nil, isBare: Bool = false,
        isEndpoint: Bool = false, proxy: Proxy? = nil
    ) {
        self.title = title
        self.host = host
        self.ports = ports
        self.exchange = exchange
        self.isBare = isBare
        self.isEndpoint = isEndpoint
        self.proxy = proxy
    }

    /// The host that packets go to: the proxy's, where there is one.
    package var nextHost: Host { proxy?.host ?? host }

    package var nextPorts: [UInt16] { proxy.map { [$0.port] } ?? ports }

    /// What follows a connection to a port. A name without a port is tried as a browser would.
    package func exchange(on port: UInt16) -> Exchange? {
        if let exchange { return exchange }
        guard isBare, case .name(let name) = host else { return nil }
        return .http((port == 443 ? "https://" : "http://") + name + "/")
    }

    /// Whether the exchange begins with TLS to the destination.
    package func isSecure(on port: UInt16) -> Bool {
        switch exchange(on: port) {
        case .tls: true
        case .http(let url): url.lowercased().hasUTF8Prefix("https:")
        case nil: false
        }
    }
}

extension DiagnosisDestination {
    /// The ports that are tried where none is named: those of the web.
    private static let usualPorts: [UInt16] = [443, 80]

    /// Reads a target as `reach explain` and `reach probe` do, and also HOST:PORT.
    ///
    /// - Returns: `nil` for the Internet.
    /// - Throws: What is wrong with the text, or why it cannot be tested.
    package static func read(_ text: String) throws(TargetError) -> DiagnosisDestination? {
        let quoted = "'\(DisplayText.sanitized(text.count > 64 ? text.prefix(64) + "..." : text))'"
        // "host:port" is no target by itself; with a scheme before it, it is a URL.
        var completed = text
        if (try? Target(text)) == nil, text.utf8Range(of: "://") == nil, (try? Target("tcp://" + text)) != nil {
            completed = "tcp://" + text
        }
        let target = try Target(completed)
        let host: Host
        switch target.subject {
        case .internet: return nil
        case .address(let address, let zone): host = .address(HostAddress(address, zone: zone))
        case .name(let name): host = .name(name)
        case .prefix, .interface:
            throw TargetError(description: "\(quoted) names no host: --probe tests a host, a URL or the Internet")
        }
        guard let colon = completed.unicodeScalars.firstIndex(of: ":"), completed[colon...].hasUTF8Prefix("://") else {
            return DiagnosisDestination(title: text, host: host, ports: usualPorts, isBare: true)
        }
        let port = URLPieces(completed).authority?.portNumber ?? nil
        guard port != 0 else { throw TargetError(description: "\(quoted) has no port that can be connected to") }
        switch completed[..<colon].lowercased() {
        case "http": return Self(title: text, host: host, ports: [port ?? 80], exchange: .http(completed))
        case "https": return Self(title: text, host: host, ports: [port ?? 443], exchange: .http(completed))
        case "tls": return Self(title: text, host: host, ports: [port ?? 443], exchange: .tls)
        case "icmp": return Self(title: text, host: host, ports: [])
        case "dns": throw TargetError(description: "\(quoted) is a question: `reach probe` asks it")
        default:
            guard let port else { return Self(title: text, host: host, ports: usualPorts, isBare: true) }
            return Self(title: text, host: host, ports: [port])
        }
    }
}

extension DiagnosisDestination {
    /// The title for a sentence.
    package var shown: String { DisplayText.sanitized(title) }

    /// The host, for a sentence.
    package var shownHost: String {
        switch host {
        case .address(let host): host.description
        case .name(let name): DisplayText.sanitized(name)
        }
    }
}

extension EnvironmentProxies {
    /// The proxy for a destination; `nil` where programs use none, or where its URL cannot be read.
    package func proxy(for destination: DiagnosisDestination) -> DiagnosisDestination.Proxy? {
        guard let port = destination.ports.first else { return nil }
        let isSecure: Bool
        switch destination.exchange(on: port) {
        case .http(let url): isSecure = url.lowercased().hasUTF8Prefix("https:")
        case .tls, nil: return nil
        }
        let host: String =
            switch destination.host {
            case .address(let host): host.address.description
            case .name(let name): name.lowercased()
            }
        guard let text = text(isSecure: isSecure), !ProxyExclusionList(exceptions).contain(host, port: port) else {
            return nil
        }
        let url = text.utf8Range(of: "://") != nil ? text : "http://" + text
        guard let target = try? Target(url) else { return nil }
        // curl's port where a proxy names none.
        let proxyPort = (URLPieces(url).authority?.portNumber ?? nil) ?? 1080
        switch target.subject {
        case .address(let address, let zone):
            return .init(url: url, host: .address(HostAddress(address, zone: zone)), port: proxyPort)
        case .name(let name): return .init(url: url, host: .name(name), port: proxyPort)
        case .internet, .prefix, .interface: return nil
        }
    }
}
