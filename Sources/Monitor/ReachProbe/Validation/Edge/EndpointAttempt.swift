internal import ReachCore
internal import ReachLoop
internal import ReachKernel
internal import ReachTransfer

/// One request to one endpoint by one path: resolves the endpoint's name, then fetches its page. Confined to the loop's
/// thread.
final class EndpointAttempt {
    struct Outcome {
        let answer: EndpointAnswer
        /// Bytes sent and received, approximately.
        let bytes: Int
        let remote: TrafficQuestion.Remote?
        /// Whether the name was not resolved, and the expected answer came from the address that it had before.
        var isAnsweredWithoutName = false
        /// The time in which the first packet was answered; `nil` if none was.
        var roundTrip: Duration?
        /// The shortest time in which a name server answered; `nil` if none did.
        var nameTime: Duration?
    }

    /// What is asked for.
    struct Form {
        var accept = "*/*"
        /// Bytes of the body that are read.
        var bodyBytes = EndpointResponse.bodyLimitBytes
        /// Whether the endpoint may have a private address, but none of this machine or of the link alone: anybody on
        /// the link may announce an API, and must not make the daemon connect to services that trust this machine.
        var allowsPrivate = false

        static let validation = Form()
        /// The API of a portal often has a private address, since only the network's own machines ask it.
        static let portal = Form(
            accept: "application/captive+json", bodyBytes: PortalAnswer.limitBytes, allowsPrivate: true)
    }

    private let endpoint: ConnectivityEndpoint
    private let form: Form
    private let route: DefaultRoute
    private let proxy: TransferProxy
    /// The address at which the endpoint gave the expected answer before.
    private let known: IPAddress?
    private let resolver: NameService
    private let transfers: TransferEngine
    private let deadline: BootTime
    private let completion: (Outcome) -> Void
    private var lookup: NameService.ID?
    private var transfer: TransferID?
    private var bytes = 0
    private var remote: TrafficQuestion.Remote?
    private var roundTrip: Duration?
    private var nameTime: Duration?
    /// Whether the known address was tried, and answered as expected.
    private var isKnownAddressGood: Bool?
    private var isNameLost = false
    private var isNameFound = false

    /// Estimated size of a DNS question and its answer, headers included.
    private static let lookupBytes = 250
    /// Estimated size of a connection, a short request and the head of its response, headers included.
    private static let exchangeBytes = 1200
    /// Estimated size of a TLS handshake: mostly the server's certificates.
    private static let handshakeBytes = 6000
    /// Estimated size of an attempt, before one was measured.
    static func expectedBytes(_ endpoint: ConnectivityEndpoint) -> Int {
        lookupBytes + exchangeBytes + (endpoint.isSecure ? handshakeBytes : 0)
    }

    init(
        _ endpoint: ConnectivityEndpoint, _ form: Form = .validation, by route: DefaultRoute, until deadline: BootTime,
        proxy: TransferProxy = .none, known: IPAddress? = nil, resolver: NameService, transfers: TransferEngine,
        completion: @escaping (Outcome) -> Void
    ) {
        self.endpoint = endpoint
        self.proxy = proxy
        self.form = form
        self.route = route
        self.deadline = deadline
        self.known = proxy == .none ? known : nil
        self.resolver = resolver
        self.transfers = transfers
        self.completion = completion
    }

    deinit { cancel() }

    /// Starts the attempt. The completion is called once, after this returns.
    func begin() {
        if let address = IPAddress(server) {
            connect(to: address)
        } else {
            resolve(server, in: route.key.family) { [unowned self] result in
                switch result {
                case .success(let addresses): receive(addresses)
                case .failure(.notFound): resolveOtherFamily()
                case .failure(let failure): endWithoutName(EndpointFailure(failure))
                }
            }
        }
    }

    /// Ends the attempt without calling its completion.
    func cancel() {
        if let lookup { resolver.cancel(lookup) }
        if let transfer { transfers.cancel(transfer) }
        (lookup, transfer) = (nil, nil)
    }

    /// The host that is connected to: the proxy, where there is one.
    private var server: String { proxy.url?.host ?? endpoint.host }

    private var interface: InterfaceBinding {
        InterfaceBinding(name: route.name, index: UInt32(bitPattern: route.key.interface))
    }

    private func resolve(
        _ host: String, in family: IPAddress.Family, _ then: @escaping (Result<[IPAddress], NameFailure>) -> Void
    ) {
        let question = NameQuestion(host, family: family, interface: interface)
        bytes += Self.lookupBytes
        let began = SystemClock.boot
        lookup = resolver.resolve(question, within: max(deadline - SystemClock.boot, .milliseconds(1))) {
            [unowned self] result in
            lookup = nil
            if result.isAnswered {
                let time = SystemClock.boot - began
                nameTime = min(nameTime ?? time, time)
            }
            then(result)
        }
    }

