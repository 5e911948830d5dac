/// The proxies that programs use by the environment, by curl's rules: each variable in lower case, or else in capitals,
/// but never `HTTP_PROXY`, as a web server gives it to CGI programs from a client's header `Proxy`.
package struct EnvironmentProxies {
    private let environment: (String) -> String?

    /// - Parameter environment: The value of a variable.
    package init(_ environment: @escaping (String) -> String?) { self.environment = environment }

    private func value(_ name: String) -> String? {
        environment(name) ?? (name == "http_proxy" ? nil : environment(name.uppercased()))
    }

    /// The text of the variable that names the proxy for https, or for http. An empty one means no proxy, also where
    /// `all_proxy` names one.
    package func text(isSecure: Bool) -> String? {
        let text = value(isSecure ? "https_proxy" : "http_proxy") ?? value("all_proxy")
        return text?.isEmpty == true ? nil : text
    }

    /// The hosts that are reached without a proxy, as ``ProxyExclusionList`` reads them.
    package var exceptions: String { value("no_proxy") ?? "" }

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
