import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTerminal

func say(_ line: String) { StandardOutput.write(line + "\n") }

/// One run of the simulation: the director, which lets things happen and compares.
struct FleetRun {
    private let options: SimulationOptions
    private let access: EngineAccess
    private let leaseAge: Duration?
    private let clock: SimulationClock
    private let team: Team
    private var simulation: Simulation
    private var oracle: Oracle
    private let begun = SystemClock.now.wall

    init(_ options: SimulationOptions) throws(NATSError) {
        self.options = options
        var servers: [NATSServer] = []
        for server in options.servers { servers.append(try NATSServer(server)) }
        var settings = NATSSettings(servers: servers)
        if let file = options.keyFile { settings.identity = try NATSIdentity.read(file) }
        settings.reconnection = .always(wait: .milliseconds(200), jitter: .milliseconds(100))
        let jetStream = JetStream(try NATSLink.connect(settings))
        guard let bucket = try jetStream.stream(FleetNames.stream(of: FleetNames.lease)) else {
            throw NATSError(.notFound, "the fleet's buckets are missing; `reach-fleet setup` makes them")
        }
        settings.reconnection = .never
        access = EngineAccess(settings: settings, keys: options.keys)
        leaseAge = bucket["config"]?["max_age"]?.integer.flatMap { $0 > 0 ? Duration.nanoseconds($0) : nil }
        clock = SimulationClock(lag: options.moved)
        team = Team(min(options.connections, options.hosts))
        simulation = Simulation(options)
        oracle = Oracle(jetStream)
    }

    /// - Returns: Whether the engine holds what happened.
    mutating func run() throws(NATSError) -> Bool {
        startWorkers()
        let ready = waitUntilQuiet(within: .seconds(300))
        say("\(options.hosts) hosts are there after \(seconds(ready))")
        try passOutage()
        if options.killsLeader { try killLeader() }
        if options.absence > .zero { try passAbsence() }
        if options.returnEvents > 0 { try passReturn() }
        // States are written at most every 2 s, and hosts that were back last renew their leases.
        usleep(5_000_000)
        try oracle.checkSilence([], engine)
        let ended = team.end()
        try oracle.checkStream(ended)
        try oracle.checkStates(ended)
        return report(ended)
    }

    private mutating func startWorkers() {
        let hosts = simulation.hosts()
        for worker in 0..<team.count {
            let own = stride(from: worker, to: hosts.count, by: team.count).map { hosts[$0] }
            let (access, clock, team) = (access, clock, team)
            BackgroundThread.start(named: "hosts \(worker)") {
                team.add(Worker(worker, own, access, clock, team).run())
            }
        }
    }

    private var engine: EngineFacts { EngineFacts(now: SystemClock.now.wall, leaseAge: leaseAge) }

    // MARK: - What happens

    /// A provider fails, hosts lose their paths, machines are there twice, and keys are revoked. While the provider is
    /// away its hosts are silent and no others, and readers see one outage.
    private mutating func passOutage() throws(NATSError) {
        let begin = clock.boot
        team.post(simulation.outage(from: begin))
        if options.isEndless { while true { sleep(3600) } }
        var away = Set(simulation.affected.map { "sim\($0)" })
        if options.revoked > 0, control("revoke") { away.formUnion(simulation.keyed.map { "sim\($0)" }) }
        // The last host leaves 5 s after the first; its last renewal may be as late, and the lease lasts three times as
        // long.
        let silent = begin + options.outageStart + .seconds(5) + options.lease * HostLease.patience + .seconds(3)
        wait(until: silent)
        try oracle.checkSilence(away, engine)
        say("\(away.count) hosts are silent, as they should be; \(count(\.refused)) are refused")
        // What is back before that was reconnecting.
        let counted = begin + options.outageStart + .seconds(6) + options.lease + HostAbsence.least
        if !away.isEmpty { wait(until: counted) }
        for outage in try oracle.outages(since: begun, engine) where outage.isOpen {
            say("during the outage: " + outage.sentence.text { String($0.description.dropFirst(11).prefix(8)) })
        }
        wait(until: max(begin + options.outageStart + options.outageTime, begin + options.time))
        team.post(simulation.outageEnd(at: clock.boot))
        let back = waitUntilQuiet(within: .seconds(120))
        say("the provider is back: the engine has everything after \(seconds(back))")
    }

    /// The engine is killed, and the hosts' clocks run for days.
    private mutating func passAbsence() throws(NATSError) {
        guard control("stop") else { return oracle.note(["the engine cannot be stopped"]) }
        let begin = clock.boot
        team.post(simulation.events(options.absenceEvents, from: begin + .seconds(60), over: options.absence * 0.95))
        let real = SystemClock.boot
        pass(options.absence)
        let waiting = count(\.behind)
        say(
            "without the engine for \(DurationText.describe(clock.boot - begin)), passed in "
                + "\(seconds(SystemClock.boot - real)): \(waiting) events wait")
        if options.revoked > 0 { _ = control("restore") }
        let start = SystemClock.boot
        guard control("start") else { return oracle.note(["the engine does not start"]) }
        let hosts = clock.boot
        waitUntilQuiet(within: .seconds(600), rate: returnRate)
        say(
            "the engine is back: it has everything after \(seconds(SystemClock.boot - start)), "
                + "\(seconds(clock.boot - hosts)) by the hosts' clocks")
    }

