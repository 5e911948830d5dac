import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// Three hours of a fleet by the second, as its server stores them, with a watch that calls somebody.
///
/// Two sites, whose hosts have leases of their own. Sites and single hosts lose their power, their paths, or only their
/// programs; hosts roam, and the server is killed now and then. A host renews its lease, says at its return what the
/// agent's rule says, and knows nothing of what the watch makes of it.
struct CalledFleet {
    static let length = 10_800

    private struct Host {
        let id: String
        let lease: Int
        let phase: Int
        var isAlive = true
        var hasPath = true
        var boot = 0
        var connection: Int?
        var nextTry = 0
        var renewed = FleetMachine.LeaseAnswer.none
        var heard: (time: Int, server: Int)?
    }

    enum Message {
        case state(String, [UInt8])
        case lease(String, [UInt8])
        case connection(ConnectionAdvisory)
        case absence(String, HostAbsence)
    }

    private(set) var messages: [(time: Int, message: Message)] = []
    /// When the server started, the first time before all.
    private(set) var starts = [-100]
    private(set) var calls: [AlertMessage] = []
    let options: AlertOptions
    private var random: SeededGenerator
    private var hosts: [Host] = []
    private var server: Int? = -100
    private var changes: [Int: [(inout CalledFleet) -> Void]] = [:]
    private var watch: FleetWatchState
    private var machine: AlertMachine
    private var read = 0
    /// What was said at a call and is not so.
    private(set) var faults: [String] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        var options = AlertOptions()
        options.wait = .seconds(random.pick([4, 60, 120]))
        options.settle = .seconds(random.pick([4, 60]))
        self.options = options
        machine = AlertMachine(options)
        watch = FleetWatchState(engine: EngineFacts(now: at(0), started: at(-100)))
        let leases = [30, 30, 30, 120, 600]
        hosts = (0..<8).map { index in
            let lease = random.pick(leases)
            return Host(id: "h\(index)", lease: lease, phase: Int.random(in: 0..<lease, using: &random))
        }
        for host in hosts { watch.apply(listed: host.id, HostList.Entry(host: host.id, key: "K\(host.id)")) }
        plan()
        for time in 0..<Self.length {
            for change in changes[time] ?? [] { change(&self) }
            for index in hosts.indices { step(index, time) }
            if time == 10 {
                // What a watch reads first.
                try feed()
                watch.engine.now = at(Double(time))
                _ = watch.begin()
                for host in watch.roster.hosts { machine.apply(host, host.presence(watch.engine), at: at(10)) }
            }
            if time > 10 { try look(time) }
        }
    }

    // MARK: - The world

    private mutating func plan() {
        var time = 300
        while time < Self.length - 2400 {
            let length = random.pick([2, 10, 20, 33, 45, 70, 100, 150, 300, 900])
            let kind = Int.random(in: 0..<9, using: &random)
            let site = random.pick([0, 1])
            let some = random.oneIn(2) ? (0..<8).filter { $0 % 2 == site } : [Int.random(in: 0..<8, using: &random)]
            let begin = time
            changes[begin, default: []].append { $0.begin(kind, some, begin) }
            changes[begin + length, default: []].append { $0.end(kind, some, begin + length) }
            time += length + Int.random(in: 1000...2500, using: &random)
        }
    }

    private mutating func begin(_ kind: Int, _ some: [Int], _ time: Int) {
        if kind == 0 {
            server = nil
            for index in hosts.indices { lose(index, time) }
            return
        }
        for index in some {
            switch kind {
            case 1...3:
                hosts[index].isAlive = false
                if let start = hosts[index].connection { end(index, start, time, "Client Closed") }
            case 4...6:
                hosts[index].isAlive = false
                vanish(index, time)
            default:
                hosts[index].hasPath = false
                vanish(index, time)
                hosts[index].nextTry = time + Int.random(in: 1...60, using: &random)
            }
            hosts[index].connection = nil
        }
    }

    private mutating func end(_ kind: Int, _ some: [Int], _ time: Int) {
        if kind == 0 {
            server = time
            starts.append(time)
            return
        }
        for index in some {
            if !hosts[index].isAlive {
                (hosts[index].isAlive, hosts[index].heard) = (true, nil)
                if kind > 3 { hosts[index].boot += 1 }
            }
            hosts[index].hasPath = true
            hosts[index].nextTry = time + Int.random(in: 1...8, using: &random)
        }
    }

    /// The server finds an error at once, or only that nothing comes any more.
    private mutating func vanish(_ index: Int, _ time: Int) {
        guard let start = hosts[index].connection, let server else { return }
        let late = random.oneIn(3) ? 1 : Int.random(in: 120...540, using: &random)
        let reason = late == 1 ? "Read Error" : "Stale Connection"
        changes[time + late, default: []].append { world in
            if world.server == server { world.end(index, start, time + late, reason) }
        }
    }

    private mutating func end(_ index: Int, _ start: Int, _ time: Int, _ reason: String) {
        guard let server else { return }
        store(
            time,
            .connection(
                ConnectionAdvisory(
                    isUp: false, time: at(Double(time)), start: at(Double(start)), user: "K\(hosts[index].id)",
                    reason: reason, server: "s\(server)")))
    }

    private mutating func lose(_ index: Int, _ time: Int) {
        hosts[index].connection = nil
        hosts[index].nextTry = time + Int.random(in: 1...60, using: &random)
    }

    private mutating func step(_ index: Int, _ time: Int) {
        guard hosts[index].isAlive else { return }
        if hosts[index].connection != nil {
            if time % hosts[index].lease == hosts[index].phase { renew(index, time) }
        } else if time >= hosts[index].nextTry {
            guard hosts[index].hasPath, server != nil else { return lose(index, time) }
            connect(index, time)
        }
    }

    private mutating func connect(_ index: Int, _ time: Int) {
        guard let server else { return }
        let host = hosts[index]
        hosts[index].connection = time
        store(
            time,
            .connection(
                ConnectionAdvisory(
                    isUp: true, time: at(Double(time)), start: at(Double(time)), user: "K\(host.id)",
                    server: "s\(server)")))
        let absence = HostAbsence(
            lease: host.renewed, own: host.heard.map { .seconds(time - $0.time) },
            hasRunOn: host.heard?.server == server, boot: "b\(host.boot)", server: "s\(server)",
            period: .seconds(host.lease), at: at(Double(time)))
        if let absence { store(time, .absence(host.id, absence)) }
        renew(index, time)
        var state = HostState(
            host: host.id, version: "1", written: Self.moment(time), boot: "b\(host.boot)", lease: .seconds(host.lease))
        state.labels = ["site": index % 2 == 0 ? "north" : "south"]
        state.status = HostStatus(.reachable, connectivity: .full, since: at(-1000))
        store(time, .state(host.id, state.bytes))
    }

    private mutating func renew(_ index: Int, _ time: Int) {
        guard let server else { return }
        let lease = HostLease(
            boot: "b\(hosts[index].boot)", n: 1, since: at(Double(hosts[index].connection ?? time)), behind: 0,
            server: "s\(server)", period: .seconds(hosts[index].lease))
        hosts[index].renewed = .renewed(lease, at: at(Double(time)))
        hosts[index].heard = (time, server)
        store(time, .lease(hosts[index].id, lease.bytes))
    }

    private mutating func store(_ time: Int, _ message: Message) { messages.append((time, message)) }

    private static func moment(_ time: Int) -> Instant {
        Instant(wall: at(Double(time)), boot: BootTime(nanoseconds: Int64(time + 10_000) * 1_000_000_000))
    }

    // MARK: - The watch

    private mutating func look(_ time: Int) throws {
        guard let server else { return }
        if watch.engine.started != at(Double(server)) { watch.reconnected(started: at(Double(server))) }
        watch.engine.now = at(Double(time))
        try feed()
        for change in watch.tick(at(Double(time))) { apply(change) }
        let (roster, history, engine) = (watch.roster, watch.history, watch.engine)
        let said = machine.tick(
            at(Double(time)), .init(fleet: { AlertMachine.Fleet(roster, history, engine) }))
        calls += said
        for message in said where message.event == .down { try check(message, time) }
    }

    private mutating func feed() throws {
        while read < messages.count {
            let (time, message) = messages[read]
            let moment = at(Double(time))
            switch message {
            case .state(let host, let bytes): apply(watch.apply(state: bytes, of: host, storedAt: moment))
            case .lease(let host, let bytes): apply(watch.apply(lease: bytes, of: host, storedAt: moment))
            case .connection(let advisory): apply(watch.apply(advisory))
            case .absence(let host, let absence):
                let chunk = Self.chunk(absence, time)
                _ = watch.apply(
                    subject: FleetNames.eventSubject(of: host), headers: chunk.headers(expecting: 0),
                    payload: chunk.payload, storedAt: moment, sequence: UInt64(read))
            }
            read += 1
        }
    }

    private mutating func apply(_ change: FleetWatchState.Change?) {
        if let change { machine.apply(change.host, change.presence, at: watch.engine.now) }
    }

    private static func chunk(_ absence: HostAbsence, _ time: Int) -> EventChunk {
        EventChunk(absence, log: "l", after: 1, tail: 1, boot: "b", at: moment(time))
    }

    // MARK: - Those who look afterwards

    /// What `outages`, `report` and page read at a time.
    struct Reading {
        let roster: Roster
        let pasts: [HostPast]
        let outages: [Outage]

        func absences(of host: String) -> [Absence] {
            roster.hosts.firstIndex { $0.id == host }.map { pasts[$0].absences.filter { !$0.isSwitchedOff } } ?? []
        }
    }

    func reading(at time: Int) throws -> Reading {
        var (roster, history) = (Roster(), FleetHistory(since: at(-3600), keepsTimelines: false))
        for host in hosts { roster.apply(listed: host.id, HostList.Entry(host: host.id, key: "K\(host.id)")) }
        var timeline = FleetTimeline()
        for (stored, message) in messages where stored <= time {
            let moment = at(Double(stored))
            switch message {
            case .state(let host, let bytes): roster.apply(state: bytes, of: host, storedAt: moment)
            case .lease(let host, let bytes): roster.apply(lease: bytes, of: host, storedAt: moment)
            case .connection(let advisory):
                if let host = roster.apply(advisory) { history.apply(advisory, of: host) }
            case .absence(let host, let absence):
                let chunk = Self.chunk(absence, stored)
                for event in timeline.apply(
                    subject: FleetNames.eventSubject(of: host), headers: chunk.headers(expecting: 0),
                    payload: chunk.payload, storedAt: moment, sequence: 1)
                { history.apply(event) }
            }
        }
        var engine = EngineFacts(now: at(Double(time)), started: starts.last { $0 <= time }.map { at(Double($0)) })
        engine.noteLastWord(in: roster)
        let pasts = history.pasts(of: roster, engine)
        return Reading(
            roster: roster, pasts: pasts,
            outages: OutageFinder.find(pasts.sortedAbsences, among: history.members(of: roster), options.outage))
    }

    /// A call says what the other commands say at that moment.
    private mutating func check(_ message: AlertMessage, _ time: Int) throws {
        let reading = try reading(at: time)
        for host in message.hosts where reading.absences(of: host).last.map({ $0.end != nil }) ?? true {
            faults.append("\(time): \(message.alert) calls about \(host), and report has no absence that lasts")
        }
        guard message.shared != nil else {
            for host in message.hosts.prefix(message.alert == message.hosts[0] ? 1 : 0)
            where reading.absences(of: host).last?.start != message.since {
                faults.append("\(time): \(message.alert) since \(message.since), and report says another begin")
            }
            return
        }
        if !reading.outages.contains(where: { $0.first == message.since && $0.sentence == message.sentence }) {
            faults.append("\(time): \(message.alert) since \(message.since), outages \(reading.outages.map(\.first))")
        }
    }
}
