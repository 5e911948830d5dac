package import ReachCore
package import ReachLoop
internal import ReachNetlink
package import ReachTransfer

/// Proves whether the Internet answers, path by path, and tells when that changes. Confined to the loop's thread.
///
/// A ``ValidationMachine`` decides; this asks endpoints and sockets for it, and wakes it when it wants to be.
package final class Validator {
    package struct Options: Hashable, Sendable {
        /// Never none.
        package var endpoints: [ConnectivityEndpoint]
        /// For one check: names, connection and answer.
        package var timeout: Duration = .seconds(5)
        package var rhythm = ValidationOptions()

        package init(endpoints: [ConnectivityEndpoint]) { self.endpoints = endpoints }
    }

    private let loop: EventLoop
    private let options: Options
    private let transfers: TransferEngine
    private let resolverOptions: NameService.Options
    private let traffic = TrafficReader()
    private let whenChanged: (ConnectivitySurvey) -> Void
    private var machine: ValidationMachine
    private var rounds: [ValidationCommand.Ticket: ValidationRound] = [:]
    private var timer: (id: TimerQueue.ID, deadline: BootTime)?
    /// The far ends of the last checks: what passes between them and us is no sign of anybody else's success.
    private var ownRemotes: [TrafficQuestion.Remote] = []
    private static let ownRemoteLimit = 64

    /// What is proved now.
    package private(set) var survey = ConnectivitySurvey()

    /// - Parameters:
    ///   - transfers: May be shared; nothing of it is changed.
    ///   - resolverOptions: Names are asked for apart from others' names, since old answers would not do.
    ///   - whenChanged: Called with what is proved, when that differs from before: from within the other calls too.
    package init(
        loop: EventLoop, options: Options, transfers: TransferEngine,
        resolverOptions: NameService.Options = NameService.Options(),
        whenChanged: @escaping (ConnectivitySurvey) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.transfers = transfers
        self.resolverOptions = resolverOptions
        self.whenChanged = whenChanged
        var rhythm = options.rhythm
        rhythm.expectedBytes = options.endpoints.map(EndpointAttempt.expectedBytes).reduce(0, +)
        machine = ValidationMachine(options: rhythm)
    }

    deinit { stop() }

    /// The paths there are now; `nil` while the kernel cannot be observed.
    package func take(_ uplinks: [Uplink]?) { carryOut(machine.take(uplinks, at: SystemClock.boot)) }

    /// The machine slept: everything is to be proved anew.
    package func beginAnew() { carryOut(machine.beginAnew(at: SystemClock.boot)) }

    /// Somebody's attempt failed, and has reason to doubt that paths work: they are asked about at once, though not more
    /// often than every five seconds.
    package func doubt() { carryOut(machine.doubt(at: SystemClock.boot)) }

    /// Something was answered, in this family where it is known: paths that did not work are asked about at once, though
    /// ever more rarely where that is in vain.
    package func heardAnswer(in family: IPAddress.Family?) {
        carryOut(machine.heardAnswer(in: family, at: SystemClock.boot))
    }

    /// Nothing is asked or told any more.
    package func stop() {
        timer.map { loop.cancel($0.id) }
        timer = nil
        rounds.values.forEach { $0.cancel() }
        rounds = [:]
    }

    // MARK: - What the machine wants

    private func carryOut(_ commands: [ValidationCommand]) {
        for command in commands {
            switch command {
            case .probe(let uplink, let ticket): probe(uplink, ticket)
            case .look(let uplink, let window, let ticket): look(uplink, within: window, ticket)
            case .cancel(let ticket): rounds.removeValue(forKey: ticket)?.cancel()
            }
        }
        schedule()
        traffic.setCountsClosed(machine.isInTrouble)
        let fresh = machine.survey
        guard fresh != survey else { return }
        survey = fresh
        whenChanged(fresh)
    }

    private func schedule() {
        let deadline = machine.deadline
        guard deadline != timer?.deadline else { return }
        timer.map { loop.cancel($0.id) }
        timer = deadline.map { deadline in
            let id = loop.schedule(at: deadline) { [unowned self] in
                timer = nil
                carryOut(machine.timeReached(at: SystemClock.boot))
            }
            return (id, deadline)
        }
    }

    private func probe(_ uplink: Uplink, _ ticket: ValidationCommand.Ticket) {
        rounds[ticket] = ValidationRound(
            options.endpoints, by: uplink, within: options.timeout, transfers: transfers,
            resolver: NameService(loop: loop, options: resolverOptions), on: loop
        ) { [unowned self] outcome in
            rounds[ticket] = nil
            ownRemotes.removeAll(where: outcome.remotes.contains)
            ownRemotes = (ownRemotes + outcome.remotes).suffix(Self.ownRemoteLimit)
            machine.probed(ticket, outcome.result, bytes: outcome.bytes, at: SystemClock.boot)
            carryOut([])
        }
    }

    private func look(_ uplink: Uplink, within window: Duration, _ ticket: ValidationCommand.Ticket) {
        var sources = uplink.subnets.map(\.address)
        if let source = uplink.source, !sources.contains(source) { sources.append(source) }
        let question = TrafficQuestion(
            family: uplink.key.family, sources: Array(sources.prefix(Self.sourceLimit)),
            excludedPrefixes: PublicName.privatePrefixes(uplink.key.family) + uplink.subnets.compactMap(\.prefix),
            excludedRemotes: Set(ownRemotes), window: window)
        let door = ValidatorDoor(self)
        traffic.ask(question, replyTo: loop.mailbox) { answer, time in
            door.validator?.looked(ticket, answer, after: time)
        }
    }

    /// More addresses than a link has, privacy addresses included; each costs the kernel a comparison for every socket.
    private static let sourceLimit = 16

    private func looked(_ ticket: ValidationCommand.Ticket, _ answer: TrafficAnswer, after time: Duration) {
        carryOut(machine.looked(ticket, sawTraffic: answer == .moving, after: time, at: SystemClock.boot))
    }
}

/// Carries a validator's reference through another thread, which never opens it: only its own loop does.
private struct ValidatorDoor: @unchecked Sendable {
    weak var validator: Validator?

    init(_ validator: Validator) { self.validator = validator }
}
