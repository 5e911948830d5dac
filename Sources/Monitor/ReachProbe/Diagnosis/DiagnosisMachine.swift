package import ReachCore
package import ReachRecords

/// Decides what a diagnosis finds out next: results in, tasks and at the end the diagnosis out. A value without a clock
/// and without I/O.
package struct DiagnosisMachine: Sendable {
    package private(set) var evidence: DiagnosisEvidence
    private var started: Set<DiagnosisTask> = []

    package init(_ evidence: DiagnosisEvidence) { self.evidence = evidence }

    /// The tasks that can begin now. Each is returned once.
    package mutating func nextTasks() -> [DiagnosisTask] {
        DiagnosisPlan(evidence: evidence).wanted.filter { started.insert($0).inserted }
    }

    package mutating func record(_ result: DiagnosisResult, of task: DiagnosisTask, after duration: Duration = .zero) {
        evidence.record(result, of: task, after: duration)
    }

    package mutating func record(reversePathDrops count: UInt64) { evidence.reversePathDrops = count }

    package mutating func record(inputDrops counts: [IPAddress.Family: UInt64]) { evidence.inputDrops = counts }

    package mutating func record(life: Int?) { evidence.life = life }

    package mutating func record(namesServers: Bool) { evidence.namesServers = namesServers }

    package mutating func record(silentTunnels tunnels: [InterfaceIndex: TunnelSilence]) {
        evidence.silentTunnels = tunnels
    }

    package mutating func record(portalAPI uri: String?) { evidence.portalAPI = uri }

    /// Whether every task that was begun has ended, so that no other follows. A first hop that has passed on answers
    /// need not answer by itself any more: without root the kernel asks one that it knows only after five seconds.
    package var isComplete: Bool {
        started.allSatisfy { task in
            if evidence.isAnswered(task) { return true }
            switch task {
            case .solicit(let hop): return evidence.isProvedByTraffic(hop)
            default: return false
            }
        }
    }

    /// What follows from the results so far. A task that has not ended counts as not done.
    package var diagnosis: Diagnosis { DiagnosisJudge(evidence: evidence).diagnosis }
}

/// What is worth finding out, given what is known.
struct DiagnosisPlan {
    let evidence: DiagnosisEvidence

    var wanted: [DiagnosisTask] {
        var tasks: [DiagnosisTask] = [.internet, .servers]
        tasks += evidence.names.flatMap { [.resolve($0), .hosts($0)] }
        if evidence.needsInternetHops { tasks += evidence.internetHops.map { .solicit($0) } }
        // Also where no name is in question: they are witnesses.
        tasks += evidence.servers.flatMap(tasks(about:))
        tasks += evidence.destinations.flatMap(tasks(about:))
        if evidence.needsAnchors { tasks += anchorTasks }
        return tasks + DiagnosisComparison(evidence: evidence).tasks
    }

    /// A root name server answers questions by TCP as well.
    static let anchorPort: UInt16 = 53

    private var anchorTasks: [DiagnosisTask] {
        IPAddress.Family.allCases.compactMap { family in evidence.anchors.first { $0.family == family } }
            .flatMap { anchor -> [DiagnosisTask] in
                guard evidence.path(.path(anchor))?.isUsable(anchor.family) == true else { return [.path(anchor)] }
                let hop = evidence.hop(to: anchor).map { [DiagnosisTask.solicit($0)] } ?? []
                return hop + [
                    .path(anchor), .ping(anchor, isLarge: false), .connect(anchor, port: Self.anchorPort),
                    .trace(anchor),
                ]
            }
    }

    // MARK: - Name servers

    private func tasks(about server: NameServerAddress) -> [DiagnosisTask] {
        var tasks: [DiagnosisTask] = [.path(server.host)]
        guard let fact = evidence.path(.path(server.host)), fact.isUsable(server.host.family) else { return tasks }
        if let hop = evidence.hop(to: server.host) { tasks.append(.solicit(hop)) }
        var questions: [NameServerQuestion] = []
        for name in evidence.names {
            questions += IPAddress.Family.allCases.map { NameServerQuestion(server: server, name: name, family: $0) }
            questions.append(NameServerQuestion(server: server, name: name, family: .ipv4, isByTCP: true))
        }
        // What a server does with one name may be the fault of that name's own servers.
        questions += IPAddress.Family.allCases.map {
            NameServerQuestion(server: server, name: evidence.canary, family: $0)
        }
        questions.append(NameServerQuestion(server: server, name: evidence.canary, family: .ipv4, isByTCP: true))
        tasks += questions.map { .ask($0) }
        let answers = questions.map(evidence.asked)
        if evidence.isBeyondGateway(server.host), answers.allSatisfy({ $0 != nil && $0?.isSign == false }) {
            tasks += [.trace(server.host), .ping(server.host, isLarge: false)]
        }
        return tasks
    }

