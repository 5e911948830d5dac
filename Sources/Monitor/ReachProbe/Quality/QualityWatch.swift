internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// Measures the quality of lines, for a ``Validator``. Confined to the loop's thread.
///
/// A ``QualityMachine`` decides. The watch carries out its commands and keeps its timer.
final class QualityWatch {
    private let loop: EventLoop
    private let loopReference = LoopReference<QualityWatch>()
    private let traffic: TrafficReader
    /// Called when what is said of a line, or its figures, changed.
    private let onChange: () -> Void
    private let onDoubt: () -> Void
    private let onPeriod: (QualityPeriod) -> Void
    private var machine: QualityMachine
    private var own = OwnAddresses()
    private var echoes: [InterfaceIndex: Echo] = [:]
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in tick() }
    private(set) var qualities: [String: LineQuality] = [:]

    /// An echo request that was sent. Its socket is closed with it.
    private struct Echo {
        let socket: ProbeSocket
        let message: EchoMessage
        let sent: BootTime
        let ticket: QualityCommand.Ticket
    }

    init(
        loop: EventLoop, traffic: TrafficReader, interval: Duration, onChange: @escaping () -> Void,
        onDoubt: @escaping () -> Void,
        onPeriod: @escaping (QualityPeriod) -> Void
    ) {
        self.loop = loop
        self.traffic = traffic
        machine = QualityMachine(interval: interval)
        self.onChange = onChange
        self.onDoubt = onDoubt
        self.onPeriod = onPeriod
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// - Parameter own: This machine's addresses.
    func update(_ paths: [QualityPath], own: OwnAddresses) {
        self.own = own
        machine.update(paths, at: SystemClock.boot)
        let measured = Set(paths.map(\.route.key.interface))
        echoes = echoes.filter { measured.contains($0.key) }
        qualities = machine.qualities
        timer.set(to: machine.deadline)
    }

    /// Forgets what was measured: the network may be another one.
    func restart() {
        machine.restart()
        echoes = [:]
        qualities = [:]
        timer.cancel()
    }

    private func tick() {
        carryOut(machine.timeReached(at: SystemClock.boot))
        timer.set(to: machine.deadline)
        let measured = machine.qualities
        guard measured != qualities else { return }
        qualities = measured
        onChange()
    }

    private func carryOut(_ commands: [QualityCommand]) {
        for command in commands {
            switch command {
            case .readBytes(let route):
                let traffic = LinkCounters.traffic(of: route.name)
                carryOut(machine.counted(traffic.map { $0.received &+ $0.sent }, by: route.key.interface))
            case .echo(let route, let witness, let ticket): send(to: witness, by: route, ticket)
            case .countSegments(let route): countSegments(by: route)
            case .doubt: onDoubt()
            case .record(let period): onPeriod(period)
            }
        }
    }

    private func send(to witness: IPAddress, by route: DefaultRoute, _ ticket: QualityCommand.Ticket) {
        let index = route.key.interface
        let message = EchoMessage.unguessable(UInt16(truncatingIfNeeded: ticket))
        guard
            let socket = try? ProbeSocket(
                loop, witness.family, binding: InterfaceBinding(name: route.name, index: UInt32(bitPattern: index))),
            (try? socket.connect(to: SocketAddress(address: witness, port: 0))) != nil,
            (try? socket.watch(for: .readable) { [weak self] _ in self?.receive(by: index, witness.family) }) != nil
        else { return machine.notSent(ticket, by: index) }
        let sent = SystemClock.boot
        guard (try? socket.send(message.request(witness.family))) != nil else {
            return machine.notSent(ticket, by: index)
        }
        echoes[index] = Echo(socket: socket, message: message, sent: sent, ticket: ticket)
    }

    private func receive(by index: InterfaceIndex, _ family: IPAddress.Family) {
        guard let echo = echoes[index] else { return }
        let now = SystemClock.boot
        // What an ICMP error reports is a packet that is lost.
        while let bytes = try? echo.socket.receive(256) {
            guard echo.message.isAnswered(by: bytes, family) else { continue }
            echoes[index] = nil
            return machine.answered(echo.ticket, by: index, after: now - echo.sent)
        }
    }

    private func countSegments(by route: DefaultRoute) {
        traffic.countSegments(of: route.sockets(own), replyTo: loop.mailbox) {
            [loopReference, index = route.key.interface] segments in
            if let segments { loopReference.owner?.machine.counted(segments, by: index) }
        }
    }
}