    /// All hosts lose their paths for an hour, and get them back at once.
    private mutating func passReturn() throws(NATSError) {
        team.post(simulation.cutAll(true, at: clock.boot))
        pass(.seconds(10))
        team.post(
            simulation.events(
                options.returnEvents, from: clock.boot, over: SimulationOptions.returnAbsence - .seconds(60)))
        pass(SimulationOptions.returnAbsence - .seconds(10))
        let waiting = count(\.behind)
        let start = SystemClock.boot
        team.post(simulation.cutAll(false, at: clock.boot))
        let time = waitUntilQuiet(within: .seconds(600))
        say(
            "all hosts are back at once, \(options.returnEvents + 2) events each (\(waiting) known to wait): the engine has "
                + "everything after \(seconds(time)), \(seconds(SystemClock.boot - start)) with the last look")
    }

    /// The leader of the stream is killed while hosts send and an operator reads.
    private mutating func killLeader() throws(NATSError) {
        let reader = OperatorReader(access.settings)
        reader.start()
        team.post(simulation.events(20, from: clock.boot, over: .seconds(20)))
        wait(until: clock.boot + .seconds(5))
        guard control("kill-leader") else { return oracle.note(["the leader cannot be killed"]) }
        wait(until: clock.boot + .seconds(15))
        _ = control("start")
        let time = waitUntilQuiet(within: .seconds(180))
        say("the leader was killed: the engine has everything \(seconds(time + .seconds(15))) later")
        let (order, interruptions) = reader.end()
        say("an operator read \(order.events) events meanwhile, interrupted \(interruptions) times")
        oracle.note(order.faults.map { "the operator's reader: \($0)" })
    }

    // MARK: - Time

    private func wait(until time: BootTime) { while clock.boot < time { usleep(20_000) } }

    /// Moves the hosts' clocks on, in steps after each of which every host does what is due.
    private func pass(_ time: Duration) {
        let end = clock.boot + time
        // Of days, steps of about a minute.
        let step = max(.seconds(20), time / 4000)
        team.setFast(true)
        while clock.boot < end {
            clock.move(by: min(step, end - clock.boot))
            team.waitForRound()
        }
        team.setFast(false)
    }

    /// How fast the hosts' clocks run while hosts wait up to 5 min before they try again: as fast as the engine stands
    /// their leases.
    private var returnRate: Int {
        min(max(Int(options.lease.components.seconds) * 1000 / max(options.hosts, 1), 1), 20)
    }

    /// - Parameter rate: How many times faster than this machine's the hosts' clocks run meanwhile.
    /// - Returns: How long it took; the whole limit is a difference.
    @discardableResult
    private mutating func waitUntilQuiet(within limit: Duration, rate: Int = 1) -> Duration {
        let begin = SystemClock.boot
        team.forgetTallies()
        while SystemClock.boot < begin + limit {
            if let tally = team.tally, tally.isQuiet { return SystemClock.boot - begin }
            usleep(20_000)
            clock.move(by: .milliseconds(20 * (rate - 1)))
        }
        oracle.note(["after \(seconds(limit)): \(team.tally.map { "\($0)" } ?? "no tally")"])
        return limit
    }

    private func count<Number>(_ key: KeyPath<Tally, Number>) -> String {
        team.forgetTallies()
        while true {
            if let tally = team.tally { return "\(tally[keyPath: key])" }
            usleep(5000)
        }
    }

    private func seconds(_ duration: Duration) -> String {
        "\((Double(duration.nanoseconds) / 1e8).rounded() / 10) s"
    }

    // MARK: - The engine

    private func control(_ word: String) -> Bool {
        guard let command = options.control else { return false }
        return system("\(command) \(word)") == 0
    }

    private func report(_ hosts: [SimulatedHost]) -> Bool {
        let conflicts = hosts.count { $0.word == .conflict }
        let forks = hosts.count { $0.logs.count > 1 }
        say(
            "\(hosts.count) machines, \(oracle.events) events in \(oracle.chunks) chunks; of the machines that are there twice "
                + "\(forks) began another log, and \(conflicts) wait")
        if options.control != nil {
            say("memory: the simulator at most \(Self.peak) MiB")
            _ = control("figures")
        }
        for fault in oracle.faults.prefix(20) { say("differs: \(fault)") }
        if oracle.faults.count > 20 { say("and \(oracle.faults.count - 20) more") }
        say(oracle.faults.isEmpty ? "the engine holds what happened" : "\(oracle.faults.count) differences")
        return oracle.faults.isEmpty
    }

    private static var peak: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss / 1024
    }
}
