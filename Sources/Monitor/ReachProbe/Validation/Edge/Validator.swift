package import ReachCore
package import ReachLoop
internal import ReachKernel
package import ReachRecords
package import ReachTransfer

/// Proves for each path whether the Internet answers, and reports changes. Confined to the loop's thread.
///
/// A ``ValidationMachine`` decides. The validator carries out its commands and keeps its timer.
package final class Validator {
    package struct Options: Hashable, Sendable {
        /// At least one.
        package var endpoints: [ConnectivityEndpoint]
        /// By which the endpoints are asked. What a check proves then is that the proxy is reached and that the
        /// Internet answers it.
        package var proxies = TransferProxies.none
        /// Time for one check: name resolution, connection and answer together.
        package var timeout: Duration = .seconds(5)
        package var rhythm = ValidationOptions()
        /// Whether TCP connections are watched for silence while there is traffic.
        package var detectsSilence = ValidationOptions.detectsSilence
        /// On which links what the line is like is measured.
        package var measuredLines = MeasuredLines.none
        /// The time between two packets on an idle line; not the usual one only in tests.
        package var qualityInterval = QualityMachine.usualInterval
        /// The directory in which the files of DHCP clients are looked for; not `/` only in tests.
        package var leaseRoot = "/"

        package init(endpoints: [ConnectivityEndpoint]) { self.endpoints = endpoints }
    }

    /// The lines whose quality is measured.
    package enum MeasuredLines: Hashable, Sendable {
        case none
        case unmetered
        case all
    }

    private let loop: EventLoop
    private let options: Options
    private let transfers: TransferEngine
    private let resolverOptions: NameService.Options
    private let traffic = TrafficReader()
    private let onChange: (ConnectivitySurvey) -> Void
    private var machine: ValidationMachine
    private var rounds: [ValidationCommand.Ticket: ValidationRound] = [:]
    private var questions: [ValidationCommand.Ticket: PortalQuestion] = [:]
    private var leases: LeaseWatch<String?>?
    private var silence: SilenceWatch?
    private var quality: QualityWatch?
    private let loopReference = LoopReference<Validator>()
    private var servers = KnownServers()
    private var patience = CheckPatience()
    /// This machine's addresses, with which any user can talk to itself.
    private var own = OwnAddresses()
    /// Called when a check of a path has ended, whatever it found.
    package var onCheck: () -> Void = {}
    /// Receives what some minutes showed of a line.
    package var onQuality: (QualityPeriod) -> Void = { _ in }
    /// Receives what is found by watching TCP connections, beyond the changes of the survey.
    package var onSilence: (SilenceNotice) -> Void = { _ in }
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in
        carryOut(machine.timeReached(at: SystemClock.boot))
    }

    /// The connectivity that is currently proven.
    package private(set) var survey = ConnectivitySurvey()

    /// - Parameters:
    ///   - transfers: The transfer engine, which may be shared and is not reconfigured.
    ///   - resolverOptions: Options of the validator's own resolvers. Shared ones would return cached answers.
    ///   - onChange: Called with the survey when it changes, even from within the validator's methods.
    package init(
        loop: EventLoop, options: Options, transfers: TransferEngine,
        resolverOptions: NameService.Options = NameService.Options(),
        onChange: @escaping (ConnectivitySurvey) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.transfers = transfers
        self.resolverOptions = resolverOptions
        self.onChange = onChange
        var rhythm = options.rhythm
        rhythm.expectedBytes = options.endpoints.map(EndpointAttempt.expectedBytes).reduce(0, +)
        machine = ValidationMachine(options: rhythm)
        loopReference.owner = self
        if options.detectsSilence {
            silence = SilenceWatch(loop: loop, traffic: traffic) { [unowned self] in handle($0) }
        }
        if options.measuredLines != .none {
            quality = QualityWatch(loop: loop, traffic: traffic, interval: options.qualityInterval) { [unowned self] in
                publish()
            } onDoubt: { [unowned self] in
                doubt()
            } onPeriod: { [unowned self] in
                onQuality($0)
            }
        }
        guard rhythm.asksPortals else { return }
        leases = LeaseWatch(loop: loop, root: options.leaseRoot) {
            $0.portal(of: $1.name, $1.interface, addresses: $1.addresses)
        } onLease: { [unowned self] question, uri, _ in
            carryOut(machine.setLease(uri, of: question.interface, at: SystemClock.boot))
        }
    }

    deinit { stop() }

    /// The last check of the path to a target, in each family that has one.
    package func lastChecks(of target: Target) -> [IPAddress.Family: ConnectivityCheck] {
        machine.lastChecks(of: target)
    }

    /// Whether a check decides soon if the Internet still answers over an interface, where something failed at a time.
    package func isUnsettled(_ interface: String, _ family: IPAddress.Family?, since time: BootTime) -> Bool {
        machine.isUnsettled(interface, family, since: time)
    }

    /// How long a check over an interface may take, also one of somebody else.
    package func checkLimit(over interface: String, _ family: IPAddress.Family) -> Duration {
        machine.routes(of: interface).first { $0.key.family == family }.map(limit) ?? options.timeout
    }

    private func limit(of route: DefaultRoute) -> Duration { patience.limit(for: route, least: options.timeout) }

    /// The longest time that such a check takes to decide.
    package var longestDecision: Duration {
        options.rhythm.longestDecision(timeout: patience.longestLimit(least: options.timeout))
    }

    /// What is proved of the Internet over each interface with a default route.
    ///
    /// - Parameter internet: The Internet by the paths that the kernel chooses.
    package func linkProofs(internet: ReachabilityState?) -> [String: LinkReport.Proof] {
        let now = SystemClock.now
        return survey.interfaces.reduce(into: [:]) { proofs, entry in
            var proof = LinkReport.Proof(entry.value, of: entry.key, internet: internet)
            if let last = machine.lastCheck(of: entry.key) {
                let ago = now.boot - last.time
                proof.checked = Timestamp(nanosecondsSince1970: now.wall.nanosecondsSince1970 - ago.nanoseconds)
            }
            if proof.connectivity != .none {
                let times = machine.routes(of: entry.key).compactMap { servers.proven(by: $0)?.roundTrip }
                proof.roundTrip = times.filter { $0 > .zero }.min()
                proof.quality = quality?.qualities[entry.key]
            }
            proofs[entry.key] = proof
        }
    }

    /// Sets the current network; `nil` while the kernel cannot be observed.
    package func update(network: NetworkSnapshot?) {
        own = OwnAddresses(network?.ownAddresses ?? [])
        carryOut(machine.update(routes: network?.routes, at: SystemClock.boot))
        leases?.update(network?.routes ?? [])
    }

    /// Checks all paths again, since the machine slept.
    package func restart() {
        silence?.restart()
        quality?.restart()
        servers.forgetProofs()
        patience = CheckPatience()
        carryOut(machine.restart(at: SystemClock.boot))
    }

    /// Checks the paths at once, since a request failed and they may not work any more. At most once in five seconds.
    package func doubt() { carryOut(machine.doubt(at: SystemClock.boot)) }

    /// Checks paths in trouble at once, since a request was answered. Each check that fails delays the next one of this
    /// kind.
    ///
    /// - Parameter family: The family of the answer, if known; other families' paths are not checked.
    package func heardAnswer(in family: IPAddress.Family?) {
        carryOut(machine.noteAnswer(in: family, at: SystemClock.boot))
    }

    /// Notes that a probe by address was answered by the kernel's path: where names are not resolved, the rest works.
    package func heardWitness(in family: IPAddress.Family) {
        machine.noteWitness(in: family, at: SystemClock.boot)
        if machine.isInTrouble { publish() }
    }

    /// Ends all checks. Nothing is sent or reported afterwards.
    package func stop() {
        loopReference.owner = nil
        timer.cancel()
        rounds.values.forEach { $0.cancel() }
        rounds = [:]
        questions.values.forEach { $0.cancel() }
        questions = [:]
        leases = nil
        silence = nil
        quality = nil
    }

    /// How often silence was looked for and found; `nil` if it is not.
    package var silenceStatistics: SilenceStatistics? { silence?.statistics }

    // MARK: - The machine's commands

    private func carryOut(_ commands: [ValidationCommand]) {
        for command in commands {
            switch command {
            case .probe(let route, let ticket): probe(route, ticket)
            case .sampleTraffic(let route, let window, let ticket): sampleTraffic(route, within: window, ticket)
            case .askPortal(let route, let api, let ticket): ask(api, by: route, ticket)
            case .cancel(let ticket):
                rounds.removeValue(forKey: ticket)?.cancel()
                questions.removeValue(forKey: ticket)?.cancel()
            }
        }
        schedule()
        traffic.setCountsClosed(machine.isInTrouble)
        updateSilence()
        updateQuality()
        publish()
    }

    private func publish() {
        var found = machine.survey
        if let quality { found.add(quality.qualities, of: machine.preferredInterfaces) }
        guard found != survey else { return }
        survey = found
        onChange(found)
    }

    private func schedule() {
        timer.set(to: machine.deadline)
    }

    private func probe(_ route: DefaultRoute, _ ticket: ValidationCommand.Ticket) {
        rounds[ticket] = ValidationRound(
            options.endpoints, by: route, options.proxies, known: servers.pages(by: route),
            within: limit(of: route), transfers: transfers,
            resolverOptions: resolverOptions, on: loop
        ) { [unowned self] outcome in
            rounds[ticket] = nil
            patience.note(outcome.roundTrip, of: route)
            if outcome.roundTrip == nil, outcome.result != .full { measure(route, names: outcome.nameTime) }
            servers.note(outcome.remotes)
            servers.notePages(of: route, outcome.pages)
            if outcome.result == .full {
                servers.noteProof(of: route, by: outcome.remotes, roundTrip: outcome.roundTrip)
            }
            let commands = machine.probed(
                ticket, outcome.result, isSecure: outcome.isSecure, isAnswered: outcome.isAnswered,
                bytes: outcome.bytes, at: SystemClock.boot)
            // Clients install the address before they write the lease, and renew it. A timer would wake the machine.
            // Where the Internet is proved, a lease that came later changes nothing yet.
            if !outcome.isSecure { leases?.read() }
            carryOut(commands)
            onCheck()
        }
    }

    /// Looks at how long the round trips of other programs' connections take, where a check connected to nothing.
    ///
    /// - Parameter names: How long a name server took to answer the check.
    private func measure(_ route: DefaultRoute, names: Duration?) {
        traffic.countSegments(of: route.sockets(own), replyTo: loop.mailbox) { [loopReference] segments in
            let shortest = segments?.map(\.roundTrip).filter { $0 > .zero }.min()
            loopReference.owner?.patience.extend(to: [shortest, names].compactMap(\.self).max(), of: route)
        }
    }

    private func ask(_ api: ConnectivityEndpoint, by route: DefaultRoute, _ ticket: ValidationCommand.Ticket) {
        let resolver = NameService(loop: loop, options: resolverOptions.hastened(within: options.timeout))
        resolver.route = transfers.resolver.route
        questions[ticket] = PortalQuestion(
            api, by: route, within: options.timeout, transfers: transfers, resolver: resolver, on: loop
        ) { [unowned self] outcome in
            questions[ticket] = nil
            servers.note(outcome.remote.map { [$0] } ?? [])
            carryOut(machine.portalAnswered(ticket, outcome.result, bytes: outcome.bytes, at: SystemClock.boot))
        }
    }

    private func sampleTraffic(_ route: DefaultRoute, within window: Duration, _ ticket: ValidationCommand.Ticket) {
        let question = TrafficQuestion(route.sockets(own), excludedRemotes: Set(servers.met), window: window)
        traffic.ask(question, replyTo: loop.mailbox) { [loopReference] answer, time in
            loopReference.owner?.sampled(ticket, answer, after: time)
        }
    }

    private func sampled(_ ticket: ValidationCommand.Ticket, _ answer: TrafficAnswer, after time: Duration) {
        if answer == .moving { silence?.noteActivity() }
        carryOut(machine.sampled(ticket, sawTraffic: answer == .moving, after: time, at: SystemClock.boot))
    }

    // MARK: - Silence

    private func updateSilence() {
        guard let silence else { return }
        silence.update(
            machine.silencePaths(at: SystemClock.boot) { servers.proven(by: $0) ?? ProvenServers() }, own: own)
    }

    // MARK: - Quality

    private func updateQuality() {
        guard let quality else { return }
        let working = machine.workingRoutes.filter { options.measuredLines == .all || !$0.traits.isMetered }
        // IPv4's path stands for the link, as for the class.
        let byInterface = Dictionary(grouping: working, by: \.key.interface).values
        let routes = byInterface.compactMap { routes in routes.first { $0.key.family == .ipv4 } ?? routes.first }
        let paths = routes.map { route in
            let remotes = servers.proven(by: route)?.remotes ?? []
            return QualityPath(route, witnesses: remotes.map(\.address).filter { $0.family == route.key.family })
        }
        quality.update(paths, own: own)
    }

    private func handle(_ event: SilenceWatch.Event) {
        let now = SystemClock.boot
        switch event {
        case .silent(let key, let evidence):
            if let name = machine.name(of: key) { onSilence(.silent(interface: name, key.family, evidence)) }
            carryOut(machine.silence(key, evidence, at: now))
        case .answered(let key): carryOut(machine.noteAnswer(by: key, at: now))
        case .tested(let key, let handshakes): machine.noteTest(of: key, handshakes: handshakes, at: now)
        case .gaveUp: onSilence(.notAvailable)
        }
    }
}

/// What a validator finds by watching TCP connections.
package enum SilenceNotice: Hashable, Sendable {
    case silent(interface: String, IPAddress.Family, SilenceEvidence)
    /// The kernel shows this process no sockets or counters, so silent paths are found by checks alone.
    case notAvailable
}
