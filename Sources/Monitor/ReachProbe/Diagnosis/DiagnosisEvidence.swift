package import ReachCore
package import ReachRecords

/// What a diagnosis has found out so far.
package struct DiagnosisEvidence: Sendable {
    package struct Answer: Hashable, Sendable {
        package let result: DiagnosisResult
        package let duration: Duration
    }

    /// The target as it was written.
    let title: String
    /// `nil` for the Internet.
    let target: DiagnosisDestination?
    /// Pages with a known answer. They stand for the Internet.
    let endpoints: [DiagnosisDestination]
    /// Addresses that stand for the Internet where nothing else that is known by its address does.
    let anchors: [HostAddress]
    /// A name that cannot exist (RFC 6761 section 6.4): a name server that knows it lies.
    let canary: String
    private(set) var answers: [DiagnosisTask: Answer] = [:]
    /// The most that came from each host that was asked.
    private(set) var signs: [HostAddress: Sign] = [:]
    /// The links that have no neighbours, as modems and tunnels.
    private var bareLinks: Set<InterfaceIndex> = []
    /// Packets that the kernel has dropped meanwhile because they came in by another interface than answers would leave
    /// by (`IPReversePathFilter`).
    package var reversePathDrops: UInt64 = 0
    /// Packets to this machine itself that came in meanwhile and were given to no program and no protocol, at least, by
    /// family.
    package var inputDrops: [IPAddress.Family: UInt64] = [:]

    /// For how many routers this machine's packets of IPv4 live, where that is known.
    package var life: Int?

    /// Whether resolv.conf(5) names a server; otherwise the C library asks this machine.
    package var namesServers = true

    /// How long the daemon waits for a page that stands for the Internet.
    package let patience: Duration?

    /// The WireGuard links on the way whose far ends agree on no keys, although packets were sent, by index.
    package var silentTunnels: [InterfaceIndex: TunnelSilence] = [:]

    /// The URI of the portal's API that the lease of a link on the way announces (RFC 8910).
    package var portalAPI: String?

    package init(
        title: String, target: DiagnosisDestination?, endpoints: [DiagnosisDestination] = [],
        anchors: [IPAddress] = [], canary: String = "reach.invalid", patience: Duration? = nil
    ) {
        self.anchors = anchors.map { HostAddress($0) }
        self.patience = patience
        self.title = title
        self.target = target
        self.endpoints = endpoints
        self.canary = canary
    }

    mutating func record(_ result: DiagnosisResult, of task: DiagnosisTask, after duration: Duration) {
        answers[task] = Answer(result: result, duration: duration)
        if case .solicit(let hop) = task, result == .solicited(.noNeighbours) { bareLinks.insert(hop.interfaceIndex) }
        if let (host, sign) = Sign.of(task, result) { signs[host] = max(signs[host] ?? sign, sign) }
    }

    /// The target first.
    var destinations: [DiagnosisDestination] { (target.map { [$0] } ?? []) + endpoints }

    func isAnswered(_ task: DiagnosisTask) -> Bool { answers[task] != nil }

    package func duration(_ task: DiagnosisTask) -> Duration? { answers[task]?.duration }

    // MARK: - Results by their kind

    func path(_ task: DiagnosisTask) -> PathFact? {
        if case .path(let fact)? = answers[task]?.result { fact } else { nil }
    }

    var servers: [NameServerAddress] {
        if case .servers(let servers)? = answers[.servers]?.result { servers } else { [] }
    }

    func solicited(_ hop: FirstHop) -> SolicitationAnswer? {
        if case .solicited(let answer)? = answers[.solicit(hop)]?.result { answer } else { nil }
    }

    func asked(_ question: NameServerQuestion) -> NameServerAnswer? {
        if case .asked(let answer)? = answers[.ask(question)]?.result { answer } else { nil }
    }

    func resolved(_ name: String) -> NameAnswer? {
        if case .resolved(let answer)? = answers[.resolve(name)]?.result { answer } else { nil }
    }

    func connected(_ host: HostAddress, _ port: UInt16) -> ConnectionAnswer? {
        if case .connected(let answer)? = answers[.connect(host, port: port)]?.result { answer } else { nil }
    }

    func pinged(_ host: HostAddress, isLarge: Bool = false) -> PingAnswer? {
        if case .pinged(let answer)? = answers[.ping(host, isLarge: isLarge)]?.result { answer } else { nil }
    }

    func exchanged(_ exchange: DiagnosisExchange) -> ExchangeAnswer? {
        if case .exchanged(let answer)? = answers[.exchange(exchange)]?.result { answer } else { nil }
    }

    func traced(_ host: HostAddress) -> PathTrace? {
        if case .traced(let trace)? = answers[.trace(host)]?.result { trace } else { nil }
    }

    func sampled(_ host: HostAddress) -> LineSample? {
        if case .sampled(let sample)? = answers[.sample(host)]?.result { sample } else { nil }
    }

    /// Who answers for an address on a link.
    func owners(_ hop: FirstHop) -> [HardwareAddress] {
        if case .owners(let owners)? = answers[.owners(hop)]?.result { owners } else { [] }
    }

    /// The owner of a first hop's address that an administrator has set in the kernel's table.
    func entry(of hop: FirstHop) -> HardwareAddress? {
        if case .owners(let set)? = answers[.entry(hop)]?.result { set.first } else { nil }
    }

    func burst(_ host: HostAddress, _ port: UInt16) -> BurstAnswer? {
        if case .burst(let answer)? = answers[.burst(host, port: port)]?.result { answer } else { nil }
    }

    /// The addresses that the hosts file has for a name.
    func listed(_ name: String) -> [IPAddress] {
        if case .listed(let addresses)? = answers[.hosts(name)]?.result { addresses } else { [] }
    }

    /// The address that packets to a host leave from.
    package func source(to host: HostAddress) -> IPAddress? { path(.path(host))?[host.family].source }

    /// The paths to all that was tested.
    var allPaths: [NetworkPath] {
        answers.values.flatMap { answer -> [NetworkPath] in
            if case .path(let fact) = answer.result { [fact.ipv4, fact.ipv6] } else { [] }
        }
    }

    // MARK: - Combined

    /// The name servers' answers about a name, by both families and transports.
    func answers(of server: NameServerAddress, about name: String) -> [NameServerAnswer] {
        IPAddress.Family.allCases.flatMap { family in
            [false, true].compactMap {
                asked(NameServerQuestion(server: server, name: name, family: family, isByTCP: $0))
            }
        }
    }

    /// The addresses that a name server gives for a name, by both families and transports.
    func addresses(by server: NameServerAddress, of name: String) -> [IPAddress] {
        answers(of: server, about: name).reduce(into: []) { all, answer in
            if case .addresses(let found) = answer { all += found.filter { !all.contains($0) } }
        }
    }

    /// The answers of a server to all questions by UDP.
    func datagramAnswers(of server: NameServerAddress) -> [NameServerAnswer] {
        (names + [canary]).flatMap { name in
            IPAddress.Family.allCases.compactMap {
                asked(NameServerQuestion(server: server, name: name, family: $0))
            }
        }
    }

    /// The answers of a server to all questions by TCP.
    func streamAnswers(of server: NameServerAddress) -> [NameServerAnswer] {
        (names + [canary]).compactMap {
            asked(NameServerQuestion(server: server, name: $0, family: .ipv4, isByTCP: true))
        }
    }

    /// Whether a name server gives addresses of a name as the system's resolver asks for them. The C library drops an
    /// answer for AAAA where a server is silent about A.
    func knowsByDatagram(_ name: String) -> Bool {
        servers.contains { server in
            let answers = IPAddress.Family.allCases.map {
                asked(NameServerQuestion(server: server, name: name, family: $0))
            }
            return answers[0] != .silent && answers.contains { if case .addresses? = $0 { true } else { false } }
        }
    }

    /// The names that have to be resolved here.
    var names: [String] {
        destinations.reduce(into: []) { names, destination in
            if case .name(let name) = destination.nextHost, !names.contains(name) { names.append(name) }
        }
    }

    /// The most addresses of a name that are tested.
    private static let addressLimit = 6

    /// The known addresses of the host that packets of a destination go to. Name servers may have answered where the
    /// system's resolver is still waiting for another one.
    func addresses(of destination: DiagnosisDestination) -> [HostAddress] {
        switch destination.nextHost {
        case .address(let host): return [host]
        case .name(let name):
            if case .addresses(let found)? = resolved(name) {
                return found.prefix(Self.addressLimit).map { HostAddress($0) }
            }
            guard resolved(name) != .noAddress else { return [] }
            var found: [IPAddress] = []
            for server in servers { found += addresses(by: server, of: name).filter { !found.contains($0) } }
            return found.prefix(Self.addressLimit).map { HostAddress($0) }
        }
    }

    /// Whether no other address of a destination may be found yet.
    func isComplete(_ destination: DiagnosisDestination) -> Bool {
        guard case .name(let name) = destination.nextHost else { return true }
        switch resolved(name) {
        case .noAddress?: return true
        case .addresses? where servers.isEmpty: return true
        // A server that is silent about one family does not say that there is no address of it.
        case .addresses?, .notAsked?, nil:
            return servers.contains { server in
                IPAddress.Family.allCases.allSatisfy { family in
                    asked(NameServerQuestion(server: server, name: name, family: family))?.isSign == true
                }
            }
        }
    }

    /// The addresses of a destination to which something can be sent.
    func usableAddresses(of destination: DiagnosisDestination) -> [HostAddress] {
        addresses(of: destination).filter { path(.path($0))?.isUsable($0.family) == true }
    }

    /// The first hop of a path; `nil` on the machine itself.
    func hop(_ path: NetworkPath, to address: IPAddress?) -> FirstHop? {
        guard let name = path.interface, let index = path.interfaceIndex, path.linkClass != .loopback,
            let neighbour = path.gateway ?? address
        else { return nil }
        return FirstHop(interface: name, interfaceIndex: index, address: neighbour)
    }

    func hop(to host: HostAddress) -> FirstHop? {
        path(.path(host)).flatMap { hop($0[host.family], to: host.address) }
    }

    /// Whether something answered that only this first hop can have passed on, or that is the hop itself.
    func isProvedByTraffic(_ hop: FirstHop) -> Bool {
        answers.contains { task, answer in
            switch (task, answer.result) {
            case (.connect(let host, _), .connected(.connected)), (.connect(let host, _), .connected(.refused)),
                (.ping(let host, _), .pinged(.answered)):
                self.hop(to: host) == hop
            case (.ask(let question), .asked(let answer)): answer.isSign && self.hop(to: question.server.host) == hop
            default: false
            }
        }
    }

    /// Whether anything but this machine itself answered in a family.
    func hasHeard(_ family: IPAddress.Family) -> Bool {
        func isAnotherHost(_ host: HostAddress) -> Bool {
            host.family == family && path(.path(host))?[family].linkClass != .loopback
        }
        return answers.contains { task, answer in
            switch (task, answer.result) {
            case (.connect(let host, _), .connected(.connected)), (.connect(let host, _), .connected(.refused)),
                (.ping(let host, _), .pinged(.answered)), (.trace(let host), .traced(PathTrace(end: .reached))):
                isAnotherHost(host)
            case (.ask(let question), .asked(let answer)): answer.isSign && isAnotherHost(question.server.host)
            default: false
            }
        }
    }

    /// The gateways of the default routes.
    var internetHops: [FirstHop] {
        guard let fact = path(.internet) else { return [] }
        return IPAddress.Family.allCases.compactMap { fact.isUsable($0) ? hop(fact[$0], to: nil) : nil }
    }

    /// Whether only the default routes show by which gateways packets leave.
    var needsInternetHops: Bool {
        target == nil || !servers.isEmpty && servers.allSatisfy { $0.host.address.isLoopback }
    }

    /// Whether packets to a host pass a gateway, or a link behind which anything may be.
    func isBeyondGateway(_ host: HostAddress) -> Bool {
        path(.path(host))?[host.family].gateway != nil || isBehindBareLink(host)
    }

    /// Whether the link to a host has no neighbours.
    func isBehindBareLink(_ host: HostAddress) -> Bool {
        hop(to: host).map { $0.address == host.address && bareLinks.contains($0.interfaceIndex) } ?? false
    }

    /// The connections to a host of a destination that have ended.
    func connections(
        of destination: DiagnosisDestination, to host: HostAddress
    ) -> [(port: UInt16, answer: ConnectionAnswer)] {
        destination.nextPorts.compactMap { port in connected(host, port).map { (port, $0) } }
    }

    /// The first connection of a destination: the one by which the exchange is made.
    func firstConnection(of destination: DiagnosisDestination) -> (host: HostAddress, port: UInt16)? {
        for host in addresses(of: destination) {
            for port in destination.nextPorts where connected(host, port) == .connected { return (host, port) }
        }
        return nil
    }

    /// The exchange of a destination; `nil` where there is none to make.
    func exchange(
        of destination: DiagnosisDestination, _ variant: DiagnosisExchange.Variant = .normal
    ) -> DiagnosisExchange? {
        guard let (host, port) = firstConnection(of: destination),
            destination.exchange(on: destination.proxy == nil ? port : destination.ports.first ?? port) != nil
        else { return nil }
        return DiagnosisExchange(destination, at: host, port: port, variant: variant)
    }
}
