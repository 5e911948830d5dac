import ReachCore
import ReachProbe
import ReachRecords

/// A small Internet that a seed draws: what stands where, what is broken, and how much of the answers is late.
struct DrawnInternet: Sendable {
    enum Target: CaseIterable, Sendable { case internet, http, https, port, bare, ping, secureAddress }

    struct Resolver: Sendable {
        enum Place: Hashable, Sendable { case machine, gateway, neighbour, provider, internet }

        let place: Place
        /// Whether it says SERVFAIL where it reaches no other server; otherwise it says nothing.
        let complains: Bool
        /// Whether it denies by itself what cannot exist (RFC 6761 section 6.4).
        let deniesInvalid: Bool
        /// Whether it has kept all names that are asked for.
        let remembers: Bool
    }

    enum ProxyPlace: Hashable, Sendable { case neighbour, internet }

    let seed: UInt64
    var families: [IPAddress.Family]
    /// Whether the link has a gateway that can be asked; a modem's has none.
    var hasGateway: Bool
    var routers: Int
    /// Those that never report that a packet's life ended.
    var mute: Set<DrawnStation>
    var resolvers: [Resolver]
    var target: Target
    var endpoints: [DrawnSite]
    var namesEndpoints: Bool
    var isRoot: Bool
    var faults: [DrawnFault]
    /// The share of answers that arrive after the end.
    var lateShare: Double
    /// Whether the link without a gateway is WireGuard's.
    var isWireGuard: Bool
    /// Whether name servers beyond the own network are reached by a link of their own, as a VPN's.
    var hasSecondLine: Bool
    /// Whether sites have IPv4 alone, and are reached by IPv6 through a translator.
    var isTranslated: Bool
    /// Where the proxy stands by which the target is asked for; `nil` for none.
    var proxy: ProxyPlace?
    /// Whether another router of the link leads to the Internet, by a line of its own.
    var hasSecondRouter: Bool
    /// The time to a host beyond the first router and back.
    var roundTrip: Duration
    /// Packets that came in meanwhile and that no program wanted.
    var strayPackets: UInt64
    var otherLink = DrawnLink.absent
    /// What a daemon remembers; `nil` where none runs.
    var memory: DrawnMemory?

    init(seed: UInt64) {
        var random = SplitMix64(seed: StableHash.mix(seed))
        self.seed = seed
        families =
            [[.ipv4], [.ipv4], [.ipv4, .ipv6], [.ipv4, .ipv6], [.ipv6]].randomElement(using: &random) ?? [.ipv4]
        hasGateway = Int.random(in: 0..<6, using: &random) != 0
        let routers = Int.random(in: 1...3, using: &random)
        self.routers = routers
        var mute: Set<DrawnStation> = []
        for station in [.gateway] + (1...routers).map(DrawnStation.router)
        where Int.random(in: 0..<4, using: &random) == 0 {
            mute.insert(station)
        }
        self.mute = mute
        let places: [Resolver.Place] =
            hasGateway
            ? [.gateway, .gateway, .neighbour, .machine, .provider, .provider, .internet, .internet]
            : [.machine, .provider, .internet]
        resolvers = (0..<Int.random(in: 1...2, using: &random)).map { _ in
            Resolver(
                place: places.randomElement(using: &random) ?? .internet, complains: Bool.random(using: &random),
                deniesInvalid: Bool.random(using: &random), remembers: Int.random(in: 0..<5, using: &random) == 0)
        }
        if resolvers.count == 2, resolvers[0].place == resolvers[1].place, resolvers[0].place != .internet {
            resolvers.removeLast()
        }
        target = Target.allCases.randomElement(using: &random) ?? .http
        endpoints = [[], [.check], [.check, .second], [.check, .second]].randomElement(using: &random) ?? []
        namesEndpoints = Bool.random(using: &random)
        isRoot = Bool.random(using: &random)
        lateShare = [0, 0, 0.05, 0.2].randomElement(using: &random) ?? 0
        strayPackets = [0, 0, 0, 2, 9].randomElement(using: &random) ?? 0
        isWireGuard = !hasGateway && Bool.random(using: &random)
        hasSecondLine = Int.random(in: 0..<6, using: &random) == 0
        isTranslated = families == [.ipv6] && Int.random(in: 0..<3, using: &random) == 0
        let times = [12, 12, 12, 12, 12, 12, 700, 1200]
        roundTrip = .milliseconds(times.randomElement(using: &random) ?? 12)
        hasSecondRouter = hasGateway && Int.random(in: 0..<8, using: &random) == 0
        let isProxied = [.http, .https, .secureAddress].contains(target) && Int.random(in: 0..<24, using: &random) == 0
        proxy = !isProxied ? nil : hasGateway && Bool.random(using: &random) ? .neighbour : .internet
        faults = []
        let count = [0, 1, 1, 1, 1, 2, 2].randomElement(using: &random) ?? 1
        for _ in 0..<count { faults += drawFault(&random).map { [$0] } ?? [] }
        if Bool.random(using: &random) { otherLink = DrawnLink.allCases.randomElement(using: &random) ?? .absent }
        if Bool.random(using: &random) { memory = DrawnMemory(families, &random) }
    }