    /// Finds out whether the name exists in the other family: a name without addresses in this one proves nothing about
    /// its path.
    private func resolveOtherFamily() {
        resolve(server, in: route.key.family == .ipv4 ? .ipv6 : .ipv4) { [unowned self] result in
            switch result {
            case .success: end(.failure(.local))
            case .failure(let failure): endWithoutName(EndpointFailure(failure))
            }
        }
    }

    // MARK: - Without the name

    /// Asks at the address at which the endpoint answered before, while its name is not resolved: whether only names
    /// fail.
    func tryKnownAddress() {
        guard let known, !isNameFound, transfer == nil, isKnownAddressGood == nil else { return }
        fetch(from: known) { [unowned self] answer in
            isKnownAddressGood = EndpointFinding(answer, from: endpoint) == .proof
            if isNameLost { end(.failure(.nameNotResolved)) }
        }
    }

    private func endWithoutName(_ failure: EndpointFailure) {
        guard failure == .nameNotResolved else { return end(.failure(failure)) }
        isNameLost = true
        guard known != nil, isKnownAddressGood == nil else { return end(.failure(failure)) }
        tryKnownAddress()
    }

    // MARK: - By the name

    private func receive(_ addresses: [IPAddress]) {
        isNameFound = true
        if let transfer { transfers.cancel(transfer) }
        transfer = nil
        // One address is enough to show whether anything gets through (Android does the same).
        // A proxy of a network may have a public name and a private address.
        let mayBeForged = proxy.url == nil && !form.allowsPrivate && PublicName.isPublic(server)
        let good = addresses.first { !mayBeForged || !PublicName.isPrivate($0, subnets: route.subnets) }
        if let good { return connect(to: good) }
        guard let address = addresses.first else { return end(.failure(.nameNotResolved)) }
        guard address.family == .ipv6, address.scope > .link else { return end(.privateAddress(address)) }
        unlessTranslated(address)
    }

    /// Connects to a private address that stands for an IPv4 host behind a NAT64, whose prefix may be a private one.
    private func unlessTranslated(_ address: IPAddress) {
        resolve(TranslationPrefix.wellKnownName, in: .ipv6) { [unowned self] result in
            let prefixes = ((try? result.get()) ?? []).compactMap(TranslationPrefix.init)
            prefixes.contains { $0.contains(address) } ? connect(to: address) : end(.privateAddress(address))
        }
    }

    static func isOfThisMachineOrLink(_ address: IPAddress, _ route: DefaultRoute) -> Bool {
        address.scope <= .link || route.addresses.contains { $0.address == address }
    }

    private func connect(to address: IPAddress) {
        if form.allowsPrivate, Self.isOfThisMachineOrLink(address, route) { return end(.privateAddress(address)) }
        fetch(from: address) { [unowned self] in end($0) }
    }

    private func fetch(from address: IPAddress, _ then: @escaping (EndpointAnswer) -> Void) {
        guard address.family == route.key.family, let url = try? TransferURL(endpoint.url) else {
            return then(.failure(.local))
        }
        let isDirect = proxy == .none
        var request = TransferRequest(url: url)
        request.headers = [HeaderField("User-Agent", "reach"), HeaderField("Accept", form.accept)]
        request.owner = .validation
        request.interface = interface
        request.family = address.family
        if isDirect { request.addresses = [address] }
        request.proxy = proxy
        let patience = max(deadline - SystemClock.boot, .milliseconds(1))
        request.timeouts = TransferTimeouts(connect: patience, total: patience)
        request.limit = ResponseLimit(bodyBytes: UInt64(form.bodyBytes), action: .stop)
        request.version = .http1
        request.connection = .fresh
        remote = TrafficQuestion.Remote(address: address, port: proxy.url?.port ?? endpoint.port)
        bytes += Self.exchangeBytes
        transfer = transfers.start(
            request,
            handler: TransferHandler { [unowned self] event in
                guard case .finished(let report) = event else { return }
                transfer = nil
                bytes += Int(report.receivedBytes)
                let phases = report.hops.last?.phases
                roundTrip = phases?.roundTrip
                if phases?.connected != nil, endpoint.isSecure { bytes += Self.handshakeBytes }
                then(EndpointAnswer(report, byProxy: !isDirect))
            })
    }

    private func end(_ answer: EndpointAnswer) {
        completion(
            Outcome(
                answer: answer, bytes: bytes, remote: remote,
                isAnsweredWithoutName: isNameLost && isKnownAddressGood == true, roundTrip: roundTrip,
                nameTime: nameTime))
    }
}

extension Result<[IPAddress], NameFailure> {
    /// Whether a name server answered, whatever it said.
    fileprivate var isAnswered: Bool {
        switch self {
        case .success, .failure(.notFound), .failure(.serverFailure): true
        case .failure(.silent), .failure(.notAsked): false
        }
    }
}
