import ReachCore
import ReachProbe
import ReachRecords

/// What each task of a diagnosis finds in a drawn Internet. Answers follow from what is built and broken there.
struct DrawnAnswers {
    let internet: DrawnInternet

    static let misleading: [IPAddress.Family: IPAddress] = [
        .ipv4: .at("198.51.100.99"), .ipv6: .at("2001:db8:80::99"),
    ]
    static let printer = IPAddress.at("192.0.2.9")

    // MARK: - Chance

    private func lot(_ words: String) -> UInt64 {
        StableHash.mix(StableHash.fnv64(words.utf8) ^ StableHash.mix(internet.seed))
    }

    func isLost(_ share: Double, _ words: String) -> Bool { happens(share, "lost \(words)") }

    private func happens(_ share: Double, _ words: String) -> Bool {
        share > 0 && Double(lot(words) >> 11) * 0x1p-53 < share
    }

    /// Whether an answer that comes from afar comes after the end. What the kernel and neighbours say is there in time.
    func isLate(_ task: DiagnosisTask) -> Bool {
        switch task {
        case .ask, .resolve, .connect, .connectFrom, .ping, .exchange, .trace, .sample, .burst:
            happens(internet.lateShare, "late \(task)")
        default: false
        }
    }

    // MARK: - Who is where

    func station(of host: HostAddress) -> DrawnStation? {
        for family in IPAddress.Family.allCases {
            for site in DrawnSite.allCases where internet.address(of: site, family) == host.address {
                return .site(site)
            }
        }
        for place in internet.resolvers.indices where internet.server(place).host == host { return .resolver(place) }
        for family in IPAddress.Family.allCases {
            if internet.proxy != nil, internet.address(of: .proxy, family) == host.address { return .proxy }
            if internet.address(of: .gateway, family) == host.address { return .gateway }
            for router in 1...internet.routers
            where internet.address(of: .router(router), family) == host.address {
                return .router(router)
            }
        }
        return nil
    }

    private func fate(
        _ host: HostAddress, _ kind: DrawnPacket.Kind, isLarge: Bool = false, life: Int? = nil, flow: String
    ) -> DrawnFate {
        // What a name server made up is an address that nobody has: the way leads to the last router.
        let end = station(of: host) ?? .site(.second)
        let packet = DrawnPacket(
            end: end, family: host.family, kind: kind, isLarge: isLarge, flow: lot(flow), life: life)
        let fate = internet.fate(of: packet)
        guard fate == .arrives else { return fate }
        let isNobody = station(of: host) == nil
        if isNobody { return .vanishes }
        return atSite(host, kind)
    }

    func questionFate(_ host: HostAddress, isByTCP: Bool, _ flow: String) -> DrawnFate {
        fate(host, isByTCP ? .tcp(53) : .udp(53), flow: flow)
    }

    func exchangeFate(_ exchange: DiagnosisExchange, _ flow: String, isLarge: Bool) -> DrawnFate {
        fate(exchange.address, .tcp(exchange.port), isLarge: isLarge, flow: flow)
    }

    /// What the host itself does.
    private func atSite(_ host: HostAddress, _ kind: DrawnPacket.Kind) -> DrawnFate {
        if station(of: host) == .proxy {
            if internet.has(.proxyOff, .proxy) { return .vanishes }
            guard case .tcp = kind else { return .arrives }
            return internet.has(.proxyStopped, .proxy) ? .reset : .arrives
        }
        guard station(of: host) == .site(.target) else { return .arrives }
        let site = DrawnStation.site(.target)
        if internet.has(.off, site) { return .vanishes }
        if internet.has(.offAtRouter, site) { return .complaint(.hostMissing, by: .router(internet.routers)) }
        if internet.has(.forbids, site) { return .complaint(.prohibited, by: site) }
        guard case .tcp = kind else { return .arrives }
        if internet.has(.filters, site) { return .vanishes }
        return internet.has(.refuses, site) ? .reset : .arrives
    }

    // MARK: - Tasks

