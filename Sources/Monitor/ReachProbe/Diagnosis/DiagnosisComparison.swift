internal import ReachCore
internal import ReachRecords

/// What is worth comparing with: other hosts on the same port, other addresses of the same name, the line's quality,
/// and whether this machine itself is in the way.
struct DiagnosisComparison {
    let evidence: DiagnosisEvidence

    /// The most hosts that a port is compared at, and the most other addresses of a name that are tried.
    private static let limit = 3

    var tasks: [DiagnosisTask] {
        var tasks = ownership + samples + detours + bursts
        tasks += DiagnosisOtherWays(evidence: evidence).tasks
        guard let target = evidence.target ?? evidence.endpoints.first else { return tasks }
        tasks += ports(of: failingConnections(of: target).map(\.port))
        return tasks + alternatives(to: target) + certificates(of: target)
    }

    // MARK: - The first hops

    /// Who owns the gateway's address and this machine's. It is asked at once: an answer takes less than a second.
    private var ownership: [DiagnosisTask] {
        hops.flatMap { hop, source -> [DiagnosisTask] in
            guard evidence.solicited(hop) != .noNeighbours else { return [] }
            let own = source.map { FirstHop(interface: hop.interface, interfaceIndex: hop.interfaceIndex, address: $0) }
            let isSet = evidence.solicited(hop) == .notNeeded
            return [.owners(hop)] + (isSet ? [.entry(hop)] : []) + (own.map { [.owners($0)] } ?? [])
        }
    }

    private var hops: [(hop: FirstHop, source: IPAddress?)] {
        let hosts = evidence.allHosts + evidence.askedAnchors
        var seen: Set<FirstHop> = []
        return hosts.compactMap { host in
            guard let hop = evidence.hop(to: host), seen.insert(hop).inserted,
                let path = evidence.path(.path(host))?[host.family], path.isUsable
            else { return nil }
            return (hop, path.source)
        }
    }

    /// The ways past a first hop that has not answered yet, although something has.
    private var detours: [DiagnosisTask] {
        hops.map(\.hop).filter { evidence.isUnanswered($0) && evidence.isProvedByTraffic($0) }
            .flatMap(evidence.hosts).map { .pathAgain($0) }
    }

    // MARK: - This machine

    /// Whether it drops the answers, or makes the refusals: asked once in each family in which something fails, of the
    /// target or else of who stands for the Internet, and of name servers.
    private var bursts: [DiagnosisTask] {
        let failing = evidence.destinations.flatMap(failingConnections)
        // Where nothing at all is heard, there is no time to wait for their silence first.
        let anchors = evidence.askedAnchors.filter { anchor in
            let answered = evidence.hasAnswered(anchor)
            return answered == false || answered == nil && !evidence.hasHeard(anchor.family)
        }
        .map { (host: $0, port: DiagnosisPlan.anchorPort) }
        let byFamily = IPAddress.Family.allCases.compactMap { family in
            (failing + anchors).first { $0.host.family == family }
        }
        return (byFamily + silentServers).map { .burst($0.host, port: $0.port) }
    }

    /// Whether such a question in a family has not ended, and none has.
    func isBurstLeft(_ family: IPAddress.Family) -> Bool {
        let ofFamily = bursts.filter { if case .burst(let host, _) = $0 { host.family == family } else { false } }
        return !ofFamily.isEmpty && !ofFamily.contains(where: evidence.isAnswered)
    }

    /// The first name server, where none answers by UDP or TCP.
    private var silentServers: [(host: HostAddress, port: UInt16)] {
        let asked = evidence.servers.filter { server in
            evidence.hop(to: server.host) != nil
                && evidence.path(.path(server.host))?.isUsable(server.host.family) == true
        }
        func answers(_ server: NameServerAddress) -> [NameServerAnswer?] {
            (evidence.names.first.map { [$0] } ?? [evidence.canary]).flatMap { name in
                [false, true].map {
                    evidence.asked(NameServerQuestion(server: server, name: name, family: .ipv4, isByTCP: $0))
                }
            }
        }
        guard let first = asked.first, asked.allSatisfy({ answers($0).allSatisfy { $0 == .silent } }) else { return [] }
        return [(first.host, first.port)]
    }

    // MARK: - The line

    /// The gateway, the first router beyond it and one or two destinations.
    private var samples: [DiagnosisTask] {
        let witnesses = evidence.sampleWitnesses
        guard let first = witnesses.first else { return [] }
        var tasks: [DiagnosisTask] = [.trace(first)] + witnesses.map { .sample($0) }
        if let gateway = evidence.gatewayToSample { tasks.append(.sample(gateway)) }
        if let router = evidence.routerToSample { tasks.append(.sample(router)) }
        return tasks
    }

    // MARK: - The target

    private func failingConnections(
        of target: DiagnosisDestination
    ) -> [(host: HostAddress, port: UInt16)] {
        // What stays on this machine has nobody else in it.
        let hosts = evidence.usableAddresses(of: target).filter { evidence.hop(to: $0) != nil }
        return hosts.flatMap { host in
            evidence.connections(of: target, to: host).compactMap { port, answer in
                switch answer {
                case .silent, .refused: (host, port)
                case .connected, .unreachable, .failed: nil
                }
            }
        }
    }

    /// The same ports at hosts that have nothing to do with the target.
    private func ports(of ports: [UInt16]) -> [DiagnosisTask] {
        let targets = evidence.target.map(evidence.addresses) ?? []
        let anchors = evidence.askedAnchors
        let others = evidence.witnesses.filter {
            !targets.contains($0) && !anchors.contains($0) && evidence.isBeyondGateway($0)
        }
        return Set(ports).flatMap { port in
            others.prefix(Self.limit).map { DiagnosisTask.connect($0, port: port) }
        }
    }

    /// Other addresses of the target's name, which another name server or the hosts file has.
    private func alternatives(to target: DiagnosisDestination) -> [DiagnosisTask] {
        guard evidence.firstConnection(of: target) == nil else { return [] }
        return evidence.otherAddresses(of: target).prefix(Self.limit).flatMap { host in
            [.path(host)]
                + (evidence.path(.path(host))?.isUsable(host.family) == true
                    ? target.nextPorts.map { DiagnosisTask.connect(host, port: $0) } : [])
        }
    }

    /// A handshake with another host, where the target's certificate is of an unknown authority.
    private func certificates(of target: DiagnosisDestination) -> [DiagnosisTask] {
        guard evidence.isUntrusted(target) else { return [] }
        return evidence.securedEndpoints.flatMap { endpoint -> [DiagnosisTask] in
            guard let host = evidence.usableAddresses(of: endpoint).first else { return [] }
            let connection = DiagnosisTask.connect(host, port: 443)
            guard let exchange = evidence.exchange(of: endpoint) else { return [connection] }
            return [connection, .exchange(exchange)]
        }
    }
}

extension NetworkPath {
    fileprivate var isUsable: Bool { interface != nil && linkClass != .loopback }
}
