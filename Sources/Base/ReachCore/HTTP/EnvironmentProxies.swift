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
}
