package import ReachCore
package import ReachLoop
package import ReachTransfer

/// Checks one path once, for a request that failed on it. Confined to the loop's thread.
///
/// The ``Validator`` does not see the result, and keeps its own schedule.
package final class PathProbe {
    private let loop: EventLoop
    private let endpoints: [ConnectivityEndpoint]
    private let proxies: TransferProxies
    private let transfers: TransferEngine
    private let resolverOptions: NameService.Options
    private var rounds: [UInt64: ValidationRound] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameter endpoints: At least one.
    package init(
        loop: EventLoop, endpoints: [ConnectivityEndpoint], proxies: TransferProxies = .none, transfers: TransferEngine,
        resolverOptions: NameService.Options = NameService.Options()
    ) {
        self.loop = loop
        self.endpoints = endpoints
        self.proxies = proxies
        self.transfers = transfers
        self.resolverOptions = resolverOptions
    }

    /// Starts a check.
    ///
    /// - Parameters:
    ///   - limit: Time for name resolution, connection and answer together.
    ///   - reply: Called once on the loop, after this returns: `true` if the Internet itself answered, `false` if a
    ///     portal did or it is limited, `nil` if the check proved nothing.
    package func ask(by route: DefaultRoute, within limit: Duration, reply: @escaping (Bool?) -> Void) {
        lastNumber += 1
        let number = lastNumber
        rounds[number] = ValidationRound(
            endpoints, by: route, proxies, known: [:], within: limit, transfers: transfers,
            resolverOptions: resolverOptions, on: loop
        ) { [weak self] outcome in
            self?.rounds[number] = nil
            reply(outcome.result.connectivity.map { $0 == .full })
        }
    }
}
