internal import ReachCore
internal import ReachRecords

/// Other ways to a host from which nothing comes: another address of this machine, and another machine of the link as
/// the router.
struct DiagnosisOtherWays {
    let evidence: DiagnosisEvidence

    /// The most other addresses, and other routers, that are tried for a host.
    private static let limit = 3
    /// A refusal is an answer as well.
    private static let usualPort: UInt16 = 443

    var tasks: [DiagnosisTask] {
        IPAddress.Family.allCases.flatMap { family in
            silentHosts(family).flatMap { sources(to: $0.host, port: $0.port) + routers(to: $0.host) }
        }
    }

    /// Hosts beyond a gateway, with ports that they serve, of a family in which nothing comes back: the first that is
    /// known, and an anchor, since the first may be off. Without answers of name servers only those are known.
    private func silentHosts(_ family: IPAddress.Family) -> [(host: HostAddress, port: UInt16)] {
        let pages = evidence.destinations.flatMap { destination in
            evidence.usableAddresses(of: destination).map { ($0, destination.nextPorts.first ?? Self.usualPort) }
        }
        let servers = evidence.servers.filter { evidence.path(.path($0.host))?.isUsable($0.host.family) == true }
        let anchors = evidence.askedAnchors.map { ($0, DiagnosisPlan.anchorPort) }
        let both = [pages + servers.map { ($0.host, $0.port) }, anchors].map { hosts in
            hosts.filter { $0.0.family == family && evidence.isBeyondGateway($0.0) }
        }
        guard !both.joined().contains(where: { evidence.hasAnswered($0.0) == true }) else { return [] }
        return both.compactMap { hosts in hosts.first { evidence.hasAnswered($0.0) == false } }
    }

    // MARK: - Several next hops

    /// The connections by each of several next hops of a host's route, among which the kernel chooses for each flow.
    static func nextHops(
        to host: HostAddress, of destination: DiagnosisDestination, _ evidence: DiagnosisEvidence
    ) -> [DiagnosisTask] {
        guard evidence.isBeyondGateway(host), let port = destination.nextPorts.first else { return [] }
        let hops = evidence.nextHops(to: host).prefix(limit)
        return [.nextHops(host)] + hops.flatMap { [.connectBy($0, host, port: port), .solicit($0)] }
    }

    // MARK: - Another address of this machine

    private func sources(to host: HostAddress, port: UInt16) -> [DiagnosisTask] {
        guard let hop = evidence.hop(to: host), let source = evidence.source(to: host) else { return [] }
        return [.addresses(hop.interfaceIndex, host.family)]
            + evidence.otherSources(on: hop, than: source).prefix(Self.limit)
            .map { .connectFrom($0, host, port: port) }
    }

    // MARK: - Another router

    private func routers(to host: HostAddress) -> [DiagnosisTask] {
        guard let hop = evidence.hop(to: host), evidence.solicited(hop) != .noNeighbours else { return [] }
        let others = evidence.otherRouters(besides: hop, host.family) + serversAsRouters(besides: hop, host.family)
        let tried = others.prefix(Self.limit).flatMap { other -> [DiagnosisTask] in
            [.owners(other)] + evidence.owners(other).prefix(1).map { .forward(by: other, owner: $0, to: host) }
        }
        // A router of IPv6 announces itself, and may be another machine than IPv4's gateway.
        let usual = host.family == .ipv6 ? evidence.routerOfOtherFamily(than: hop) : nil
        return [.routers(hop.interfaceIndex, host.family)] + (usual.map { [.owners($0)] } ?? []) + tried
    }

    /// Neighbours that resolve names: often it is the router that does.
    private func serversAsRouters(besides gateway: FirstHop, _ family: IPAddress.Family) -> [FirstHop] {
        evidence.servers.compactMap { server in
            guard server.host.family == family, let hop = evidence.hop(to: server.host),
                hop.address == server.host.address, hop != gateway
            else { return nil }
            return hop
        }
    }
}

extension DiagnosisEvidence {
    func nextHops(to host: HostAddress) -> [FirstHop] {
        if case .nextHops(let found)? = answers[.nextHops(host)]?.result { found } else { [] }
    }

