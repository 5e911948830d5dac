internal import ReachCore
internal import ReachRecords

/// Other hosts than the one in question, and what they show.
extension DiagnosisEvidence {
    /// The hosts that stand for the Internet: the addresses of the endpoints, the anchors, and the name servers.
    var witnesses: [HostAddress] {
        (farWitnesses + servers.map(\.host)).reduce(into: []) { hosts, host in
            if !host.address.isLoopback, !hosts.contains(host) { hosts.append(host) }
        }
    }

    /// Those whose ways lead through the Internet. A name server may be a provider's own, and then its answers prove
    /// no more than the way to it.
    var farWitnesses: [HostAddress] { directEndpoints.flatMap(addresses) + askedAnchors }

    /// A proxy that answers proves the way to itself, as long as the page does not come.
    private var directEndpoints: [DiagnosisDestination] { endpoints.filter { $0.proxy == nil } }

    /// The anchors that can be asked, the first of each family.
    var askedAnchors: [HostAddress] {
        IPAddress.Family.allCases.compactMap { family in
            anchors.first { $0.family == family && path(.path($0))?.isUsable(family) == true }
        }
    }

    /// Whether questions get an answer from afar in all families in which some name servers are asked; `nil` where that
    /// was not seen.
    func passesQuestions(like asked: [NameServerAddress]) -> Bool? {
        let alike = askedAnchors.filter { anchor in
            asked.contains { $0.host.family == anchor.family || $0.host.address.isLoopback }
        }
        let answers = alike.map { connected($0, DiagnosisPlan.anchorPort) }
        if answers.contains(where: { $0 != nil && $0 != .connected }) { return false }
        return answers.contains(.connected) ? true : nil
    }

    /// Whether something fails, and nothing that is known by its address shows whether the Internet does.
    var needsAnchors: Bool {
        guard !isInternetProved else { return false }
        let pages = directEndpoints.flatMap(usableAddresses).filter(isBeyondGateway)
        guard !pages.contains(where: { hasAnswered($0) == true }) else { return false }
        let isNameless = names.contains { name in
            // A server that fails says so at once, and the system's resolver asks the others first.
            let isFailing = servers.contains { server in
                answers(of: server, about: name).contains { if case .failure = $0 { true } else { false } }
            }
            return (isAnswered(.resolve(name)) || isFailing) && addressesByResolver(of: name).isEmpty
        }
        let isMute = target == nil && !servers.allSatisfy(isGood)
        let far = destinations.flatMap(usableAddresses).filter(isBeyondGateway)
        // Whether TCP passes at all only another host shows.
        let isDeaf = far.contains(where: isSilentByTCP) && !far.contains(where: hasAnsweredByTCP)
        return isNameless || isMute || isDeaf || far.contains { hasAnswered($0) == false }
    }

    /// Whether a host is there, and none of the connections to it was answered.
    private func isSilentByTCP(_ host: HostAddress) -> Bool {
        let answers = connections(to: host).values
        return hasAnswered(host) == true && !answers.isEmpty && answers.allSatisfy { $0 == .silent }
    }

    private func addressesByResolver(of name: String) -> [IPAddress] {
        if case .addresses(let found)? = resolved(name) { found } else { [] }
    }

    private func isGood(_ server: NameServerAddress) -> Bool {
        // As long as it may still answer, it does not fail.
        datagramAnswers(of: server).isEmpty || datagramAnswers(of: server).contains(where: \.isGood)
    }

    /// Whether a page with a known answer gave it.
    var isInternetProved: Bool { endpoints.contains(where: gaveItsPage) }

    /// Whether such a page came from a host or by it as its proxy, so that its addresses are right.
    func isProved(_ host: DiagnosisDestination.Host) -> Bool {
        endpoints.contains { $0.nextHost == host && gaveItsPage($0) }
    }

