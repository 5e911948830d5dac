internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Watches the traffic of paths for silence, for a ``Validator``. Confined to the loop's thread.
///
/// A ``SilenceMachine`` decides. The watch carries out its commands and keeps its timer.
final class SilenceWatch {
    /// What is reported.
    enum Event {
        /// The path is silent.
        case silent(DefaultRoute.Key, SilenceEvidence)
        /// A server answered by a path that was silent.
        case answered(DefaultRoute.Key)
        /// A test of a path was made or cancelled, after this many connections were begun.
        case tested(DefaultRoute.Key, handshakes: Int)
        /// Nothing is watched any more, since the kernel shows no sockets.
        case gaveUp
    }

    private let loop: EventLoop
    private let loopReference = LoopReference<SilenceWatch>()
    private let traffic: TrafficReader
    private let onEvent: (Event) -> Void
    private var machine = SilenceMachine()
    private var own = OwnAddresses()
    private var file: TCPCounterFile?
    private var tests: [SilenceCommand.Ticket: (key: DefaultRoute.Key, test: HandshakeTest)] = [:]
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in
        carryOut(machine.timeReached(at: SystemClock.boot))
    }

    init(loop: EventLoop, traffic: TrafficReader, onEvent: @escaping (Event) -> Void) {
        self.loop = loop
        self.traffic = traffic
        self.onEvent = onEvent
        loopReference.owner = self
    }

    deinit { stop() }

    var statistics: SilenceStatistics { machine.statistics }

    /// - Parameter own: This machine's addresses.
    func update(_ paths: [SilencePath], own: OwnAddresses) {
        self.own = own
        carryOut(machine.update(paths, at: SystemClock.boot))
    }

    /// Ends what runs, and forgets what was seen.
    func restart() { carryOut(machine.restart()) }

    /// Something shows that there may be traffic.
    func noteActivity() { carryOut(machine.noteActivity(at: SystemClock.boot)) }

    func stop() {
        loopReference.owner = nil
        timer.cancel()
        tests = [:]
    }

    func carryOut(_ commands: [SilenceCommand]) {
        for command in commands {
            switch command {
            case .readCounters:
                let file = file ?? TCPCounterFile()
                let counters = file.read()
                self.file = counters == nil ? nil : file
                carryOut(machine.counted(counters, at: SystemClock.boot))
            case .survey(let route, let hearing, let ticket): survey(route, hearing, ticket)
            case .test(let route, let servers, let most, let time, let ticket):
                let test = HandshakeTest(servers, by: route, most: most, within: time, on: loop) {
                    [weak self] result in
                    guard let self, tests.removeValue(forKey: ticket) != nil else { return }
                    onEvent(.tested(route.key, handshakes: result.handshakes))
                    carryOut(machine.tested(ticket, result, at: SystemClock.boot))
                }
                tests[ticket] = (route.key, test)
            case .cancel(let ticket):
                // What was sent counts, although no one waits for the answer.
                guard let (key, test) = tests.removeValue(forKey: ticket), test.begun > 0 else { break }
                onEvent(.tested(key, handshakes: test.begun))
            case .close(let key, let evidence): onEvent(.silent(key, evidence))
            case .check(let key): onEvent(.answered(key))
            case .giveUp: onEvent(.gaveUp)
            }
        }
        timer.set(to: machine.deadline)
        if machine.deadline == nil { file = nil }
    }

    private func survey(_ route: DefaultRoute, _ hearing: Duration, _ ticket: SilenceCommand.Ticket) {
        let question = SilenceQuestion(route.sockets(own), hearing: hearing)
        traffic.ask(question, replyTo: loop.mailbox) { [loopReference] answer, time in
            loopReference.owner?.surveyed(ticket, answer, after: time)
        }
    }

    private func surveyed(_ ticket: SilenceCommand.Ticket, _ answer: SilenceAnswer, after time: Duration) {
        carryOut(machine.surveyed(ticket, answer, after: time, at: SystemClock.boot))
    }
}

extension DefaultRoute {
    /// The sockets whose packets leave by it, but for those whose far ends are not beyond the gateway: in private
    /// networks, and in the link's. Sources are up to a number that is more than a link usually has, privacy addresses
    /// included: each costs the kernel one comparison per socket.
    func sockets(_ own: OwnAddresses) -> PathSockets {
        var sources = addresses.map(\.address)
        if let source, !sources.contains(source) { sources.append(source) }
        return PathSockets(
            key.family, by: key.interface, from: Array(sources.prefix(16)),
            excluding: IPPrefix.special(key.family) + subnets, own: own)
    }
}
