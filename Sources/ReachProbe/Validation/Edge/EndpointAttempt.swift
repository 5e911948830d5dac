internal import ReachCore
internal import ReachLoop
internal import ReachNetlink
internal import ReachTransfer

/// Asks one endpoint by one path: its name, and then itself. Confined to the loop's thread.
final class EndpointAttempt {
    struct Outcome {
        let answer: EndpointAnswer
        /// What was sent and received, about.
        let bytes: Int
        let remote: TrafficQuestion.Remote?
    }

    private let endpoint: ConnectivityEndpoint
    private let uplink: Uplink
    private let resolver: NameService
    private let transfers: TransferEngine
    private let deadline: BootTime
    private let completion: (Outcome) -> Void
    private var lookup: NameService.ID?
    private var transfer: TransferID?
    private var bytes = 0
    private var remote: TrafficQuestion.Remote?

    /// About what the packets of a question to a name server and its answer come to.
    private static let lookupBytes = 250
    /// About what the packets of a connection, a short request and the head of its answer come to, and what TLS adds:
    /// mostly the server's certificates.
    private static let exchangeBytes = 1200
    private static let handshakeBytes = 6000
    /// So much is expected of an endpoint before it was ever asked.
    static func expectedBytes(_ endpoint: ConnectivityEndpoint) -> Int {
        lookupBytes + exchangeBytes + (endpoint.isSecure ? handshakeBytes : 0)
    }

    init(
        _ endpoint: ConnectivityEndpoint, by uplink: Uplink, until deadline: BootTime, resolver: NameService,
        transfers: TransferEngine, completion: @escaping (Outcome) -> Void
    ) {
        self.endpoint = endpoint
        self.uplink = uplink
        self.deadline = deadline
        self.resolver = resolver
        self.transfers = transfers
        self.completion = completion
    }

    deinit { cancel() }

    /// The completion is called once, later.
    func begin() {
        if let address = IPAddress(endpoint.host) {
            connect(to: address)
        } else {
            ask(for: uplink.key.family) { [unowned self] result in
                switch result {
                case .success(let addresses): take(addresses)
                case .failure(.notFound): askOtherFamily()
                case .failure(let failure): end(.failure(EndpointFailure(failure)))
                }
            }
        }
    }

    /// The completion is not called.
    func cancel() {
        if let lookup { resolver.cancel(lookup) }
        if let transfer { transfers.cancel(transfer) }
        (lookup, transfer) = (nil, nil)
    }

    private var interface: InterfaceBinding {
        InterfaceBinding(name: uplink.name, index: UInt32(bitPattern: uplink.key.interface))
    }

    private func ask(for family: IPAddress.Family, _ then: @escaping (Result<[IPAddress], NameFailure>) -> Void) {
        let question = NameQuestion(endpoint.host, family: family, interface: interface)
        bytes += Self.lookupBytes
        lookup = resolver.resolve(question, within: max(deadline - SystemClock.boot, .milliseconds(1))) {
            [unowned self] result in
            lookup = nil
            then(result)
        }
    }

    /// A name that has addresses in the other family only says nothing of this one.
    private func askOtherFamily() {
        ask(for: uplink.key.family == .ipv4 ? .ipv6 : .ipv4) { [unowned self] result in
            switch result {
            case .success: end(.failure(.local))
            case .failure(let failure): end(.failure(EndpointFailure(failure)))
            }
        }
    }

    private func take(_ addresses: [IPAddress]) {
        let subnets = uplink.subnets.compactMap(\.prefix)
        let wrong = addresses.first { PublicName.isPrivate($0, subnets: subnets) }
        if let wrong, PublicName.isPublic(endpoint.host) { return end(.privateAddress(wrong)) }
        // One address for each family, as Android: what is asked for is whether anything gets through.
        guard let address = addresses.first else { return end(.failure(.nameNotResolved)) }
        connect(to: address)
    }

    private func connect(to address: IPAddress) {
        guard address.family == uplink.key.family, let url = try? TransferURL(endpoint.url) else {
            return end(.failure(.local))
        }
        var request = TransferRequest(url: url)
        request.headers = [HTTPField("User-Agent", "reach"), HTTPField("Accept", "*/*")]
        request.owner = .validation
        request.interface = interface
        request.family = address.family
        request.addresses = [address]
        let patience = max(deadline - SystemClock.boot, .milliseconds(1))
        request.timeouts = TransferTimeouts(connect: patience, total: patience)
        request.limit = ResponseLimit(bodyBytes: UInt64(EndpointResponse.bodyLimitBytes), action: .stop)
        request.version = .http1
        request.connection = .fresh
        remote = TrafficQuestion.Remote(address: address, port: endpoint.port)
        bytes += Self.exchangeBytes
        transfer = transfers.start(
            request,
            handler: TransferHandler { [unowned self] event in
                guard case .finished(let report) = event else { return }
                transfer = nil
                bytes += Int(report.receivedBytes)
                if report.hops.last?.phases.connected != nil, endpoint.isSecure { bytes += Self.handshakeBytes }
                end(EndpointAnswer(report))
            })
    }

    private func end(_ answer: EndpointAnswer) {
        completion(Outcome(answer: answer, bytes: bytes, remote: remote))
    }
}
