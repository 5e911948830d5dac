import ReachCore
import ReachRecords

/// Where something stands on the way from this machine to a host.
enum DrawnStation: Hashable, Sendable {
    case machine
    case gateway
    /// A router of the provider, from 1.
    case router(Int)
    case site(DrawnSite)
    /// A name server, by its place in the configuration.
    case resolver(Int)
    /// The far end of the second line.
    case secondLine
    case proxy
    /// A router of the link to which a default route with a higher metric leads.
    case secondRouter
}

/// A host of the Internet with pages.
enum DrawnSite: Int, CaseIterable, Hashable, Sendable {
    case target = 10, check, second
    /// A root name server.
    case anchor
}

/// One thing that is broken, and where.
struct DrawnFault: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        // What a router does with packets
        case dark, darkIPv4, darkIPv6, dropsPort, dropsTCP, dropsQuestions, dropsPings, dropsTarget
        case forbidsAll, forbidsPort, forbidsTarget, hasNoRoute, loops, dropsLarge, loses, spreads
        case redirects, answers503, refusesPort, intercepts
        /// A translator of addresses (NAT) that has no port left: echo requests need none.
        case keepsEchoesOnly
        /// A translator between the families (NAT64) that passes nothing on.
        case translatorDead
        // The far end of a tunnel
        case farEndOff
        // The first hop and the link
        case gatewayOff, gatewayTwin, machineTwin, staleAddress, carrierLost, noLease, smallFrames
        // This machine
        case ownDrop, ownDropOfPort, ownReject, ownInput, ownInputOfTCP, reversePath, hostsFile, wrongGateway
        case noServer, resolverStopped, widePrefix, wrongClock, routeMissing, linkDown
        // A name server
        case deaf, refusesQuestions, fails, streamsOnly, garbles, deafToA, deafToAAAA, denies, misleads, blocks
        case knowsEverything
        // A server
        case off, offAtRouter, refuses, filters, error500, missing404, expired, untrusted, wrongHost, silentTLS
        case silentHTTP, forbids, noHTTP, resets
        // A proxy
        case proxyOff, proxyStopped, proxyMute, wantsLogin
    }

    let kind: Kind
    let station: DrawnStation

    var description: String { "\(kind) at \(station)" }

    /// Whether packets by the second router do not meet it.
    var isOfFirstLine: Bool {
        switch station {
        case .gateway: kind != .machineTwin
        case .router: true
        case .machine: kind == .wrongGateway || kind == .reversePath
        case .site, .resolver, .secondLine, .proxy, .secondRouter: false
        }
    }

    static let ofRouters: [Kind] = [
        .dark, .darkIPv4, .darkIPv6, .dropsPort, .dropsTCP, .dropsQuestions, .dropsPings, .dropsTarget, .forbidsAll,
        .forbidsPort, .forbidsTarget, .hasNoRoute, .loops, .dropsLarge, .loses, .spreads, .redirects, .answers503,
        .refusesPort, .intercepts, .keepsEchoesOnly, .translatorDead,
    ]
    static let ofFarEnds: [Kind] = [.farEndOff]
    static let ofSecondLine: [Kind] = [.dark, .dropsTCP, .loses, .hasNoRoute]
    static let ofLink: [Kind] = [
        .gatewayOff, .gatewayTwin, .machineTwin, .staleAddress, .carrierLost, .noLease, .smallFrames,
    ]
    static let ofMachine: [Kind] = [
        .ownDrop, .ownDropOfPort, .ownReject, .ownInput, .ownInputOfTCP, .reversePath, .hostsFile, .wrongGateway,
        .noServer, .resolverStopped, .widePrefix, .wrongClock, .routeMissing, .linkDown,
    ]
    static let ofResolvers: [Kind] = [
        .deaf, .refusesQuestions, .fails, .streamsOnly, .garbles, .deafToA, .deafToAAAA, .denies, .misleads, .blocks,
        .knowsEverything,
    ]
    static let ofProxies: [Kind] = [.proxyOff, .proxyStopped, .proxyMute, .wantsLogin]
    static let ofSites: [Kind] = [
        .off, .offAtRouter, .refuses, .filters, .error500, .missing404, .expired, .untrusted, .wrongHost, .silentTLS,
        .silentHTTP, .forbids, .noHTTP, .resets,
    ]

    /// Who can mend it, and who can mend a fault that looks the same from this machine by any test that it can make.
    func suspects(in internet: DrawnInternet) -> Set<Diagnosis.Party> {
        var all = owners(in: internet)
        switch kind {
        // A gateway that passes nothing on looks like one whose line is dead, and what it loses is lost on the line.
        case .dark, .darkIPv4, .darkIPv6, .hasNoRoute, .loses: if station == .gateway { all.insert(.provider) }
        // Only root may ask who else has an address.
        case .gatewayTwin, .machineTwin: if !internet.isRoot { all.insert(.provider) }
        // A neighbour that passes nothing on looks like a gateway whose line is dead, unless root finds another one
        // that passes on: one that resolves names.
        case .wrongGateway:
            // Another router that passes on does not show who is wrong to use this one.
            if internet.hasSecondRouter { all.insert(.localNetwork) }
            if !internet.isRoot || !internet.resolvers.contains(where: { $0.place == .gateway }) {
                all.insert(.provider)
            }
        // Where answers by neighbour discovery are dropped as well, only root sees them on the link.
        case .ownInput: if !internet.isRoot, internet.families == [.ipv6] { all.insert(.localNetwork) }
        // One host that is cut off on the way looks like one that is off.
        case .dropsTarget: all.insert(.server)
        case .dropsPings: if internet.target == .ping { all.insert(.server) }
        // Echo requests to one host all take one way.
        case .spreads: if internet.target == .ping { all.insert(.server) }
        // What a login page holds back looks like a dead line where no plain page is asked for.
        case .redirects: if internet.endpoints.isEmpty, internet.target != .http { all.insert(.provider) }
        // One server behind a translator that is silent looks like one that is off.
        case .translatorDead:
            if internet.endpoints.isEmpty { all.insert(.server) }
            if station == .gateway { all.insert(.provider) }
        case .keepsEchoesOnly: if station == .gateway { all.insert(.provider) }
        case .dropsLarge: if station == .gateway { all.insert(.provider) }
        // One name server that is not reached looks like one that is off, and nobody else knows what the only one says.
        case .dropsQuestions: all.insert(.nameServer)
        case _ where station == .secondLine: all.insert(.nameServer)
        case .misleads, .denies, .hostsFile:
            let answers = DrawnAnswers(internet: internet)
            if !internet.resolvers.indices.contains(where: answers.isHonest) { all.insert(.server) }
        // What somebody does to all looks like the target's own where no other page is asked.
        case .answers503, .refusesPort, .intercepts, .dropsPort:
            if internet.endpoints.isEmpty || internet.target == .port { all.insert(.server) }
            if internet.target == .internet, internet.endpoints.count == 1 { all.insert(.server) }
            if kind == .intercepts { all.insert(.localNetwork) }
        default: break
        }
        return all
    }

    private func owners(in internet: DrawnInternet) -> Set<Diagnosis.Party> {
        switch station {
        case .machine: [.thisMachine]
        case .gateway: [.localNetwork]
        case .secondLine: [.provider]
        case .proxy: internet.proxy == .neighbour ? [.proxy, .localNetwork] : [.proxy]
        case .secondRouter: [.localNetwork]
        // A login page is laid to the network that shows it, whoever runs that.
        case .router: kind == .redirects ? [.provider, .localNetwork] : [.provider]
        case .site: [.server]
        // A page of a name server that knows everything is a login page's.
        case .resolver(let place):
            switch internet.resolvers[place].place {
            case _ where kind == .knowsEverything: [.nameServer, .localNetwork]
            case .machine: [.nameServer, .thisMachine]
            case .gateway, .neighbour, .provider: [.nameServer, .localNetwork]
            case .internet: [.nameServer]
            }
        }
    }
}
