package import ReachCore
internal import ReachKernel

/// Decides which paths to validate, when, and what the results prove. A pure value: paths, times and results go in;
/// commands, a deadline and the proven connectivity come out.
///
/// - Whether a path is checked never depends on earlier results: it is checked as soon as its link is up and it has an
///   address and a route. Otherwise a path once found broken would stay so.
/// - A result carries the ticket of its command. A result with an unknown ticket is about an earlier state of the path,
///   and is ignored.
package struct ValidationMachine {
    package typealias Ticket = ValidationCommand.Ticket

    /// What an interface may send and receive.
    private struct Budget {
        var bytes: ByteBudget
        /// The size of the last check; `nil` before the first one.
        var checkBytes: Int?
    }

    let options: ValidationOptions
    /// Draws a random number from 0 up to, but not including, 1.
    let draw: () -> Double
    private(set) var paths: [DefaultRoute.Key: PathValidation] = [:]
    private var owners: [Ticket: DefaultRoute.Key] = [:]
    var lastTicket: Ticket = 0
    /// The portals that networks announce, by interface.
    var portals: [InterfaceIndex: PortalWatch] = [:]
    var portalOwners: [Ticket: InterfaceIndex] = [:]
    /// Of interfaces with a network whose portal has gone.
    var portalPaces: [InterfaceIndex: PortalPace] = [:]
    /// What leases announce, by interface.
    var leases: [InterfaceIndex: String] = [:]
    /// Announcements that are refused, by the interfaces' names.
    var portalTroubles: [String: PortalTrouble] = [:]
    /// Budgets by interface name. They outlive the path: otherwise every reconnection would start a new budget.
    private var budgets: [String: Budget] = [:]
    /// Whether the kernel can be observed.
    private var isObserving = false
    /// Paths that cannot be checked.
    private var unchecked: [DefaultRoute] = []

    package init(
        options: ValidationOptions = ValidationOptions(), draw: @escaping () -> Double = { .random(in: 0..<1) }
    ) {
        self.options = options
        self.draw = draw
    }

    /// When to call ``timeReached(at:)``; `nil` while only results are outstanding.
    package var deadline: BootTime? {
        let next = paths.values.compactMap(\.deadline).min()
        guard let portal = portals.values.compactMap(\.deadline).min() else { return next }
        return next.map { min($0, portal) } ?? portal
    }

    /// The proven connectivity.
    package var survey: ConnectivitySurvey {
        var survey = ConnectivitySurvey()
        guard isObserving else { return survey }
        survey.internet = ConnectivityReport(ipv4: .none, ipv6: .none)
        for path in paths.values.sorted(by: { $0.route.key.interface < $1.route.key.interface }) {
            let route = path.route
            let proved = connectivity(of: path)
            var report = survey.interfaces[route.name] ?? ConnectivityReport(ipv4: .none, ipv6: .none)
            report.add(path, proved)
            addPortal(of: route, to: &report)
            survey.interfaces[route.name] = report
            guard route.isPreferred else { continue }
            survey.chosen.insert(route.key)
            survey.internet.add(path, proved)
            addPortal(of: route, to: &survey.internet)
        }
        for route in unchecked {
            survey.interfaces[route.name, default: ConnectivityReport(ipv4: .none, ipv6: .none)][route.key.family] =
                .unknown
        }
        return survey
    }

    /// The last check of the path to a target, in each family that has one. A path is believed to work until several
    /// checks have failed, so a check may differ from the connectivity.
    package func lastChecks(of target: Target) -> [IPAddress.Family: ConnectivityCheck] {
        var checks: [IPAddress.Family: ConnectivityCheck] = [:]
        for path in paths.values {
            let isMeant =
                switch target.subject {
                case .internet: path.route.isPreferred
                case .interface(let name): path.route.name == name
                case .name, .address, .prefix: false
                }
            if isMeant { checks[path.route.key.family] = path.lastCheck }
        }
        return checks
    }

    /// The last check of any path by an interface.
    package func lastCheck(of interface: String) -> ConnectivityCheck? {
        paths.values.filter { $0.route.name == interface }.compactMap(\.lastCheck).max { $0.time < $1.time }
    }

    /// The paths by an interface.
    package func routes(of interface: String) -> [DefaultRoute] {
        paths.values.map(\.route).filter { $0.name == interface }
    }

    /// Whether a check decides soon if a path still works: no check of it has proved that since a time.
    ///
    /// - Parameter family: `nil` for the paths of both.
    package func isUnsettled(_ interface: String, _ family: IPAddress.Family?, since time: BootTime) -> Bool {
        paths.values.contains { path in
            guard path.route.name == interface, family == nil || path.route.key.family == family,
                path.connectivity == .full
            else { return false }
            return path.lastCheck.map { $0.found != .full || $0.time < time } ?? true
        }
    }

    /// Whether a path does not work, so that its traffic is sampled repeatedly.
    package var isInTrouble: Bool { paths.values.contains(where: \.isInTrouble) }

    /// Why a path is not fully connected, by its last check; `nil` if it is, or if that is not known.
    package func trouble(of key: DefaultRoute.Key) -> ValidationTrouble? { paths[key]?.trouble }

    // MARK: - Events

    /// Sets the current paths. Those whose replies the kernel would drop are not checked, and stay unknown.
    ///
    /// - Parameter routes: The paths; `nil` while the kernel cannot be observed, so that nothing is known.
    package mutating func update(routes: [DefaultRoute]?, at now: BootTime) -> [ValidationCommand] {
        isObserving = routes != nil
        unchecked = (routes ?? []).filter(\.dropsReplies)
        let asked = (routes ?? []).filter { !$0.dropsReplies }
        let routesByKey = Dictionary(asked.map { ($0.key, $0) }) { first, _ in first }
        var commands: [ValidationCommand] = []
        for key in paths.keys where routesByKey[key] == nil {
            commands += cancelling(for: key) { machine in
                machine.paths[key] = nil
                return nil
            }
        }
        for (key, route) in routesByKey.sorted(by: { $0.key.sortKey < $1.key.sortKey }) {
            commands += cancelling(for: key) { machine in
                if machine.paths[key]?.update(route, at: now) != true {
                    machine.paths[key] =
                        machine.paths[key]?.replaced(by: route, at: now)
                        ?? PathValidation(route, options: machine.options, at: now)
                }
                return nil
            }
        }
        return commands + updatePortals(asked, at: now) + timeReached(at: now)
    }

    /// Checks all paths again, since the machine slept or the network may be another one.
    package mutating func restart(at now: BootTime) -> [ValidationCommand] {
        restartPortals(at: now) + restart(at: now) { _ in true }
    }

    /// Checks some paths again.
    mutating func restart(at now: BootTime, where isConcerned: (DefaultRoute.Key) -> Bool) -> [ValidationCommand] {
        var commands: [ValidationCommand] = []
        for key in paths.keys.filter(isConcerned) {
            commands += cancelling(for: key) { machine in
                machine.paths[key]?.restart(at: now)
                return nil
            }
        }
        return commands + timeReached(at: now)
    }

    /// Forgets what is known of some paths, and checks them.
    mutating func replace(_ keys: Set<DefaultRoute.Key>, at now: BootTime) -> [ValidationCommand] {
        var commands: [ValidationCommand] = []
        for key in keys {
            commands += cancelling(for: key) { machine in
                machine.paths[key] = machine.paths[key].map {
                    PathValidation($0.route, options: machine.options, at: now)
                }
                return nil
            }
        }
        return commands + timeReached(at: now)
    }

    /// Checks whether paths still work, since a request failed. Either the path or its target may be the cause.
    package mutating func doubt(at now: BootTime) -> [ValidationCommand] {
        for key in Array(paths.keys) { paths[key]?.doubt(at: now) }
        doubtPortals(at: now)
        return timeReached(at: now)
    }

    /// Checks paths in trouble, since a request was answered. `family` is that of the answer, if known.
    package mutating func noteAnswer(in family: IPAddress.Family?, at now: BootTime) -> [ValidationCommand] {
        for key in Array(paths.keys) where family == nil || key.family == family { paths[key]?.noteAnswer(at: now) }
        doubtPortals(at: now)
        return timeReached(at: now)
    }

    /// Notes that a host of the Internet that is known by its address answered by the kernel's path.
    package mutating func noteWitness(in family: IPAddress.Family, at now: BootTime) {
        for key in Array(paths.keys) where key.family == family && paths[key]?.route.isPreferred == true {
            paths[key]?.noteWitness(at: now)
        }
    }

    /// The paths that work, or were found silent, as a ``SilenceMachine`` watches them.
    ///
    /// - Parameter servers: The servers that answered the last checks of a path.
    package func silencePaths(
        at now: BootTime, servers: (DefaultRoute) -> ProvenServers
    ) -> [SilencePath] {
        paths.values.compactMap { path in
            guard isWorking(path) || path.isSilent else { return nil }
            let proven = servers(path.route)
            return SilencePath(
                path.route, path.isSilent ? .silent : .working, servers: proven.remotes, roundTrip: proven.roundTrip,
                allowed: allowance(for: path.route.key, at: now))
        }
    }

    /// The routes of the paths that are proved to work.
    package var workingRoutes: [DefaultRoute] {
        paths.values.filter(isWorking).map(\.route)
    }

    private func isWorking(_ path: PathValidation) -> Bool {
        path.connectivity == .full && portals[path.route.key.interface]?.isCaptive != true
    }

    /// The names of the interfaces by which the kernel sends to the Internet.
    package var preferredInterfaces: [IPAddress.Family: String] {
        paths.values.filter(\.route.isPreferred).reduce(into: [:]) { $0[$1.route.key.family] = $1.route.name }
    }

    /// Closes a path that was found silent, and checks it.
    package mutating func silence(
        _ key: DefaultRoute.Key, _ evidence: SilenceEvidence, at now: BootTime
    ) -> [ValidationCommand] {
        cancelling(for: key) { machine in
            machine.paths[key]?.silence(evidence, at: now)
            return nil
        } + timeReached(at: now)
    }

    /// The name of a path's interface; `nil` if there is no such path.
    package func name(of key: DefaultRoute.Key) -> String? { paths[key]?.route.name }

    /// Counts what a test of a path for silence sent.
    package mutating func noteTest(of key: DefaultRoute.Key, handshakes: Int, at now: BootTime) {
        guard let route = paths[key]?.route else { return }
        takeFromBudget(handshakes * Self.handshakeBytes, of: route, at: now)
    }

    /// A SYN, and its answer or its repetition.
    private static let handshakeBytes = 130

    /// Checks one path in trouble, since a server answered by it.
    package mutating func noteAnswer(by key: DefaultRoute.Key, at now: BootTime) -> [ValidationCommand] {
        // A check that is under way began before and may have lost its packets: TCP repeats a SYN after one second at
        // the earliest.
        let commands = cancelling(for: key) { machine in
            machine.paths[key]?.resume(at: now)
            return nil
        }
        return commands + timeReached(at: now)
    }

    package mutating func timeReached(at now: BootTime) -> [ValidationCommand] {
        var commands: [ValidationCommand] = []
        for key in paths.keys.sorted(by: { $0.sortKey < $1.sortKey }) {
            let allowed = allowance(for: key, at: now)
            commands += cancelling(for: key) { machine in
                machine.paths[key]?.timeReached(at: now, ticket: machine.lastTicket + 1, allowed: allowed)
            }
        }
        return commands + askPortals(at: now)
    }

    /// - Parameters:
    ///   - sawTraffic: Whether a socket received data by the path within the window.
    ///   - time: How long the sample took.
    package mutating func sampled(
        _ ticket: Ticket, sawTraffic: Bool, after time: Duration = .zero, at now: BootTime
    ) -> [ValidationCommand] {
        guard let key = owners.removeValue(forKey: ticket) else { return [] }
        let allowed = allowance(for: key, at: now)
        return cancelling(for: key) { machine in
            machine.paths[key]?.sampled(
                ticket, sawTraffic: sawTraffic, after: time, at: now,
                jitter: { [draw = machine.draw] in Self.jitter($0, draw()) },
                ticket: machine.lastTicket + 1, allowed: allowed)
        }
    }

    /// - Parameters:
    ///   - isSecure: Whether HTTPS gave the proof, where the result is full.
    ///   - isAnswered: Whether an endpoint whose name was not resolved answered at the address that it had before.
    ///   - bytes: Bytes sent and received by the check, if known.
    package mutating func probed(
        _ ticket: Ticket, _ result: ValidationResult, isSecure: Bool = true, isAnswered: Bool = false, bytes: Int?,
        at now: BootTime
    ) -> [ValidationCommand] {
        guard let key = owners.removeValue(forKey: ticket), let route = paths[key]?.route else { return [] }
        spend(bytes, by: route, at: now)
        let commands = cancelling(for: key) { machine in
            machine.paths[key]?.probed(
                ticket, result, isSecure: isSecure, isAnswered: isAnswered, at: now,
                jitter: { [draw = machine.draw] in Self.jitter($0, draw()) }, next: machine.lastTicket + 1)
        }
        if result.connectivity.map({ $0 != .full }) == true || portals[key.interface]?.isCaptive == true {
            portals[key.interface]?.doubt(at: now)
        }
        return commands
    }

    // MARK: - Tickets, budgets and jitter

    /// Runs `body`. Cancels the commands that the path abandons, and registers the command that it starts under the
    /// next ticket.
    private mutating func cancelling(
        for key: DefaultRoute.Key, _ body: (inout ValidationMachine) -> ValidationCommand?
    ) -> [ValidationCommand] {
        let before = paths[key]?.openTickets ?? []
        let command = body(&self)
        let after = paths[key]?.openTickets ?? []
        var commands: [ValidationCommand] = []
        for ticket in before where !after.contains(ticket) && owners.removeValue(forKey: ticket) != nil {
            commands.append(.cancel(ticket))
        }
        guard let command else { return commands }
        lastTicket += 1
        owners[lastTicket] = key
        return commands + [command]
    }

    /// When the path's budget allows a check: now, or later.
    func allowance(for key: DefaultRoute.Key, at now: BootTime) -> BootTime {
        guard let route = paths[key]?.route, route.isMetered, let budget = budgets[route.name] else { return now }
        return budget.bytes.available(budget.checkBytes ?? options.expectedBytes, at: now)
    }

    /// Most budgets that are kept, so that interface names that come and go cannot fill the memory.
    private static let budgetLimit = 64

    mutating func spend(_ bytes: Int?, by route: DefaultRoute, at now: BootTime) {
        let spent = bytes ?? options.expectedBytes
        takeFromBudget(spent, of: route, at: now)
        budgets[route.name]?.checkBytes = max(spent, 1)
    }

    private mutating func takeFromBudget(_ bytes: Int, of route: DefaultRoute, at now: BootTime) {
        guard route.isMetered, options.meteredBytesPerDay > 0 else { return }
        if budgets[route.name] == nil, budgets.count >= Self.budgetLimit,
            let fullest = budgets.max(by: { $0.value.bytes.bytesLeft(at: now) < $1.value.bytes.bytesLeft(at: now) })
        {
            budgets[fullest.key] = nil
        }
        budgets[route.name, default: Budget(bytes: ByteBudget(bytesPerDay: options.meteredBytesPerDay, at: now))]
            .bytes.spend(bytes, at: now)
    }

    /// Varies a duration by a twentieth, so that machines started together do not keep checking at the same time.
    static func jitter(_ duration: Duration, _ draw: Double) -> Duration { duration * (0.95 + 0.1 * draw) }
}

