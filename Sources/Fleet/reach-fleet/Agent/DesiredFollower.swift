internal import ReachControl
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// Carries out what ``DesiredMachine`` decides: reads the operator's documents over the agent's connection, and makes
/// the daemon hold or release its queue. Confined to the loop's thread.
final class DesiredFollower {
    private let path: String
    private let loop: EventLoop
    private unowned let connection: EngineConnection
    private let report: (UInt64) -> Void
    private var machine: DesiredMachine
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in handle(.tick) }
    private var lastError: String?

    /// What the daemon has confirmed.
    var applied: DesiredMachine.Order? { machine.applied }

    /// - Parameter report: Called with the newest revision that the host has applied.
    init(
        path: String, host: String, groups: [String], _ connection: EngineConnection, on loop: EventLoop,
        report: @escaping (UInt64) -> Void
    ) {
        self.path = path
        self.loop = loop
        self.connection = connection
        self.report = report
        machine = DesiredMachine(host: host, groups: groups)
    }

    func handle(_ input: DesiredMachine.Input) {
        if input == .connected {
            // Before the keys are read, so that nothing is missed between.
            connection.watch(machine.keys.map { FleetNames.subject(ofKey: $0, in: FleetNames.desired) }) {
                [weak self] value in self?.handle(.announced(value))
            }
        }
        for action in machine.handle(input, at: SystemClock.now) { perform(action) }
        setTimer()
    }

    private func perform(_ action: DesiredMachine.Action) {
        switch action {
        case .read(let number):
            connection.readDesired(machine.keys) { [weak self] documents in self?.handle(.read(number, documents)) }
        case .apply(let order):
            let isDone = apply(order)
            loop.afterEvents { [weak self] in self?.handle(.applied(isDone)) }
        case .report(let revision): report(revision)
        }
    }

    private func apply(_ order: DesiredMachine.Order) -> Bool {
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(3))
            try client.setFleetHold(order.isHeld, reason: order.reason)
            lastError = nil
            let reason = order.reason.map { ": " + DisplayText.sanitized($0) } ?? ""
            StandardError.write(
                "reach-fleet: the queue is \(order.isHeld ? "held" : "released") by the fleet\(reason)\n")
            return true
        } catch {
            if lastError != error.description {
                StandardError.write("reach-fleet: the queue cannot be held or released: \(error)\n")
            }
            lastError = error.description
            return false
        }
    }

    private func setTimer() { timer.set(to: machine.deadline) }

    /// Releases what an earlier run has held, on a host whose configuration no longer accepts that.
    static func releaseUnwanted(path: String) {
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(3))
            guard try client.queueHolds().contains(where: { $0.source == .fleet }) else { return }
            try client.setFleetHold(false)
            StandardError.write("reach-fleet: the queue is released, since the configuration accepts no holds\n")
        } catch {
            // Most hosts have no daemon yet, one without a queue, or one that lets the agent hold nothing.
        }
    }
}