    func result(of task: DiagnosisTask) -> DiagnosisResult {
        if let broken = brokenByKernel(task) { return broken }
        switch task {
        case .internet: return .path(internetPath)
        case .path(let host), .pathAgain(let host): return .path(path(to: host))
        case .servers: return .servers(servers)
        case .solicit(let hop): return .solicited(solicitation(hop))
        case .ask(let question): return .asked(answer(to: question))
        case .resolve(let name): return .resolved(resolution(of: name))
        case .connect(let host, let port): return .connected(connection(to: host, port))
        case .connectFrom(let source, let host, let port):
            return .connected(connection(to: host, port, isFresh: source != self.source(host.family)))
        case .addresses(let index, let family): return .addresses(addresses(index, family))
        case .routers(_, let family):
            let other = internet.hasSecondRouter ? internet.address(of: .secondRouter, family) : nil
            return .routers(other.map { [$0] } ?? [])
        case .rivals: return .routers([])
        case .nextHops: return .nextHops([])
        case .entry: return .owners([])
        case .connectBy(_, let host, let port): return .connected(connection(to: host, port))
        case .ping(let host, let isLarge): return .pinged(ping(host, isLarge: isLarge))
        case .exchange(let exchange): return .exchanged(answer(to: exchange))
        case .trace(let host): return .traced(trace(host))
        case .sample(let host): return .sampled(sample(host))
        case .owners(let hop): return .owners(owners(of: hop))
        case .burst(let host, let port): return .burst(burst(host, port))
        case .forward(let hop, _, let host): return .pinged(forward(by: hop, host))
        case .hosts(let name): return .listed(listed(name))
        }
    }

    private func brokenByKernel(_ task: DiagnosisTask) -> DiagnosisResult? {
        guard internet.isBrokenByKernel else { return nil }
        if case .path(let host) = task, host.address.isLoopback { return nil }
        if case .ask(let question) = task, question.server.host.address.isLoopback {
            return .asked(upstreamMissing(internet.resolvers.firstIndex { $0.place == .machine } ?? 0))
        }
        let kernel = DrawnKernel(internet: internet)
        return switch task {
        case .internet: .path(kernel.broken(IPAddress.Family.allCases))
        case .path(let host): .path(kernel.broken([host.family]))
        case .resolve: .resolved(.notAsked)
        default: nil
        }
    }

    // MARK: - The kernel's half

    /// The index of the link by which packets leave.
    static let link: InterfaceIndex = 2

    private var hop: IPAddress? { internet.has(.wrongGateway, .machine) ? Self.printer : nil }

    private func source(_ family: IPAddress.Family) -> IPAddress? { internet.address(of: .machine, family) }