    /// The next hops of a host's route by which nothing answers, while something does by another one.
    func deadHops(to host: HostAddress) -> [FirstHop] {
        var (living, dead): ([FirstHop], [FirstHop]) = ([], [])
        for (task, answer) in answers {
            guard case .connectBy(let hop, host, _) = task, case .connected(let result) = answer.result else {
                continue
            }
            switch result {
            case .connected, .refused: living.append(hop)
            case .silent, .unreachable: dead.append(hop)
            case .failed: continue
            }
        }
        return living.isEmpty ? [] : dead.sorted { $0.address.description < $1.address.description }
    }

    func addresses(on hop: FirstHop) -> [InterfaceAddress] {
        if case .addresses(let found)? = answers[.addresses(hop.interfaceIndex, hop.address.family)]?.result {
            found
        } else {
            []
        }
    }

    /// Addresses of the link from which packets could go beyond it as well, in other networks than the source's.
    func otherSources(on hop: FirstHop, than source: IPAddress) -> [IPAddress] {
        let all = addresses(on: hop)
        guard let own = all.first(where: { $0.address == source })?.network else { return [] }
        return all.filter { entry in
            entry.isUsable && entry.address.isUniqueLocal == source.isUniqueLocal && entry.network != own
        }.map(\.address)
    }

    /// Another address of the link from which a host answered, and the host.
    func answeringSource(_ family: IPAddress.Family) -> (source: IPAddress, host: HostAddress)? {
        for (task, answer) in answers {
            guard case .connectFrom(let source, let host, _) = task, host.family == family,
                case .connected(let result) = answer.result, result.isFromHost
            else { continue }
            return (source, host)
        }
        return nil
    }

    /// Whether other addresses of the link were to be tried, and none was tried to the end.
    func isOtherSourceLeft(on hop: FirstHop, than source: IPAddress) -> Bool {
        let sources = otherSources(on: hop, than: source)
        let isTried = answers.keys.contains {
            if case .connectFrom(let tried, _, _) = $0 { sources.contains(tried) } else { false }
        }
        return !sources.isEmpty && !isTried
    }

    /// The gateways of the other default routes of a link.
    func otherRouters(besides hop: FirstHop, _ family: IPAddress.Family) -> [FirstHop] {
        guard case .routers(let found)? = answers[.routers(hop.interfaceIndex, family)]?.result else { return [] }
        return found.filter { $0 != hop.address }.reduce(into: []) { hops, address in
            let other = FirstHop(interface: hop.interface, interfaceIndex: hop.interfaceIndex, address: address)
            if !hops.contains(other) { hops.append(other) }
        }
    }

    /// The routers that the kernel may use in place of a first hop.
    func rivals(of hop: FirstHop) -> [FirstHop] {
        guard case .routers(let found)? = answers[.rivals(hop)]?.result else { return [] }
        return found.map { FirstHop(interface: hop.interface, interfaceIndex: hop.interfaceIndex, address: $0) }
    }

    /// Whether a connection to a host got no answer at all, be it the first one or that of the exchange.
    func isLost(_ host: HostAddress, of destination: DiagnosisDestination) -> Bool {
        if connections(of: destination, to: host).contains(where: { $0.answer == .silent }) { return true }
        guard let exchange = exchange(of: destination), exchange.address == host,
            case .failure(.silent(.connect), _)? = exchanged(exchange)?.ending
        else { return false }
        return true
    }

    /// The router of the other family's default route on the same link.
    func routerOfOtherFamily(than hop: FirstHop) -> FirstHop? {
        internetHops.first { $0.interfaceIndex == hop.interfaceIndex && $0.address.family != hop.address.family }
    }

    /// Whether the Internet answers by the other family than a host's.
    func answersInOtherFamily(than host: HostAddress) -> Bool {
        allHosts.contains { $0.family != host.family && isBeyondGateway($0) && hasAnswered($0) == true }
    }

    /// A neighbour that passed an echo request on, which was answered, and its link-layer address.
    func forwarder(_ family: IPAddress.Family) -> (hop: FirstHop, owner: HardwareAddress)? {
        for (task, answer) in answers {
            guard case .forward(let hop, let owner, let host) = task, host.family == family,
                answer.result == .pinged(.answered)
            else { continue }
            return (hop, owner)
        }
        return nil
    }
}

extension InterfaceAddress {
    /// The network that it belongs to; `nil` for an address alone.
    fileprivate var network: IPPrefix? { IPPrefix(address, length: Int(prefixLength)) }
}
