package import ReachCore
package import ReachLoop
package import ReachTransfer

/// Asks the endpoints by one path, once, for somebody whose attempt on that path failed. Confined to the loop's thread.
///
/// It is not told to the ``Validator``, whose rhythm is its own.
package final class PathProbe {
    private let loop: EventLoop
    private let endpoints: [ConnectivityEndpoint]
    private let transfers: TransferEngine
    private let resolverOptions: NameService.Options
    private var rounds: [UInt64: ValidationRound] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameter endpoints: Never none.
    package init(
        loop: EventLoop, endpoints: [ConnectivityEndpoint], transfers: TransferEngine,
        resolverOptions: NameService.Options = NameService.Options()
    ) {
        self.loop = loop
        self.endpoints = endpoints
        self.transfers = transfers
        self.resolverOptions = resolverOptions
    }

    /// - Parameters:
    ///   - limit: For names, connection and answer.
    ///   - reply: Called once, later, on the loop: whether the Internet itself answered, and not a portal in its place;
    ///     `nil` where nothing could be believed.
    package func ask(by uplink: Uplink, within limit: Duration, reply: @escaping (Bool?) -> Void) {
        lastNumber += 1
        let number = lastNumber
        rounds[number] = ValidationRound(
            endpoints, by: uplink, within: limit, transfers: transfers,
            resolver: NameService(loop: loop, options: resolverOptions), on: loop
        ) { [weak self] outcome in
            self?.rounds[number] = nil
            reply(outcome.result.connectivity.map { $0 == .full })
        }
    }
}