    func isBySecondLine(_ resolver: Resolver) -> Bool {
        hasSecondLine && [.provider, .internet].contains(resolver.place)
    }

    /// Whether packets leave by the second line.
    func isBySecondLine(_ end: DrawnStation) -> Bool {
        if case .resolver(let place) = end { isBySecondLine(resolvers[place]) } else { false }
    }

    private func drawFault(_ random: inout SplitMix64) -> DrawnFault? {
        var stations: [(DrawnStation, [DrawnFault.Kind])] = [(.machine, DrawnFault.ofMachine)]
        if hasGateway { stations += [(.gateway, DrawnFault.ofRouters), (.gateway, DrawnFault.ofLink)] }
        stations += (1...routers).map { (.router($0), DrawnFault.ofRouters) }
        stations += resolvers.indices.map { (.resolver($0), DrawnFault.ofResolvers) }
        if isWireGuard { stations.append((.router(1), DrawnFault.ofFarEnds)) }
        if hasSecondLine, resolvers.contains(where: isBySecondLine) {
            stations.append((.secondLine, DrawnFault.ofSecondLine))
        }
        if proxy != nil { stations.append((.proxy, DrawnFault.ofProxies)) }
        if target != .internet { stations.append((.site(.target), DrawnFault.ofSites)) }
        guard let (station, kinds) = stations.randomElement(using: &random) else { return nil }
        let fitting = kinds.filter { fits($0, at: station) }
        return fitting.randomElement(using: &random).map { DrawnFault(kind: $0, station: station) }
    }

    /// Whether something can be broken in this way here.
    private func fits(_ kind: DrawnFault.Kind, at station: DrawnStation) -> Bool {
        switch kind {
        case .darkIPv4, .darkIPv6: families.count == 2
        case .loops: station != .gateway
        case .translatorDead: isTranslated
        case .staleAddress: families == [.ipv6]
        case .reversePath: families == [.ipv4]
        case .wrongGateway, .widePrefix: families == [.ipv4] && hasGateway
        case .hostsFile: isNamed && proxy == nil
        case .resolverStopped: resolvers.contains { $0.place == .machine }
        case .expired, .untrusted, .wrongHost, .silentTLS, .wrongClock: isSecure
        case .silentHTTP, .noHTTP, .error500, .missing404: hasPage
        case .filters, .refuses, .forbidsPort, .dropsPort, .refusesPort: target != .ping
        default: true
        }
    }

    // MARK: - What is asked for

    var isSecure: Bool { target == .https || target == .secureAddress || target == .bare }
    var hasPage: Bool { [.http, .https, .bare, .secureAddress].contains(target) }
    var isNamed: Bool { [.http, .https, .bare].contains(target) }

    var targetText: String {
        let literal = address(of: .target, families.first ?? .ipv4)
        let shown = literal.family == .ipv6 ? "[\(literal)]" : "\(literal)"
        return switch target {
        case .internet: "internet"
        case .http: "http://www.example.net/"
        case .https: "https://www.example.net/"
        case .bare: "www.example.net"
        case .port: "tcp://\(shown):22"
        case .ping: "icmp://\(shown)"
        case .secureAddress: "https://\(shown)/"
        }
    }