    private func networkPath(_ family: IPAddress.Family, isOnLink: Bool = false) -> NetworkPath {
        guard internet.families.contains(family) else { return NetworkPath(status: .notReachable, reason: .noRoute) }
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.linkClass) = (
            "up0", Self.link, internet.hasGateway ? .wired : .tunnel
        )
        if internet.hasGateway, !isOnLink { path.gateway = hop ?? internet.address(of: .gateway, family) }
        path.source = source(family)
        return path
    }

    private var internetPath: PathFact {
        let (ipv4, ipv6) = (remembered(networkPath(.ipv4)), remembered(networkPath(.ipv6)))
        return PathFact(status: Verdict(ipv4: ipv4, ipv6: ipv6).status, ipv4: ipv4, ipv6: ipv6)
    }

    /// The same path where the gateway did not answer before.
    private func remembered(_ path: NetworkPath) -> NetworkPath {
        guard internet.memory?.hasFailedGateway == true, path.gateway != nil else { return path }
        var failed = path
        (failed.status, failed.reason) = (.notReachable, .gatewayUnreachable)
        return failed
    }

    private func path(to host: HostAddress) -> PathFact {
        var path: NetworkPath
        if host.address.isLoopback {
            path = NetworkPath(status: .reachable)
            (path.interface, path.interfaceIndex, path.linkClass) = ("lo", 1, .loopback)
            path.source = host.address
        } else {
            let onLink = IPPrefix(host.family == .ipv4 ? "192.0.2.0/24" : "2001:db8:1::/64")
            let isWide = internet.has(.widePrefix, .machine)
            path = networkPath(host.family, isOnLink: isWide || onLink?.contains(host.address) == true)
        }
        if let end = station(of: host), internet.isBySecondLine(end) {
            path.gateway = nil
            (path.interface, path.interfaceIndex, path.linkClass) = ("vpn0", Self.link + 1, .tunnel)
        }
        path = remembered(path)
        let cause = path.reason == .gatewayUnreachable ? RootCause(.gatewayUnreachable, interface: "up0") : nil
        return PathFact(
            status: path.status, reason: path.reason, rootCause: cause, ipv4: host.family == .ipv4 ? path : .notAsked,
            ipv6: host.family == .ipv6 ? path : .notAsked)
    }

    private func addresses(_ index: InterfaceIndex, _ family: IPAddress.Family) -> [InterfaceAddress] {
        let fresh: [IPAddress] = internet.has(.staleAddress, .gateway) ? [.at("2001:db8:2::20")] : []
        return ((source(family).map { [$0] } ?? []) + fresh).map {
            InterfaceAddress(interface: index, address: $0, prefixLength: family == .ipv4 ? 24 : 64)
        }
    }

    private func listed(_ name: String) -> [IPAddress] {
        guard name == DrawnInternet.name(of: .target), internet.has(.hostsFile, .machine) else { return [] }
        return internet.families.compactMap { Self.misleading[$0] }
    }

    // MARK: - The link

    private func solicitation(_ hop: FirstHop) -> SolicitationAnswer {
        guard internet.hasGateway, hop.interfaceIndex == Self.link else { return .noNeighbours }
        let isOff =
            hop.address == internet.address(of: .gateway, hop.address.family) && internet.has(.gatewayOff, .gateway)
        let isNobody = internet.has(.widePrefix, .machine) && station(of: HostAddress(hop.address)).map(isFar) ?? true
        let isDead = internet.has(.proxyOff, .proxy) && station(of: HostAddress(hop.address)) == .proxy
        if isOff || isNobody || isDead, hop.address != Self.printer { return .silent }
        if internet.has(.ownInput, .machine), hop.address.family == .ipv6 { return .silent }
        return internet.isRoot || hop.address.family == .ipv6 ? .answered : .unconfirmed
    }

    private func isFar(_ station: DrawnStation) -> Bool { !internet.way(to: station).isEmpty }

    private func owners(of hop: FirstHop) -> [HardwareAddress] {
        guard internet.isRoot, internet.hasGateway, hop.interfaceIndex == Self.link else { return [] }
        let family = hop.address.family
        let twin = HardwareAddress.at("02:00:00:00:00:66")
        switch hop.address {
        case internet.address(of: .gateway, family):
            if internet.has(.gatewayOff, .gateway) { return [] }
            return [.at("02:00:00:00:00:01")] + (internet.has(.gatewayTwin, .gateway) ? [twin] : [])
        case source(family): return internet.has(.machineTwin, .gateway) ? [twin] : []
        case Self.printer: return [.at("02:00:00:00:00:09")]
        case internet.address(of: .secondRouter, family) where internet.hasSecondRouter:
            return [.at("02:00:00:00:00:03")]
        case _ where internet.has(.proxyOff, .proxy) && station(of: HostAddress(hop.address)) == .proxy: return []
        default: return station(of: HostAddress(hop.address)) == nil ? [] : [.at("02:00:00:00:00:53")]
        }
    }

    private func forward(by hop: FirstHop, _ host: HostAddress) -> PingAnswer {
        if internet.hasSecondRouter, hop.address == internet.address(of: .secondRouter, hop.address.family) {
            var other = internet
            other.faults.removeAll { $0.isOfFirstLine }
            return DrawnAnswers(internet: other).ping(host, isLarge: false)
        }
        guard hop.address == internet.address(of: .gateway, hop.address.family) else { return .silent }
        var whole = internet
        whole.faults.removeAll { $0.kind == .wrongGateway }
        return DrawnAnswers(internet: whole).ping(host, isLarge: false)
    }

    // MARK: - Packets

    func connection(to host: HostAddress, _ port: UInt16, isFresh: Bool = false) -> ConnectionAnswer {
        var answers = self
        if isFresh {
            var whole = internet
            whole.faults.removeAll { $0.kind == .staleAddress }
            answers = DrawnAnswers(internet: whole)
        }
        if host.address.isLoopback { return port == 53 ? .connected : .refused }
        if path(to: host)[host.family].reason == .noRoute { return .failed(101) }
        // Three connections, each with a port of its own.
        let fates = (0..<3).map { answers.fate(host, .tcp(port), flow: "connect \(host) \(port) \($0)") }
        if fates.contains(.arrives) { return answers.served(host, port) }
        switch fates.first {
        case .reset?, .resetHere?: return .refused
        case .complaint(let complaint, let station)?:
            let speaker = internet.address(of: station, host.family)
            return .unreachable(
                complaint == .noRoute ? 101 : 113, speaker.map { WayComplaint(by: $0, complaint.meaning) })
        case .notSent?: return .failed(1)
        default: return .silent
        }
    }

    /// Sites serve the web and what is asked of them; other ports are refused or dropped.
    private func served(_ host: HostAddress, _ port: UInt16) -> ConnectionAnswer {
        switch station(of: host) {
        case .site(.target)?: return .connected
        case .site(.anchor)?: return port == 53 ? .connected : .silent
        case .proxy?: return port == DrawnInternet.proxyPort ? .connected : .refused
        case .site? where port == 80 || port == 443: return .connected
        case .resolver? where port == 53: return .connected
        default: return happens(0.5, "serves \(host)") ? .refused : .silent
        }
    }

    func ping(_ host: HostAddress, isLarge: Bool) -> PingAnswer {
        if path(to: host)[host.family].reason == .noRoute { return .failed(101) }
        switch fate(host, .echo, isLarge: isLarge, flow: "echo \(host)") {
        case .arrives:
            let loss = internet.lossShare(to: station(of: host) ?? .machine)
            return happens(loss * loss, "ping \(host) \(isLarge)") ? .silent : .answered
        case .complaint: return .unreachable(113)
        case .notSent: return .failed(1)
        default: return .silent
        }
    }

    private func sample(_ host: HostAddress) -> LineSample {
        let isAnswered: Bool
        if let station = station(of: host), case .router = station {
            isAnswered = !internet.mute.contains(station)
        } else {
            isAnswered = fate(host, .echo, flow: "echo \(host)") == .arrives
        }
        guard isAnswered else { return LineSample(sent: 120, answered: 0) }
        let end: DrawnStation =
            switch station(of: host) {
            case .router(let number)?: .router(number)
            case let other?: other
            case nil: .machine
            }
        let loss = lossShare(upTo: end)
        let lost = (0..<120).count { happens(loss, "sample \(host) \($0)") }
        return LineSample(
            sent: 120, answered: 120 - lost, roundTrip: isNear(end) ? .milliseconds(12) : internet.roundTrip,
            jitter: .milliseconds(2))
    }

    private func lossShare(upTo end: DrawnStation) -> Double {
        guard case .router(let number) = end else { return internet.lossShare(to: end) }
        var shorter = internet
        // A router that loses what it passes on has taken what is for itself.
        shorter.faults.removeAll { fault in
            if case .router(let other) = fault.station { other >= number } else { false }
        }
        return shorter.lossShare(to: .site(.target))
    }

    private func trace(_ host: HostAddress) -> PathTrace {
        var trace = PathTrace()
        for life in 1...8 {
            let fate = fate(host, .udp(UInt16(33434 + life)), life: life, flow: "trace \(host) \(life)")
            guard case .ended(let station) = fate, let address = internet.address(of: station, host.family),
                !happens(0.1, "hop \(host) \(life)")
            else { continue }
            trace.hops.append(PathTrace.Hop(distance: life, address: address))
        }
        switch fate(host, .udp(33500), flow: "trace \(host)") {
        case .arrives: if happens(0.5, "datagrams \(host)") { trace.end = .reached }
        case .complaint(let complaint, let station):
            guard let address = internet.address(of: station, host.family) else { break }
            trace.end = complaint == .prohibited ? .prohibited(by: address) : .unreachable(by: address)
            trace.isHostMissing = complaint == .hostMissing
        case .notSent: trace.end = .failed(1)
        default: break
        }
        return trace
    }

    /// Whether a host is not behind the slow line.
    private func isNear(_ end: DrawnStation) -> Bool { internet.way(to: end).isEmpty || end == .router(1) }

    /// How long a burst waits for a slow line.
    private static let burstPatience = Duration.milliseconds(2500)

    private func burst(_ host: HostAddress, _ port: UInt16) -> BurstAnswer {
        var answer = BurstAnswer(sent: 8)
        let packet = DrawnPacket(end: station(of: host) ?? .site(.second), family: host.family, kind: .tcp(port))
        var open = internet
        open.faults.removeAll { $0.station == .machine }
        let isSeen = internet.roundTrip < Self.burstPatience || isNear(packet.end)
        if isSeen, internet.isDroppedHere(packet, open.fate(of: packet)), !internet.has(.reversePath, .machine) {
            answer.droppedHere = 8
        }
        answer.connected =
            !isSeen ? 0 : (0..<8).count { fate(host, .tcp(port), flow: "burst \(host) \($0)") == .arrives }
        answer.isRefusedHere = fate(host, .tcp(port), flow: "burst") == .resetHere
        for life in 2...4 where answer.passedBy == nil {
            guard case .ended(let station) = fate(host, .tcp(port), life: life, flow: "burst \(host)") else { continue }
            answer.passedBy = internet.address(of: station, host.family)
        }
        return answer
    }
}
