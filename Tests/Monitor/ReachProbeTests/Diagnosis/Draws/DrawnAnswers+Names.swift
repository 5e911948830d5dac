import ReachCore
import ReachProbe
import ReachRecords

/// Name servers and names of a drawn Internet.
extension DrawnAnswers {
    var servers: [NameServerAddress] {
        if internet.has(.noServer, .machine) { return [NameServerAddress(HostAddress(.at("127.0.0.1")))] }
        return internet.resolvers.indices.map(internet.server)
    }

    private func place(of server: NameServerAddress) -> Int? {
        internet.resolvers.indices.first { internet.server($0) == server }
    }

    func answer(to question: NameServerQuestion, attempt: String = "") -> NameServerAnswer {
        guard let place = place(of: question.server), !internet.has(.noServer, .machine) else { return .refused }
        let host = question.server.host
        let isStopped = internet.resolvers[place].place == .machine && internet.has(.resolverStopped, .machine)
        if isStopped { return .refused }
        let flow = "ask \(question.server) \(question.family) \(question.isByTCP) \(question.name)\(attempt)"
        // Each of three rounds has a port of its own.
        let fates = (0..<3).map { questionFate(host, isByTCP: question.isByTCP, "\(flow) \($0)") }
        switch fates.first(where: { $0 == .arrives }) ?? fates.first {
        case .arrives?: break
        case .reset?, .resetHere?: return .refused
        case .notSent?: return .failed(1)
        default: return .silent
        }
        let loss = internet.lossShare(to: .resolver(place))
        // Three rounds; the kernel repeats by TCP.
        if !question.isByTCP, isLost(loss * loss * loss, flow) { return .silent }
        return answer(of: place, to: question)
    }

    private func answer(of place: Int, to question: NameServerQuestion) -> NameServerAnswer {
        let server = DrawnStation.resolver(place)
        let isTarget = question.name == DrawnInternet.name(of: .target)
        if internet.has(.deaf, server) { return .silent }
        if internet.has(.refusesQuestions, server) { return .refused }
        if internet.has(.streamsOnly, server), !question.isByTCP { return .silent }
        if internet.has(.garbles, server) { return .unusable }
        if internet.has(.fails, server) { return .failure(code: 2) }
        if internet.has(.deafToA, server), question.family == .ipv4 { return .silent }
        if internet.has(.deafToAAAA, server), question.family == .ipv6 { return .silent }
        if internet.has(.knowsEverything, server) {
            return question.family == .ipv4 ? .addresses([.at("192.0.2.1")]) : .noAddress
        }
        if isTarget, internet.has(.denies, server) { return .noSuchName }
        if isTarget, internet.has(.misleads, server) {
            return Self.misleading[question.family].map { .addresses([$0]) } ?? .noAddress
        }
        if isTarget, internet.has(.blocks, server) {
            return .addresses([.at(question.family == .ipv4 ? "0.0.0.0" : "::")])
        }
        return honestAnswer(of: place, to: question)
    }

    private func honestAnswer(of place: Int, to question: NameServerQuestion) -> NameServerAnswer {
        let resolver = internet.resolvers[place]
        let site = DrawnSite.allCases.first { DrawnInternet.name(of: $0) == question.name }
        if site == nil, resolver.deniesInvalid { return .noSuchName }
        guard resolver.remembers && site != nil || reachesOthers(place) else { return upstreamMissing(place) }
        guard let site else { return .noSuchName }
        return .addresses([internet.address(of: site, question.family)])
    }

    /// What it says where it reaches no other server.
    func upstreamMissing(_ place: Int) -> NameServerAnswer {
        internet.resolvers[place].complains ? .failure(code: 2) : .silent
    }

    /// Whether a resolver reaches the name servers of the Internet.
    private func reachesOthers(_ place: Int) -> Bool {
        var rest = internet
        if internet.isBySecondLine(.resolver(place)) { return true }
        switch internet.resolvers[place].place {
        case .internet: return true
        case .machine: break
        case .neighbour: rest.faults.removeAll { $0.station == .machine || $0.kind == .machineTwin }
        case .gateway:
            // Its own packets are none that it passes on.
            rest.faults.removeAll { $0.station == .machine || $0.station == .gateway }
        case .provider:
            rest.faults.removeAll {
                $0.station == .machine || $0.station == .gateway || $0.station == .router(1)
            }
        }
        let flows = (0..<3).map { UInt64($0 + place) }
        return flows.contains { flow in
            let packet = DrawnPacket(
                end: .site(.anchor), family: internet.serverFamily, kind: .udp(53), flow: StableHash.mix(flow))
            return rest.fate(of: packet) == .arrives
        }
    }

    /// Whether a name server has the target's own address.
    func isHonest(_ place: Int) -> Bool {
        let question = NameServerQuestion(
            server: internet.server(place), name: DrawnInternet.name(of: .target), family: internet.serverFamily)
        return answer(to: question) == .addresses([internet.address(of: .target, internet.serverFamily)])
    }

    /// As programs get it.
    ///
    /// - Parameter attempt: Those that ask again use other ports.
    func resolution(of name: String, attempt: String = "") -> NameAnswer {
        let listed = result(of: .hosts(name))
        if case .listed(let addresses) = listed, !addresses.isEmpty { return .addresses(addresses) }
        for server in servers {
            let answers = [IPAddress.Family.ipv4, .ipv6].map {
                answer(to: NameServerQuestion(server: server, name: name, family: $0), attempt: attempt)
            }
            // The C library drops what it got where a server is silent about A, and asks the next one.
            if answers[0] == .silent { continue }
            let found = answers.flatMap { if case .addresses(let some) = $0 { some } else { [] as [IPAddress] } }
            if !found.isEmpty { return .addresses(found) }
            if answers.contains(.noSuchName) || answers.allSatisfy({ $0 == .noAddress }) { return .noAddress }
        }
        return .notAsked
    }
}