    var endpointTexts: [String] {
        endpoints.map { site in
            let literal = address(of: site, families.first ?? .ipv4)
            let shown = literal.family == .ipv6 ? "[\(literal)]" : "\(literal)"
            return "http://\(namesEndpoints ? Self.name(of: site) : shown)/204"
        }
    }

    // MARK: - Addresses

    static let proxyPort: UInt16 = 3128

    /// The proxy by which the target is asked for, as the environment names it.
    var proxyOfTarget: DiagnosisDestination.Proxy? {
        guard proxy != nil, let address = address(of: .proxy, families.first ?? .ipv4) else { return nil }
        let shown = address.family == .ipv6 ? "[\(address)]" : "\(address)"
        return .init(
            url: "http://\(shown):\(Self.proxyPort)", host: .address(HostAddress(address)), port: Self.proxyPort)
    }

    static func name(of site: DrawnSite) -> String {
        switch site {
        case .target: "www.example.net"
        case .check: "check.example.org"
        case .second: "second.example.com"
        case .anchor: "a.example"
        }
    }

    func address(of site: DrawnSite, _ family: IPAddress.Family) -> IPAddress {
        let literal = "198.51.100.\(site.rawValue)"
        if family == .ipv4 { return .literal(literal) }
        return .literal(isTranslated && site != .anchor ? "64:ff9b::\(literal)" : "2001:db8:80::\(site.rawValue)")
    }

    static let gateways: [IPAddress.Family: IPAddress] = [
        .ipv4: .literal("192.0.2.1"), .ipv6: .literal("2001:db8:1::1"),
    ]

    func address(of station: DrawnStation, _ family: IPAddress.Family) -> IPAddress? {
        let isIPv4 = family == .ipv4
        switch station {
        case .machine: return .literal(isIPv4 ? "192.0.2.20" : "2001:db8:1::20")
        case .secondLine: return nil
        case .secondRouter: return .literal(isIPv4 ? "192.0.2.3" : "2001:db8:1::3")
        case .proxy:
            if proxy == .neighbour { return .literal(isIPv4 ? "192.0.2.31" : "2001:db8:1::31") }
            return .literal(isIPv4 ? "198.51.100.31" : "2001:db8:80::31")
        case .gateway: return Self.gateways[family]
        case .router(let number): return .literal(isIPv4 ? "203.0.113.\(number)" : "2001:db8:f::\(number)")
        case .site(let site): return address(of: site, family)
        case .resolver(let place):
            switch resolvers[place].place {
            case .machine: return .literal(isIPv4 ? "127.0.0.1" : "::1")
            case .gateway: return Self.gateways[family]
            case .neighbour: return .literal(isIPv4 ? "192.0.2.53" : "2001:db8:1::53")
            case .provider: return .literal(isIPv4 ? "203.0.113.53" : "2001:db8:f::53")
            case .internet: return .literal(isIPv4 ? "198.51.100.5\(3 + place)" : "2001:db8:80::5\(3 + place)")
            }
        }
    }

    /// The family in which name servers are asked.
    var serverFamily: IPAddress.Family { families.first ?? .ipv4 }

    func server(_ place: Int) -> NameServerAddress {
        NameServerAddress(HostAddress(address(of: .resolver(place), serverFamily) ?? IPAddress(ipv4: 0)))
    }
}

extension DrawnInternet: CustomStringConvertible {
    var description: String {
        let resolvers = resolvers.map { resolver in
            "\(resolver.place)\(resolver.complains ? "" : ", silent")\(resolver.deniesInvalid ? ", denies" : "")"
                + (resolver.remembers ? ", remembers" : "")
        }
        return "seed \(seed): \(targetText) with \(endpointTexts), \(families), "
            + (hasGateway ? "gateway" : "bare link") + ", \(routers) routers, mute \(mute), resolvers \(resolvers), "
            + (isRoot ? "root, " : "") + (isWireGuard ? "WireGuard, " : "") + (hasSecondLine ? "second line, " : "")
            + (isTranslated ? "NAT64, " : "") + (proxy.map { "proxy \($0), " } ?? "")
            + (hasSecondRouter ? "second router, " : "") + (memory.map { "\($0), " } ?? "")
            + (otherLink == .absent ? "" : "another link \(otherLink), ")
            + "\(roundTrip), late \(lateShare), stray \(strayPackets), faults \(faults)"
    }
}