    private func gaveItsPage(_ endpoint: DiagnosisDestination) -> Bool {
        exchange(of: endpoint).flatMap(exchanged)?.page == .expected
    }

    /// Whether a host beyond the name servers answers by TCP in a host's family, so that TCP passes at all.
    func passesTCP(besides host: HostAddress) -> Bool {
        let hosts = destinations.flatMap(usableAddresses) + farWitnesses
        return hosts.contains { $0 != host && $0.family == host.family && hasAnsweredByTCP($0) }
    }

    /// Whether anything came from a host itself; `nil` where nothing that was asked has ended.
    func hasAnswered(_ host: HostAddress) -> Bool? {
        switch signs[host] {
        case .answer?: true
        case .refusal?: burstRefusal(host) != true
        case .silence?: false
        case nil: nil
        }
    }

    /// Whether an address stands for one of IPv4 behind a translator (NAT64): by its prefix (RFC 6052 and 8215), or,
    /// where this machine has no IPv4, since it contains the address that the name has there.
    func isTranslated(_ host: HostAddress) -> Bool {
        guard host.family == .ipv6, let inner = host.address.embedded else { return false }
        if Self.translatorPrefixes.contains(where: { $0.contains(host.address) }) { return true }
        guard path(.internet)?.isUsable(.ipv4) == false else { return false }
        return destinations.contains { destination in
            guard case .name(let name) = destination.nextHost, addresses(of: destination).contains(host) else {
                return false
            }
            return servers.contains { addresses(by: $0, of: name).contains(inner) }
        }
    }

    private static let translatorPrefixes = ["64:ff9b::/96", "64:ff9b:1::/48"].compactMap(IPPrefix.init)

    /// Whether this machine itself refused the connections to a host.
    func burstRefusal(_ host: HostAddress) -> Bool? {
        for (task, answer) in answers {
            if case .burst(host, _) = task, case .burst(let burst) = answer.result { return burst.isRefusedHere }
        }
        return nil
    }

    /// The addresses that name servers or the hosts file have for a name, and the system's resolver has not.
    func otherAddresses(of destination: DiagnosisDestination) -> [HostAddress] {
        guard case .name(let name) = destination.nextHost else { return [] }
        let known = Set(addresses(of: destination))
        var found: [HostAddress] = []
        for server in servers {
            let given = addresses(by: server, of: name).map { HostAddress($0) }
            found += given.filter { !known.contains($0) && !found.contains($0) }
        }
        return found
    }

    /// Whether a destination's certificate is of an authority that this machine does not trust.
    func isUntrusted(_ destination: DiagnosisDestination) -> Bool {
        guard let exchange = exchange(of: destination),
            case .failure(.certificateUntrusted, _)? = exchanged(exchange)?.ending
        else { return false }
        return true
    }

    /// Whether a page may still show by its exchange how it answers.
    func isLeft(_ page: DiagnosisDestination) -> Bool {
        let hosts = usableAddresses(of: page)
        if hosts.isEmpty { return addresses(of: page).isEmpty }
        if let exchange = exchange(of: page) { return exchanged(exchange) == nil }
        return hosts.contains { host in page.nextPorts.contains { connected(host, $0) == nil } }
    }

    /// Whether one authority signed the untrusted certificates of two destinations; `nil` where that is not known.
    func issuers(_ one: DiagnosisDestination, _ other: DiagnosisDestination) -> Bool? {
        guard let first = exchange(of: one).flatMap(exchanged)?.issuer,
            let second = exchange(of: other).flatMap(exchanged)?.issuer
        else { return nil }
        return first == second
    }

    /// The endpoints, as hosts with which a handshake is made.
    var securedEndpoints: [DiagnosisDestination] {
        endpoints.compactMap { endpoint in
            guard endpoint.host != target?.host else { return nil }
            return DiagnosisDestination(
                title: "tls://\(endpoint.shownHost)", host: endpoint.host, ports: [443], exchange: .tls)
        }
    }

