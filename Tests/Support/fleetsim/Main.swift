import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTerminal
import Synchronization

/// A fleet of the product's own machines against a real engine, with an oracle.
///
///     fleetsim [--server URL] [--hosts N] [--connections N] [--time 60s] [--outage N] [--churn PERCENT] [--clones N] [--wrong-clocks N]
///              [--outage-start 15s] [--outage-time 25s] [--lease 5s] [--seed N] [--endless]
///
/// The streams exist (`reach-fleet setup`). A provider fails in the middle and comes back. It prints figures, and what differs
/// between the engine and what happened, and ends with 1 if anything does. With --endless it goes on until it is killed, and the
/// provider stays away.
@main enum Main {
    static func main() {
        guard let options = options() else {
            StandardError.write("fleetsim: usage: see the comment of Main.swift\n")
            exit(2)
        }
        do {
            exit(try FleetRun(options).run() ? 0 : 1)
        } catch {
            StandardError.write("fleetsim: \(error)\n")
            exit(1)
        }
    }

    private static func options() -> SimulationOptions? {
        let times: [String: WritableKeyPath<SimulationOptions, Duration>] = [
            "--time": \.time, "--lease": \.lease, "--outage-start": \.outageStart, "--outage-time": \.outageTime,
        ]
        var options = SimulationOptions()
        var words = CommandLine.arguments.dropFirst()
        while let name = words.popFirst() {
            if name == "--endless" {
                options.isEndless = true
                continue
            }
            guard let value = words.popFirst() else { return nil }
            if name == "--server" {
                options.server = value
            } else if name == "--key-file" {
                options.keyFile = value
            } else if let time = DurationText.parse(value), let key = times[name] {
                options[keyPath: key] = time
            } else {
                guard let number = Int(value), number >= 0 else { return nil }
                switch name {
                case "--hosts": options.hosts = number
                case "--connections": options.connections = max(number, 1)
                case "--outage": options.outage = number
                case "--churn": options.churn = number
                case "--clones": options.clones = number
                case "--wrong-clocks": options.wrongClocks = number
                case "--seed": options.seed = UInt64(number)
                default: return nil
                }
            }
        }
        return options
    }
}

private func say(_ line: String) { StandardOutput.write(line + "\n") }

/// One run of the simulation.
struct FleetRun {
    private let options: SimulationOptions
    private let settings: NATSSettings
    private let begun = SystemClock.now.wall
    private let begin = SystemClock.boot

    init(_ options: SimulationOptions) throws(NATSError) {
        self.options = options
        var settings = NATSSettings(servers: [try NATSServer(options.server)])
        if let file = options.keyFile { settings.identity = try NATSIdentity.read(file) }
        self.settings = settings
    }

    /// - Returns: Whether the engine holds what happened.
    func run() throws(NATSError) -> Bool {
        let link = try NATSLink.connect(settings)
        let jetStream = JetStream(link)
        guard let bucket = try jetStream.stream(FleetNames.stream(of: FleetNames.lease)) else {
            throw NATSError(.notFound, "the fleet's buckets are missing; `reach-fleet setup` makes them")
        }
        let hasTime = bucket["config"]?["allow_msg_ttl"]?.bool ?? false
        let age = bucket["config"]?["max_age"]?.integer.flatMap { $0 > 0 ? Duration.nanoseconds($0) : nil }
        var simulation = Simulation(options)
        let hosts = simulation.hosts()
        let script = simulation.script(hosts)
        let shares = start(hosts, script, leaseHasTime: hasTime)
        var oracle = Oracle(jetStream)
        if !options.isEndless { try checkOutage(&oracle, simulation.affected, leaseAge: age) }
        shares.waitUntilSettled()
        // States are written at most every 2 s, and hosts that were back last renew their leases.
        usleep(5_000_000)
        try oracle.checkSilence([], EngineFacts(now: SystemClock.now.wall, leaseAge: age))
        let ended = shares.end()
        try oracle.checkStream(ended)
        try oracle.checkStates(ended)
        return report(oracle, ended)
    }

    private func start(
        _ hosts: [SimulatedHost], _ script: [(time: BootTime, host: Int, step: ScriptStep)], leaseHasTime: Bool
    ) -> Shares {
        let count = min(options.connections, hosts.count)
        let shares = Shares(count)
        let end = begin + (options.isEndless ? .seconds(1_000_000_000) : options.time)
        let limit = end + .seconds(120)
        for worker in 0..<count {
            let own = stride(from: worker, to: hosts.count, by: count).map { hosts[$0] }
            let steps = script.filter { $0.host % count == worker }.map { ($0.time, $0.host / count, $0.step) }
            let settings = settings
            BackgroundThread.start(named: "hosts \(worker)") {
                let worker = Worker(own, settings, leaseHasTime: leaseHasTime, script: steps)
                shares.add(worker.run(until: end, limit: limit, shares))
            }
        }
        return shares
    }

    /// While the provider is away: its hosts are silent and no other, and readers see one outage.
    private func checkOutage(_ oracle: inout Oracle, _ affected: Range<Int>, leaseAge: Duration?) throws(NATSError) {
        // The last host leaves 5 s after the first; its last renewal may be as late, and the lease lasts three times as long.
        let time = begin + options.outageStart + .seconds(5) + options.lease * HostLease.patience + .seconds(3)
        while SystemClock.boot < time { usleep(100_000) }
        let engine = EngineFacts(now: SystemClock.now.wall, leaseAge: leaseAge)
        try oracle.checkSilence(Set(affected.map { "sim\($0)" }), engine)
        for outage in try oracle.outages(since: begun, engine) where outage.isOpen {
            say("during the outage: " + outage.sentence.text { String($0.description.dropFirst(11).prefix(8)) })
        }
    }

    private func report(_ oracle: Oracle, _ hosts: [SimulatedHost]) -> Bool {
        let conflicts = hosts.count { $0.word == .conflict }
        say("\(hosts.count) machines, \(oracle.events) events in \(oracle.chunks) chunks, \(conflicts) in conflict")
        for fault in oracle.faults.prefix(20) { say("differs: \(fault)") }
        if oracle.faults.count > 20 { say("and \(oracle.faults.count - 20) more") }
        say(oracle.faults.isEmpty ? "the engine holds what happened" : "\(oracle.faults.count) differences")
        return oracle.faults.isEmpty
    }
}

/// How far the workers are, and their hosts when these have ended.
final class Shares: Sendable {
    private struct State {
        var running: Int
        var busy: Int
        var isOver = false
        var hosts: [SimulatedHost] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(running: count, busy: count)) }

    var isOver: Bool { state.withLock { $0.isOver } }

    func settle() { state.withLock { $0.busy -= 1 } }

    func add(_ hosts: [SimulatedHost]) {
        state.withLock {
            $0.running -= 1
            $0.hosts += hosts
        }
    }

    func waitUntilSettled() { while state.withLock({ $0.busy > 0 }) { usleep(50_000) } }

    /// Ends the workers.
    func end() -> [SimulatedHost] {
        state.withLock { $0.isOver = true }
        while state.withLock({ $0.running > 0 }) { usleep(20_000) }
        return state.withLock { $0.hosts }
    }
}
