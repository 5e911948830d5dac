import ReachCore
import ReachFleet
import ReachTesting

/// One host and its server for six hours, by the second: what is true, and what the engine has of it afterwards.
///
/// The host is cut from power, its programs are killed, it loses its Internet, is partitioned from the server, roams to
/// another address, is switched off, sleeps and is copied; the server restarts and is away for long. What happens while the host is not with the server
/// arrives late, its clock may be wrong by years and another one after each start, and the streams may have dropped what
/// is old. The agent renews every 30 s, tries again with the waits of `FleetMachine`, and reports what it missed by the
/// machine's own rule.
struct SimulatedPresence {
    enum Truth: Hashable {
        case here, limited, away, off, serverAway
    }

    static let length = 21_600
    private static let lease = 30
    private var random: SeededGenerator
    private(set) var truth: [Truth] = []
    /// When a copy of the machine was with the server; `nil` if there was none.
    private(set) var copy: Range<Int>?
    private(set) var evidence: HostEvidence
    /// Before this time the streams have dropped something, or the connection began of which they know nothing.
    private(set) var dropped = 0

    // The world.
    private var hasPower = true
    private var hasInternet = true
    private var hasWay = true
    private var isOff = false
    private var isAsleep = false
    private var isKilled = false
    private var serverStart: Int? = -7200
    private var changes: [Int: [(inout SimulatedPresence) throws -> Void]] = [:]
    // The host.
    private var connection: Int?
    private var renewed: FleetMachine.LeaseAnswer = .none
    private var boot = 0
    private var clock = 0
    private var heard: (time: Int, server: Int)?
    private var nextTry = -3600
    private var ceiling = 60
    private var said: ReachabilityStatus?
    private var unsent: [(time: Int, status: ReachabilityStatus, previous: ReachabilityStatus?, clock: Int)] = []
    private var copyStart: Int?
    // The server.
    private var stale: [(due: Int, start: Int)] = []
    private var events: [(stored: Int, apply: (inout HostEvidence) throws -> Void)] = []
    private var reports: [(stored: Int, apply: (inout HostEvidence) throws -> Void)] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        evidence = HostEvidence(now: Double(Self.length), renewed: nil)
        evidence.history = FleetHistory(since: at(0), keepsTimelines: false)
        clock = random.pick(Self.clocks)
        plan()
        for time in -3600..<Self.length {
            for change in changes[time] ?? [] { try change(&self) }
            try step(time)
            guard time >= 0 else { continue }
            truth.append(current)
        }
        try finish()
    }

    /// By how many seconds clocks are ahead of the server's.
    private static let clocks = [0, 0, 0, 1, 5000, -10_000, -400_000_000]

    private var current: Truth {
        if isOff { return .off }
        if isAsleep || isKilled || !hasPower || !hasWay && !hasInternet { return .away }
        if !hasInternet { return .limited }
        if serverStart == nil { return .serverAway }
        return hasWay ? .here : .away
    }

    // MARK: - The world

    private mutating func plan() {
        var time = Int.random(in: 100...2500, using: &random)
        while time < Self.length - 1500 {
            let length = random.pick([3, 20, 45, 100, 300, 700, 1500])
            let kind = Int.random(in: 0..<9, using: &random)
            let (from, to) = (time, time + length)
            on(from) { try $0.begin(kind, from) }
            on(to) { try $0.end(kind, to) }
            // Far enough apart that each is over, with the longest wait, before the next begins.
            time += length + Int.random(in: 700...2500, using: &random)
        }
        guard random.oneIn(4) else { return }
        let from = Int.random(in: 0..<Self.length - 4000, using: &random)
        on(from) { $0.beginCopy(from) }
        let to = from + random.pick([40, 400, 4000])
        on(to) { $0.endCopy(to) }
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
        case 6: isAsleep = true
        case 7: kill(time)
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
        case 6: wake(time)
        case 7:
            isKilled = false
            startHost(time)
        default:
            isOff = false
            startHost(time)
        }
    }

    private mutating func startHost(_ time: Int) {
        boot += 1
        (heard, said, connection, clock, unsent) = (nil, nil, nil, random.pick(Self.clocks), [])
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
        if let connection, !isKilled { down(time, start: Double(connection), "Server Shutdown") }
        if let copyStart, !isKilled { down(time, start: Double(copyStart) + 0.5, "Server Shutdown") }
        forgetCopy(time)
        (serverStart, stale) = (nil, [])
        if connection != nil { loseConnection(time) }
    }

    private mutating func sayGoodbye(_ time: Int) {
        isOff = true
        guard let connection else { return }
        down(time, start: Double(connection), "Client Closed")
        (renewed, self.connection) = (.deleted(at: at(Double(time))), nil)
    }

    /// All programs die, and the kernel closes the connection.
    private mutating func kill(_ time: Int) {
        isKilled = true
        if let connection, serverStart != nil { down(time, start: Double(connection), "Client Closed") }
        connection = nil
    }

    /// The connection has outlived a short sleep, and not a long one.
    private mutating func wake(_ time: Int) {
        isAsleep = false
        guard connection != nil, let serverStart, let last = heard?.time else { return }
        guard time - last <= 300 else {
            vanish(time)
            return loseConnection(time)
        }
        let away = Duration.seconds(time - last)
        if HostAbsence.counts(away, lease: .seconds(Self.lease)) {
            report(time, HostAbsence(away: away, isKnown: true, lease: .seconds(Self.lease)))
        }
        renew(time, serverStart, "b\(boot)")
        heard = (time, serverStart)
    }

    // MARK: - A copy of the machine

    private mutating func beginCopy(_ time: Int) {
        guard let serverStart else { return }
        copyStart = time
        up(time, start: Double(time) + 0.5)
        report(time, serverStart, own: nil, boot: "copy")
        renew(time, serverStart, "copy")
    }

    private mutating func endCopy(_ time: Int) {
        guard let copyStart else { return }
        down(time, start: Double(copyStart) + 0.5, random.oneIn(2) ? "Client Closed" : "Read Error")
        forgetCopy(time)
    }

    private mutating func forgetCopy(_ time: Int) {
        if let copyStart { copy = copyStart..<time + 1 }
        copyStart = nil
    }

    // MARK: - The host

    private mutating func loseConnection(_ time: Int) {
        connection = nil
        nextTry = time + Int.random(in: 0...ceiling, using: &random)
        ceiling = min(ceiling * 2, 300)
    }

    private mutating func step(_ time: Int) throws {
        for old in stale where old.due == time { down(time, start: Double(old.start), "Stale Connection") }
        if let copyStart, let serverStart, (time - copyStart) % Self.lease == 0 { renew(time, serverStart, "copy") }
        guard hasPower, !isOff, !isAsleep, !isKilled else { return }
        speak(time)
        if connection != nil {
            guard time % Self.lease == abs(boot * 7 % Self.lease) else { return }
            if hasWay, let serverStart {
                renew(time, serverStart, "b\(boot)")
                heard = (time, serverStart)
            } else {
                vanish(time)
                loseConnection(time + 10)
            }
        } else if time >= nextTry {
            connect(time)
        }
    }

    private mutating func renew(_ time: Int, _ server: Int, _ boot: String) {
        let moment = at(Double(time))
        renewed = .renewed(
            HostLease(
                boot: boot, n: 1, since: moment, behind: 0, server: "s\(server)", period: .seconds(Self.lease)),
            at: moment)
    }

    private mutating func connect(_ time: Int) {
        guard hasWay, let serverStart else { return loseConnection(time) }
        (connection, ceiling) = (time, 60)
        up(time, start: Double(time))
        report(time, serverStart, own: heard.map { .seconds(time - $0.time) }, boot: "b\(boot)")
        renew(time, serverStart, "b\(boot)")
        heard = (time, serverStart)
    }

    private mutating func report(_ time: Int, _ server: Int, own: Duration?, boot: String) {
        let absence = HostAbsence(
            lease: renewed, own: own, hasRunOn: heard?.server == server, boot: boot, server: "s\(server)",
            period: .seconds(Self.lease), at: at(Double(time + clock)))
        if let absence { report(time, absence) }
    }

    private mutating func report(_ time: Int, _ absence: HostAbsence) {
        let clock = Double(clock)
        events.append((time, { try $0.reports(absence, back: Double(time), clock: clock) }))
    }

    /// What reachd writes into the journal. The agent sends it when it can.
    private mutating func speak(_ time: Int) {
        let now: ReachabilityStatus = hasInternet ? .reachable : .notReachable
        if now != said { unsent.append((time, now, said, clock)) }
        said = now
        guard connection != nil, hasWay, serverStart != nil else { return }
        for word in unsent {
            events.append(
                (
                    time,
                    {
                        try $0.says(
                            word.status, Double(word.time), was: word.previous,
                            word.status == .reachable ? nil : .noCarrier, stored: Double(time),
                            clock: Double(word.clock))
                    }
                ))
        }
        unsent = []
    }

    // MARK: - The server

    private mutating func up(_ time: Int, start: Double) {
        let name = serverStart.map { "s\($0)" }
        reports.append((time, { $0.up(start, server: name) }))
    }

    private mutating func down(_ time: Int, start: Double, _ reason: String) {
        let name = serverStart.map { "s\($0)" }
        reports.append((time, { $0.down(Double(time), start: start, reason, server: name) }))
    }

    /// What a reader finds at the end: each stream in its order, without what it has dropped.
    private mutating func finish() throws {
        evidence.engine.started = serverStart.map { at(Double($0)) }
        let cuts = (0..<2).map { _ in random.oneIn(4) ? Int.random(in: 0..<Self.length, using: &random) : -3600 }
        dropped = max(0, cuts.max() ?? 0)
        let (kept, known) = (events.filter { $0.stored >= cuts[0] }, reports.filter { $0.stored >= cuts[1] })
        for message in random.oneIn(2) ? kept + known : known + kept { try message.apply(&evidence) }
        if dropped > 0 { evidence.history.leaveOut(before: at(Double(dropped))) }
        if cuts[1] > 0 { dropped = max(dropped, known.first?.stored ?? Self.length) }
        func second(_ time: Timestamp) -> Double {
            Double(time.nanosecondsSince1970 - at(0).nanosecondsSince1970) / 1e9
        }
        switch renewed {
        case .renewed(let lease, let time):
            evidence.roster.apply(lease: lease.bytes, of: "h", storedAt: time)
            evidence.state(stored: second(time), clock: Double(clock)) { [said, clock] in
                $0.status = said.map { HostStatus($0, connectivity: .full, since: at(Double(clock - 4000))) }
            }
        case .deleted(let time):
            // It has started again, and not connected yet.
            evidence.roster.apply(lease: nil, of: "h", storedAt: time)
            evidence.state(stored: second(time)) { $0.left = time }
        case .none: break
        }
    }
}
