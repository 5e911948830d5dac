package import ReachCore

/// Decides which paths to validate, when, and what the results amount to. Pure: it is told of paths, times and answers,
/// and tells what to begin, when to come back, and what is proved.
///
/// - Nothing here depends on what it finds out itself: a path is asked for as soon as its link is up and it has an
///   address and a route, whatever was proved before. Otherwise what was once found not to work would stay so.
/// - Answers come back under the ticket that the command had; an answer under another ticket is to a question about a
///   path as it was before, and is thrown away.
package struct ValidationMachine {
    package typealias Ticket = ValidationCommand.Ticket

    private let options: ValidationOptions
    /// A number from 0 up to 1, without 1.
    private let draw: () -> Double
    private var paths: [Uplink.Key: PathValidation] = [:]
    private var owners: [Ticket: Uplink.Key] = [:]
    private var lastTicket: Ticket = 0
    /// By interface name: it outlives the path, or else every reconnection would bring a new day.
    private var budgets: [String: ByteBudget] = [:]
    /// The size of the last check by each interface.
    private var checkBytes: [String: Int] = [:]
    /// The kernel can be observed.
    private var isObserving = false
    /// Ways that cannot be asked about.
    private var unasked: [Uplink] = []

    package init(
        options: ValidationOptions = ValidationOptions(), draw: @escaping () -> Double = { .random(in: 0..<1) }
    ) {
        self.options = options
        self.draw = draw
    }

    /// When ``timeReached(at:)`` must be called; `nil` while there is nothing to wait for but answers.
    package var deadline: BootTime? { paths.values.compactMap(\.deadline).min() }

    /// What is proved.
    package var survey: ConnectivitySurvey {
        var survey = ConnectivitySurvey()
        guard isObserving else { return survey }
        survey.internet = ConnectivityReport(ipv4: .none, ipv6: .none)
        for path in paths.values.sorted(by: { $0.uplink.key.interface < $1.uplink.key.interface }) {
            let uplink = path.uplink
            survey.interfaces[uplink.name, default: ConnectivityReport(ipv4: .none, ipv6: .none)].take(path)
            if uplink.isPreferred { survey.internet.take(path) }
        }
        for uplink in unasked {
            survey.interfaces[uplink.name, default: ConnectivityReport(ipv4: .none, ipv6: .none)][uplink.key.family] =
                .unknown
        }
        return survey
    }

    /// A path does not work, and looks follow each other.
    package var isInTrouble: Bool { paths.values.contains(where: \.isInTrouble) }

    /// Why a path is not fully connected, by its last check; `nil` where it is, or is not known.
    package func trouble(of key: Uplink.Key) -> ValidationTrouble? { paths[key]?.trouble }

    // MARK: - What happens

    /// The paths there are now. Those whose answers the kernel would drop are not asked about: nothing is known of them.
    ///
    /// - Parameter uplinks: `nil` while the kernel cannot be observed: then nothing is known.
    package mutating func take(_ uplinks: [Uplink]?, at now: BootTime) -> [ValidationCommand] {
        isObserving = uplinks != nil
        unasked = (uplinks ?? []).filter(\.dropsReplies)
        let asked = (uplinks ?? []).filter { !$0.dropsReplies }
        let fresh = Dictionary(asked.map { ($0.key, $0) }) { first, _ in first }
        var commands: [ValidationCommand] = []
        for key in paths.keys where fresh[key] == nil {
            commands += cancelling(for: key) { machine in
                machine.paths[key] = nil
                return nil
            }
        }
        for (key, uplink) in fresh.sorted(by: { $0.key.sortKey < $1.key.sortKey }) {
            commands += cancelling(for: key) { machine in
                if machine.paths[key]?.update(uplink, at: now) != true {
                    machine.paths[key] = PathValidation(uplink, options: machine.options, at: now)
                }
                return nil
            }
        }
        return commands + timeReached(at: now)
    }

    /// The machine slept, or the network is a new one for another reason: all is to be proved anew.
    package mutating func beginAnew(at now: BootTime) -> [ValidationCommand] {
        var commands: [ValidationCommand] = []
        for key in Array(paths.keys) {
            commands += cancelling(for: key) { machine in
                machine.paths[key]?.beginAnew(at: now)
                return nil
            }
        }
        return commands + timeReached(at: now)
    }

    /// Somebody's attempt failed, and whether the path or the other end is to blame shall be found out.
    package mutating func doubt(at now: BootTime) -> [ValidationCommand] {
        for key in Array(paths.keys) { paths[key]?.doubt(at: now) }
        return timeReached(at: now)
    }

    /// Somebody's attempt was answered, in this family where it is known: what is in trouble may be so no more.
    package mutating func heardAnswer(in family: IPAddress.Family?, at now: BootTime) -> [ValidationCommand] {
        for key in Array(paths.keys) where family == nil || key.family == family { paths[key]?.heardAnswer(at: now) }
        return timeReached(at: now)
    }

    package mutating func timeReached(at now: BootTime) -> [ValidationCommand] {
        var commands: [ValidationCommand] = []
        for key in paths.keys.sorted(by: { $0.sortKey < $1.sortKey }) {
            let allowed = allowance(for: key, at: now)
            commands += cancelling(for: key) { machine in
                machine.paths[key]?.timeReached(at: now, ticket: machine.lastTicket + 1, allowed: allowed)
            }
        }
        return commands
    }

    /// - Parameters:
    ///   - sawTraffic: A socket received something by the path within the window.
    ///   - time: How long the look took.
    package mutating func looked(
        _ ticket: Ticket, sawTraffic: Bool, after time: Duration = .zero, at now: BootTime
    ) -> [ValidationCommand] {
        guard let key = owners.removeValue(forKey: ticket) else { return [] }
        let allowed = allowance(for: key, at: now)
        return cancelling(for: key) { machine in
            machine.paths[key]?.looked(
                ticket, sawTraffic: sawTraffic, after: time, at: now,
                jitter: { [draw = machine.draw] in Self.jitter($0, draw()) },
                ticket: machine.lastTicket + 1, allowed: allowed)
        }
    }

    /// - Parameter bytes: What the check sent and received, where it is known.
    package mutating func probed(_ ticket: Ticket, _ result: ValidationResult, bytes: Int?, at now: BootTime) {
        guard let key = owners.removeValue(forKey: ticket), let uplink = paths[key]?.uplink else { return }
        spend(bytes, by: uplink, at: now)
        paths[key]?.probed(ticket, result, at: now, jitter: { [draw] in Self.jitter($0, draw()) })
    }

    // MARK: - Tickets, bytes and chance

    /// Cancels what a path does not wait for any more after `body`, and notes what it begins with the next ticket.
    private mutating func cancelling(
        for key: Uplink.Key, _ body: (inout ValidationMachine) -> ValidationCommand?
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

    /// When a check may be made by the path: now, or later.
    private func allowance(for key: Uplink.Key, at now: BootTime) -> BootTime {
        guard let uplink = paths[key]?.uplink, uplink.isMetered, let budget = budgets[uplink.name] else { return now }
        return budget.available(checkBytes[uplink.name] ?? options.expectedBytes, at: now)
    }

    /// More interfaces than this have never been seen; names that come and go for ever must not fill the memory.
    private static let budgetLimit = 64

    private mutating func spend(_ bytes: Int?, by uplink: Uplink, at now: BootTime) {
        guard uplink.isMetered, options.meteredBytesPerDay > 0 else { return }
        let spent = bytes ?? options.expectedBytes
        if budgets[uplink.name] == nil, budgets.count >= Self.budgetLimit,
            let fullest = budgets.max(by: { $0.value.bytesLeft(at: now) < $1.value.bytesLeft(at: now) })?.key
        {
            budgets[fullest] = nil
            checkBytes[fullest] = nil
        }
        budgets[uplink.name, default: ByteBudget(bytesPerDay: options.meteredBytesPerDay, at: now)]
            .spend(spent, at: now)
        checkBytes[uplink.name] = max(spent, 1)
    }

    /// A twentieth more or less, so that machines that were switched on together do not ask together for ever.
    private static func jitter(_ duration: Duration, _ draw: Double) -> Duration { duration * (0.95 + 0.1 * draw) }
}

extension ConnectivityReport {
    /// Takes what is proved of one family's path.
    fileprivate mutating func take(_ path: PathValidation) {
        self[path.uplink.key.family] = path.connectivity
        if path.isUndecided { isUndecided = true }
        if path.connectivity == .portal, portal == nil { portal = path.portal }
    }
}

extension Uplink.Key {
    /// An order, so that the same things happen in every run.
    fileprivate var sortKey: (InterfaceIndex, UInt8) { (interface, family.rawValue) }
}