/// A command of a ``ValidationMachine``. Each one with a ticket of its own is answered under that ticket, or cancelled.
package enum ValidationCommand: Hashable, Sendable {
    package typealias Ticket = UInt64

    /// Find out whether a socket on the path received data within the window. No packet is sent.
    case sampleTraffic(DefaultRoute, within: Duration, Ticket)
    /// Check the path: send requests to the endpoints.
    case probe(DefaultRoute, Ticket)
    /// Ask a portal's API by this route.
    case askPortal(DefaultRoute, ConnectivityEndpoint, Ticket)
    /// Abandon the command with this ticket.
    case cancel(Ticket)
}

extension ConnectivityReport {
    /// Adds the connectivity of one family's path.
    fileprivate mutating func add(_ path: PathValidation, _ proved: (found: Connectivity, page: String?)) {
        self[path.route.key.family] = proved.found
        if path.isUndecided { isUndecided = true }
        if proved.found == .limited, path.onlyNamesFail { reasons[path.route.key.family] = .nameNotResolved }
        if proved.found == .portal, portal == nil { portal = proved.page }
    }
}

extension DefaultRoute.Key {
    /// Sort key that makes the order of commands the same in every run.
    fileprivate var sortKey: (InterfaceIndex, UInt8) { (interface, family.rawValue) }
}