    /// The source address of a first hop that only a prefix shorter than /8 makes a neighbour; `nil` for others.
    func farSource(of hop: FirstHop) -> IPAddress? {
        let source = answers.lazy.compactMap { task, answer -> IPAddress? in
            guard case .path(let host) = task, host.address == hop.address, case .path(let fact) = answer.result else {
                return nil
            }
            return fact.ipv4.source
        }.first
        guard hop.address.family == .ipv4, let source, let first = source.bytes.first,
            let other = hop.address.bytes.first,
            first != other
        else { return nil }
        return source
    }

    /// How long a page took: its name, a connection and a request.
    func time(of page: DiagnosisDestination) -> Duration? {
        guard let (host, port) = firstConnection(of: page), let exchange = exchange(of: page),
            exchanged(exchange) != nil
        else {
            return nil
        }
        var all = [duration(.connect(host, port: port)), duration(.exchange(exchange))]
        if case .name(let name) = page.nextHost { all.append(duration(.resolve(name))) }
        return all.compactMap { $0 }.reduce(.zero, +)
    }

    // MARK: - First hops

    /// Whether the kernel has left a first hop for another one meanwhile, as it does where one of several routers is
    /// silent.
    func isLeft(_ hop: FirstHop) -> Bool {
        answers.contains { task, answer in
            guard case .pathAgain(let host) = task, self.hop(to: host) == hop, case .path(let fact) = answer.result,
                fact.isUsable(host.family)
            else { return false }
            return self.hop(fact[host.family], to: host.address) != hop
        }
    }

    /// Whether a first hop has not answered, although one with neighbours has to.
    func isUnanswered(_ hop: FirstHop) -> Bool {
        ![.answered, .notNeeded, .noNeighbours].contains(solicited(hop))
    }

    /// The addresses of all destinations, and the name servers.
    var allHosts: [HostAddress] { destinations.flatMap(usableAddresses) + servers.map(\.host) }

    /// The hosts that are reached by a hop.
    func hosts(behind hop: FirstHop) -> [HostAddress] { allHosts.filter { self.hop(to: $0) == hop } }

    // MARK: - What is sampled

    /// Destinations whose answers show the whole way: a name server, and the target or else an endpoint. Two, since a
    /// host that limits its answers looks like a lossy line.
    var sampleWitnesses: [HostAddress] {
        func isUsable(_ host: HostAddress) -> Bool {
            isBeyondGateway(host) && path(.path(host))?.isUsable(host.family) == true && hasAnswered(host) == true
        }
        let own = target.map { $0.proxy == nil ? usableAddresses(of: $0) : [] } ?? []
        let pages = target == nil || target?.proxy != nil ? endpoints.flatMap(usableAddresses) : own
        return [servers.map(\.host), pages].compactMap { $0.first(where: isUsable) }.reduce(into: []) { hosts, host in
            if !hosts.contains(host) { hosts.append(host) }
        }
    }

    var gatewayToSample: HostAddress? { sampleWitnesses.first.flatMap(gateway) }

    /// The gateway by which packets to a host leave.
    func gateway(to host: HostAddress) -> HostAddress? {
        guard let path = path(.path(host))?[host.family], let gateway = path.gateway else { return nil }
        return HostAddress(gateway, zone: gateway.isLinkLocal ? path.interface : nil)
    }

    /// The first router that is not on this machine's link.
    var routerToSample: HostAddress? {
        guard let witness = sampleWitnesses.first else { return nil }
        let distance = isBehindBareLink(witness) ? 1 : 2
        return traced(witness)?.hops.first { $0.distance == distance && $0.address != witness.address }
            .map { HostAddress($0.address) }
    }
}

extension IPAddress {
    /// The IPv4 address in the last four bytes of an IPv6 one, as translators put it there.
    var embedded: IPAddress? { family == .ipv6 ? IPAddress(bytes: bytes.suffix(4)) : nil }
}
