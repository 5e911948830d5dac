import ReachCore
import ReachProbe

extension Uplink {
    /// An uplink by `eth0`, or by the interface of another index.
    static func sample(
        _ family: IPAddress.Family = .ipv4, interface: InterfaceIndex = 2, gateway: String = "192.0.2.1",
        source: String = "192.0.2.2", neighbour: NeighbourState? = .reachable, isMetered: Bool = false,
        isPreferred: Bool = true
    ) -> Uplink {
        Uplink(
            key: Key(family: family, interface: interface), name: "eth\(interface - 2)", gateway: IPAddress(gateway),
            source: IPAddress(source), neighbour: neighbour, isMetered: isMetered, isPreferred: isPreferred)
    }
}

/// A machine, a clock that is moved by hand, and a network that answers at once or never.
struct ValidationBench {
    var machine: ValidationMachine
    private(set) var now = BootTime(nanoseconds: 1_000_000_000_000)
    let start: BootTime
    /// What asking the endpoints comes to; `nil` leaves the question open.
    var answer: ValidationResult? = .full
    /// What each time comes to, instead.
    var answers: (() -> ValidationResult)?
    /// What a look comes to.
    var hasTraffic = false
    var bytes: Int? = 1000
    /// When the endpoints were asked, in seconds since the beginning.
    private(set) var probes: [Double] = []
    private(set) var looks: [Double] = []
    private(set) var windows: Set<Duration> = []
    private(set) var open: [ValidationCommand.Ticket] = []
    private(set) var cancelled: [ValidationCommand.Ticket] = []
    private(set) var probed: [Uplink] = []

    /// Chance is left out: every wait is as long as it is meant to be.
    init(_ options: ValidationOptions = ValidationOptions(), draw: @escaping () -> Double = { 0.5 }) {
        machine = ValidationMachine(options: options, draw: draw)
        start = now
    }

    var seconds: Double { Double((now - start).nanoseconds) / 1e9 }
    var connectivity: Connectivity { machine.survey.internet.combined }

    mutating func take(_ uplinks: [Uplink]?) { carryOut(machine.take(uplinks, at: now)) }
    mutating func beginAnew() { carryOut(machine.beginAnew(at: now)) }
    mutating func hearAnswer(in family: IPAddress.Family? = nil) { carryOut(machine.heardAnswer(in: family, at: now)) }
    mutating func doubt() { carryOut(machine.doubt(at: now)) }

    /// An answer to a question that was left open.
    mutating func reply(_ result: ValidationResult, to ticket: ValidationCommand.Ticket) {
        open.removeAll { $0 == ticket }
        machine.probed(ticket, result, bytes: bytes, at: now)
    }

    /// Lets time pass, and does what is due.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            carryOut(machine.timeReached(at: now))
        }
        now = end
    }

    mutating func forget() { (probes, looks, cancelled, probed) = ([], [], [], []) }

    private mutating func carryOut(_ commands: [ValidationCommand]) {
        for command in commands {
            switch command {
            case .look(_, let window, let ticket):
                looks.append(seconds)
                windows.insert(window)
                carryOut(machine.looked(ticket, sawTraffic: hasTraffic, at: now))
            case .probe(let uplink, let ticket):
                probes.append(seconds)
                probed.append(uplink)
                if let answer = answers?() ?? answer {
                    machine.probed(ticket, answer, bytes: bytes, at: now)
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
