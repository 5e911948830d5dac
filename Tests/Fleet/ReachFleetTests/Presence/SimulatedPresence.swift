import ReachCore
import ReachFleet
import ReachTesting

/// One host and its server for six hours, by the second: what is true, and what the engine has of it afterwards.
///
/// The host is cut from power, loses its Internet, is partitioned from the server, roams to another address and is
/// switched off; the server restarts and is away for long. The agent does what `FleetMachine` does: it renews every 30
/// s, tries again with the same waits, and reports what it missed.
struct SimulatedPresence {
    enum Truth: Hashable {
        case here, limited, away, off, serverAway
    }

    static let length = 21_600
    private static let lease = 30
    private var random: SeededGenerator
    private(set) var truth: [Truth] = []
    private(set) var evidence: HostEvidence

    // The world.
    private var hasPower = true
    private var hasInternet = true
    private var hasWay = true
    private var isOff = false
    private var serverStart: Int? = -7200
    private var changes: [Int: [(inout SimulatedPresence) throws -> Void]] = [:]
    // The host.
    private var connection: Int?
    private var connectedTo: Int?
    private var renewed: (time: Int, server: Int, boot: Int)?
    private var deletedAt: Int?
    private var boot = 0
    private var heard: Int?
    private var heardServer: Int?
    private var nextTry = -3600
    private var ceiling = 60
    private var said: ReachabilityStatus?
    // The server.
    private var stale: [(due: Int, start: Int)] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        evidence = HostEvidence(now: Double(Self.length), renewed: nil)
        evidence.history = FleetHistory(since: at(0), keepsTimelines: false)
        plan()
        for time in -3600..<Self.length {
            for change in changes[time] ?? [] { try change(&self) }
            try step(time)
            if time >= 0 { truth.append(current) }
        }
        finish()
    }

    private var current: Truth {
        if isOff { return .off }
        if !hasPower || !hasWay && !hasInternet { return .away }
        if !hasInternet { return .limited }
        if serverStart == nil { return .serverAway }
        return hasWay ? .here : .away
    }

    private mutating func plan() {
        var time = Int.random(in: 100...2500, using: &random)
        while time < Self.length - 1500 {
            let length = random.pick([3, 20, 45, 100, 300, 700, 1500])
            let kind = Int.random(in: 0..<7, using: &random)
            let (from, to) = (time, time + length)
            on(from) { try $0.begin(kind, from) }
            on(to) { try $0.end(kind, to) }
            // Far enough apart that each is over, with the longest wait, before the next begins.
            time += length + Int.random(in: 700...2500, using: &random)
        }
    }

    private mutating func on(_ time: Int, _ change: @escaping (inout SimulatedPresence) throws -> Void) {
        changes[time, default: []].append(change)
    }

    private mutating func begin(_ kind: Int, _ time: Int) throws {
        switch kind {
        case 0:
            hasPower = false
            vanish(time)
        case 1: (hasInternet, hasWay) = (false, false)
        case 2: hasInternet = false
        case 3: hasWay = false
        case 4: roam(time)
        case 5: stopServer(time, isKilled: random.oneIn(2))
        default: sayGoodbye(time)
        }
    }

    private mutating func end(_ kind: Int, _ time: Int) throws {
        switch kind {
        case 0:
            hasPower = true
            startHost(time)
        case 1: (hasInternet, hasWay, nextTry) = (true, true, time + 3)
        case 2: hasInternet = true
        case 3: hasWay = true
        case 4: break
        case 5: serverStart = time
        default:
            isOff = false
            startHost(time)
        }
    }

    private mutating func startHost(_ time: Int) {
        boot += 1
        (heard, heardServer, said, connection) = (nil, nil, nil, nil)
        (nextTry, ceiling) = (time + Int.random(in: 1...8, using: &random), 60)
    }

    /// The connection breaks without a word. The server finds that later.
    private mutating func vanish(_ time: Int) {
        if let connection, serverStart != nil {
            stale.append((time + Int.random(in: 200...540, using: &random), connection))
        }
        connection = nil
    }

    private mutating func roam(_ time: Int) {
        vanish(time)
        nextTry = time + Int.random(in: 1...15, using: &random)
    }

    private mutating func stopServer(_ time: Int, isKilled: Bool) {
        if let connection, !isKilled {
            evidence.down(Double(time), start: Double(connection), "Server Shutdown", server: name)
        }
        serverStart = nil
        stale = []
        if connection != nil { loseConnection(time) }
    }

    private mutating func sayGoodbye(_ time: Int) {
        isOff = true
        guard let connection else { return }
        evidence.down(Double(time), start: Double(connection), "Client Closed", server: name)
        (renewed, deletedAt, self.connection) = (nil, time, nil)
    }

    private var name: String? { serverStart.map { "s\($0)" } }

    private mutating func loseConnection(_ time: Int) {
        connection = nil
        nextTry = time + Int.random(in: 0...ceiling, using: &random)
        ceiling = min(ceiling * 2, 300)
    }

    private mutating func step(_ time: Int) throws {
        for old in stale where old.due == time { evidence.down(Double(time), start: Double(old.start), server: name) }
        guard hasPower, !isOff else { return }
        try speak(time)
        if connection != nil {
            guard time % Self.lease == abs(boot * 7 % Self.lease) else { return }
            if hasWay, let serverStart {
                renewed = (time, serverStart, boot)
                (heard, heardServer) = (time, serverStart)
            } else {
                vanish(time)
                loseConnection(time + 10)
            }
        } else if time >= nextTry {
            try connect(time)
        }
    }

    private mutating func connect(_ time: Int) throws {
        guard hasWay, let serverStart else { return loseConnection(time) }
        (connection, ceiling) = (time, 60)
        evidence.up(Double(time), server: name)
        if let absence = absence(time, serverStart) { try evidence.reports(absence, back: Double(time)) }
        renewed = (time, serverStart, boot)
        (heard, heardServer, deletedAt) = (time, serverStart, nil)
    }

    /// As the machine concludes it from its lease and from what it remembers.
    private func absence(_ time: Int, _ server: Int) -> HostAbsence? {
        let own = heard.map { Duration.seconds(time - $0) }
        let lease = Duration.seconds(Self.lease)
        if let deletedAt {
            return HostAbsence(from: at(Double(deletedAt)), away: own, isKnown: true, hadLeft: own == nil, lease: lease)
        }
        guard let renewed, HostAbsence.counts(own ?? .seconds(time - renewed.time), lease: lease) else { return nil }
        return HostAbsence(
            from: at(Double(renewed.time)), away: own, isKnown: renewed.server == server,
            hasRestarted: renewed.boot != boot, lease: lease)
    }

    /// What reachd writes into the journal, a few seconds after it is so.
    private mutating func speak(_ time: Int) throws {
        let now: ReachabilityStatus = hasInternet ? .reachable : .notReachable
        guard now != said else { return }
        try evidence.says(now, Double(time), was: said, now == .reachable ? nil : .noCarrier)
        said = now
    }

    private mutating func finish() {
        evidence.engine.started = serverStart.map { at(Double($0)) }
        if let renewed {
            let value = HostLease(boot: "b", n: 1, since: at(Double(renewed.time)), behind: 0)
            evidence.roster.apply(lease: value.bytes, of: "h", storedAt: at(Double(renewed.time)))
            evidence.state(stored: Double(renewed.time)) { [said] in
                $0.status = said.map { HostStatus($0, connectivity: .full, since: at(-4000)) }
            }
        }
    }
}
