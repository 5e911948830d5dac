package import ReachCore

/// The proxies of a program's requests, by the scheme of their URL.
package struct TransferProxies: Hashable, Sendable {
    /// The proxy for http; `nil` for none.
    package var http: TransferURL?
    /// The proxy for https; `nil` for none.
    package var https: TransferURL?
    /// The hosts that are reached without a proxy, besides this machine.
    package var exceptions: ProxyExclusionList

    package static let none = TransferProxies()

    package init(
        http: TransferURL? = nil, https: TransferURL? = nil, exceptions: ProxyExclusionList = ProxyExclusionList("")
    ) {
        (self.http, self.https, self.exceptions) = (http, https, exceptions)
    }

    package func proxy(for url: TransferURL) -> TransferProxy {
        guard let proxy = url.isSecure ? https : http, !url.isOnThisMachine,
            !exceptions.contain(url.host, port: url.port)
        else { return .none }
        return .explicit(proxy)
    }
}

extension TransferURL {
    /// Whether the host is this machine, which a proxy would take for itself.
    fileprivate var isOnThisMachine: Bool {
        address?.isLoopback ?? (host == "localhost" || host.hasUTF8Suffix(".localhost"))
    }
}
