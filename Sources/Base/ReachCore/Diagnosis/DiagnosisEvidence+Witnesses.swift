/// Other hosts than the one in question, and what they show.
extension DiagnosisEvidence {
    /// The hosts that stand for the Internet: the addresses of the endpoints, and the name servers.
    var witnesses: [HostAddress] {
        (endpoints.flatMap(addresses) + servers.map(\.host)).reduce(into: []) { hosts, host in
            if !host.address.isLoopback, !hosts.contains(host) { hosts.append(host) }
        }
    }

    /// Whether anything came from a host itself; `nil` where nothing that was asked has ended.
    func hasAnswered(_ host: HostAddress) -> Bool? {
        var isAsked = false
        for (task, answer) in answers {
            switch (task, answer.result) {
            case (.connect(host, _), .connected(let answer)):
                isAsked = true
                if answer == .connected || answer == .refused && burstRefusal(host) != true { return true }
            case (.ping(host, _), .pinged(let answer)):
                if answer == .answered { return true }
                if answer == .silent { isAsked = true }
            case (.sample(host), .sampled(let sample)): if sample.answered > 0 { return true }
            case (.trace(host), .traced(let trace)): if trace.end == .reached { return true }
            case (.ask(let question), .asked(let answer)) where question.server.host == host:
                isAsked = true
                if answer.isSign { return true }
            default: continue
            }
        }
        return isAsked ? false : nil
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
            return servers.contains { server in
                answers(of: server, about: name).contains {
                    if case .addresses(let found) = $0 { found.contains(inner) } else { false }
                }
            }
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
            for case .addresses(let some) in answers(of: server, about: name) {
                found += some.map { HostAddress($0) }.filter { !known.contains($0) && !found.contains($0) }
            }
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

    var gatewayToSample: HostAddress? {
        guard let witness = sampleWitnesses.first, let gateway = path(.path(witness))?[witness.family].gateway else {
            return nil
        }
        let zone = gateway.isLinkLocal ? path(.path(witness))?[witness.family].interface : nil
        return HostAddress(gateway, zone: zone)
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