    // MARK: - Destinations

    private func tasks(about destination: DiagnosisDestination) -> [DiagnosisTask] {
        let hosts = evidence.addresses(of: destination)
        let usable = evidence.usableAddresses(of: destination)
        var tasks = hosts.map { DiagnosisTask.path($0) }
        for host in usable {
            if let hop = evidence.hop(to: host) { tasks.append(.solicit(hop)) }
            tasks += destination.nextPorts.map { .connect(host, port: $0) }
            if evidence.isLost(host, of: destination) { tasks += rivals(to: host) }
            if destination.proxy == nil, destination.isBare || destination.ports.isEmpty {
                tasks.append(.ping(host, isLarge: false))
            }
        }
        let ways = usable.flatMap { DiagnosisOtherWays.nextHops(to: $0, of: destination, evidence) }
        guard isResolved(destination), !usable.isEmpty, tasks.allSatisfy({ isEnded($0) }) else { return tasks + ways }
        return tasks + ways + traces(of: destination, usable) + exchanges(of: destination)
    }

    /// Where one of two routers is off, what the kernel sends by it is lost, and the rest arrives.
    private func rivals(to host: HostAddress) -> [DiagnosisTask] {
        guard let hop = evidence.hop(to: host), hop.address != host.address else { return [] }
        return [.rivals(hop)] + evidence.rivals(of: hop).map { .solicit($0) }
    }

    private func isResolved(_ destination: DiagnosisDestination) -> Bool {
        if case .name(let name) = destination.nextHost { evidence.resolved(name) != nil } else { true }
    }

    /// A solicitation takes longer than all else, and the rest does not depend on it.
    private func isEnded(_ task: DiagnosisTask) -> Bool {
        if case .solicit = task { true } else { evidence.isAnswered(task) }
    }

    /// A trace for each family in which nothing answered.
    private func traces(of destination: DiagnosisDestination, _ hosts: [HostAddress]) -> [DiagnosisTask] {
        IPAddress.Family.allCases.compactMap { family in
            let ofFamily = hosts.filter { $0.family == family }
            let isAnswered = ofFamily.contains { host in
                evidence.pinged(host) == .answered
                    || evidence.connections(of: destination, to: host).contains {
                        $0.answer == .connected || $0.answer == .refused
                    }
            }
            return isAnswered ? nil : ofFamily.first.map { .trace($0) }
        }
    }

    private func exchanges(of destination: DiagnosisDestination) -> [DiagnosisTask] {
        guard let exchange = evidence.exchange(of: destination) else { return [] }
        var tasks: [DiagnosisTask] = [.exchange(exchange)]
        if destination.proxy == nil {
            tasks += [false, true].map { .ping(exchange.address, isLarge: $0) }
        }
        guard case .failure(let failure, _)? = evidence.exchanged(exchange)?.ending else { return tasks }
        switch failure {
        case .silent(let phase):
            // No segment was large before the connection stood.
            let variants: [DiagnosisExchange.Variant] = phase == .connect ? [.again] : [.again, .smallSegments]
            for variant in variants {
                if let again = evidence.exchange(of: destination, variant) { tasks.append(.exchange(again)) }
            }
            // Each connection may take another of several ways.
            if phase == .connect { tasks.append(.burst(exchange.address, port: exchange.port)) }
            if phase != .connect, let gateway = evidence.gateway(to: exchange.address) {
                tasks += [false, true].map { .ping(gateway, isLarge: $0) }
            }
        case .certificateExpired, .certificateNotYetValid:
            if let again = evidence.exchange(of: destination, .anyCertificate) { tasks.append(.exchange(again)) }
        default: break
        }
        return tasks
    }
}
