import ReachCore
import ReachProbe

extension DefaultRoute {
    /// An route by `eth0`, or by the interface of another index.
    static func sample(
        _ family: IPAddress.Family = .ipv4, interface: InterfaceIndex = 2, gateway: String = "192.0.2.1",
        source: String = "192.0.2.2", neighbour: NeighbourState? = .reachable, isMetered: Bool = false,
        isPreferred: Bool = true
    ) -> DefaultRoute {
        var route = DefaultRoute(
            key: Key(family: family, interface: interface), name: "eth\(interface - 2)",
            traits: PathTraits(linkClass: .wired, isMetered: isMetered), isPreferred: isPreferred)
        route.gateway = IPAddress(gateway)
        route.source = IPAddress(source)
        route.neighbour = neighbour
        return route
    }
}

/// A machine, a clock that the test advances, and a network that answers at once or never.
struct ValidationBench {
    var machine: ValidationMachine
    private(set) var now = BootTime(nanoseconds: 1_000_000_000_000)
    let start: BootTime
    /// The result of every check; `nil` leaves checks unanswered.
    var answer: ValidationResult? = .full
    /// Gives the result of each check instead of `answer`.
    var answers: (() -> ValidationResult)?
    /// The result of every traffic sample.
    var hasTraffic = false
    /// Whether endpoints answer at the addresses that they had before.
    var isAnswered = false
    var bytes: Int? = 1000
    /// Times of the checks, in seconds since the start.
    private(set) var probes: [Double] = []
    private(set) var samples: [Double] = []
    private(set) var windows: Set<Duration> = []
    private(set) var open: [ValidationCommand.Ticket] = []
    private(set) var cancelled: [ValidationCommand.Ticket] = []
    private(set) var probed: [DefaultRoute] = []
    /// Whether HTTPS gives the proofs.
    var isSecure = true
    /// The answer of the portal's API; `nil` leaves questions unanswered.
    var portal: Result<PortalAnswer, PortalTrouble>?
    /// Times of the questions to it, in seconds since the start, and their routes.
    private(set) var questions: [Double] = []
    private(set) var asked: [DefaultRoute] = []

    /// By default there is no jitter: a draw of 0.5 keeps every wait at its nominal length.
    init(_ options: ValidationOptions = ValidationOptions(), draw: @escaping () -> Double = { 0.5 }) {
        machine = ValidationMachine(options: options, draw: draw)
        start = now
    }

    var seconds: Double { Double((now - start).nanoseconds) / 1e9 }
    var connectivity: Connectivity { machine.survey.internet.combined }

    mutating func update(_ routes: [DefaultRoute]?) { carryOut(machine.update(routes: routes, at: now)) }
    mutating func setLease(_ uri: String?, of interface: InterfaceIndex = 2) {
        carryOut(machine.setLease(uri, of: interface, at: now))
    }
    mutating func answerPortal(
        _ ticket: ValidationCommand.Ticket, _ result: Result<PortalAnswer, PortalTrouble>
    ) { carryOut(machine.portalAnswered(ticket, result, bytes: bytes, at: now)) }
    mutating func restart() { carryOut(machine.restart(at: now)) }
    mutating func noteAnswer(in family: IPAddress.Family? = nil) { carryOut(machine.noteAnswer(in: family, at: now)) }
    mutating func noteAnswer(by interface: InterfaceIndex) {
        carryOut(machine.noteAnswer(by: DefaultRoute.Key(family: .ipv4, interface: interface), at: now))
    }
    mutating func silence(_ evidence: SilenceEvidence, interface: InterfaceIndex = 2) {
        carryOut(machine.silence(DefaultRoute.Key(family: .ipv4, interface: interface), evidence, at: now))
    }
    mutating func noteWitness(in family: IPAddress.Family = .ipv4) { machine.noteWitness(in: family, at: now) }
    /// Why the Internet does not answer by IPv4.
    var reason: Reason? { machine.survey.internet.reasons[.ipv4] }
    mutating func doubt() { carryOut(machine.doubt(at: now)) }

    /// Answers a check that was left unanswered.
    mutating func reply(_ result: ValidationResult, to ticket: ValidationCommand.Ticket) {
        open.removeAll { $0 == ticket }
        carryOut(machine.probed(ticket, result, bytes: bytes, at: now))
    }

    /// Advances the clock, and handles every deadline in between.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            carryOut(machine.timeReached(at: now))
        }
        now = end
    }

    mutating func forget() {
        (probes, samples, cancelled, probed) = ([], [], [], [])
        (questions, asked) = ([], [])
    }

    private mutating func carryOut(_ commands: [ValidationCommand]) {
        for command in commands {
            switch command {
            case .sampleTraffic(_, let window, let ticket):
                samples.append(seconds)
                windows.insert(window)
                carryOut(machine.sampled(ticket, sawTraffic: hasTraffic, at: now))
            case .probe(let route, let ticket):
                probes.append(seconds)
                probed.append(route)
                if let answer = answers?() ?? answer {
                    carryOut(
                        machine.probed(
                            ticket, answer, isSecure: isSecure, isAnswered: isAnswered, bytes: bytes, at: now))
                } else {
                    open.append(ticket)
                }
            case .askPortal(let route, _, let ticket):
                questions.append(seconds)
                asked.append(route)
                if let portal {
                    carryOut(machine.portalAnswered(ticket, portal, bytes: bytes, at: now))
                } else {
                    open.append(ticket)
                }
            case .cancel(let ticket):
                cancelled.append(ticket)
                open.removeAll { $0 == ticket }
            }
        }
    }
}
