import ReachCore
import ReachFleet

/// A host of the simulation: the product's machine, with a journal in memory and a network that can be cut.
struct SimulatedHost {
    /// A change of the path. Its line is made when someone wants it: a million events are in memory.
    struct Event {
        let moment: Instant
        let status: ReachabilityStatus
        let previous: ReachabilityStatus?
        let reason: Reason?
        let cause: Cause

        func line(_ log: String, _ n: Int) -> [UInt8] {
            var json = JSONWriter()
            json.object { json in
                json.field("v", 1)
                json.field("type", "change")
                json.field("time", moment.wall)
                json.field("boottime_ns", moment.boot.nanoseconds)
                json.field("log", log)
                json.field("n", Int64(n))
                json.field("cause", cause.rawValue)
                if let previous { json.field("previous", object: { $0.field("status", previous.rawValue) }) }
                json.key("status")
                hostStatus(UInt64(n)).write(to: &json)
            }
            return json.bytes
        }

        func hostStatus(_ epoch: UInt64) -> HostStatus {
            var new = HostStatus(
                status, reason: reason, linkClass: status == .reachable ? .wired : nil, since: moment.wall,
                epoch: epoch)
            new.ipv4.gateway = IPAddress("192.168.1.1")
            return new
        }
    }

    let id: String
    /// It has a key and a connection of its own.
    let hasKey: Bool
    /// What its clock shows too much.
    let clockOffset: Duration
    private(set) var machine: FleetMachine
    private let settings: FleetMachine.Settings
    private(set) var memory: FleetMemory?
    /// Its logs, oldest first; the event n of a log is at n - 1.
    private(set) var logs: [(name: String, events: [Event])]
    private(set) var state: HostState
    private(set) var isCut = false
    private(set) var word: FleetWord = .connecting
    /// Where the machine reads the journal; `nil` while it does not.
    private var position: (log: Int, n: Int, isBegun: Bool)?
    private var epoch: UInt64 = 1
    var pending: [FleetMachine.Action] = []

    init(
        id: String, labels: [String: String], lease: Duration, clockOffset: Duration, hasKey: Bool, seed: UInt64
    ) {
        self.id = id
        self.hasKey = hasKey
        self.clockOffset = clockOffset
        logs = [("log\(seed)x1", [])]
        var settings = FleetMachine.Settings(host: id, boot: "boot\(seed)")
        settings.lease = lease
        settings.spread = .seconds(5)
        self.settings = settings
        machine = FleetMachine(settings, seed: seed)
        let start = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        state = HostState(host: id, version: "sim", written: start, boot: settings.boot, lease: lease)
        state.labels = labels
    }

    /// The same machine a second time: its disk was copied, and the copy starts.
    func cloned(seed: UInt64) -> SimulatedHost {
        var copy = SimulatedHost(
            id: id, labels: state.labels, lease: state.lease, clockOffset: clockOffset, hasKey: false, seed: seed)
        copy.logs = logs
        copy.memory = memory
        copy.machine = FleetMachine(copy.settings, memory: memory, seed: seed)
        return copy
    }

    var deadline: BootTime? { machine.deadline }
    var log: String { logs[logs.count - 1].name }
    var needsJournal: Bool {
        guard machine.wantsJournal, let position else { return false }
        return position.log < logs.count - 1 || position.n < logs[position.log].events.count
    }
    /// Whether the engine has everything.
    var isSettled: Bool { word == .connected && machine.behind == 0 && !needsJournal }

    /// The host's clocks.
    func now(_ real: Instant) -> Instant { Instant(wall: real.wall + clockOffset, boot: real.boot) }

    mutating func handle(_ input: FleetMachine.Input, _ real: Instant) {
        for action in machine.handle(input, at: now(real)) {
            switch action {
            case .word(let word): self.word = word
            case .remember(let memory): self.memory = memory
            default: pending.append(action)
            }
        }
    }

    // MARK: - What happens on the host

    /// The path to the Internet comes or goes. The engine is reached as before, unless ``cut(_:_:)`` says otherwise.
    mutating func change(_ status: ReachabilityStatus, _ reason: Reason?, _ cause: Cause, _ real: Instant) {
        let event = Event(
            moment: now(real), status: status, previous: state.status?.status, reason: reason, cause: cause)
        epoch += 1
        logs[logs.count - 1].events.append(event)
        state.status = event.hostStatus(epoch)
        handle(.state(state), real)
        readJournal(real)
    }

    /// Cuts the host's network, or mends it.
    mutating func cut(_ isCut: Bool, _ real: Instant) {
        guard isCut != self.isCut else { return }
        self.isCut = isCut
        if isCut {
            change(.notReachable, .gatewayUnreachable, .neighbour, real)
            handle(.disconnected(.unreachable), real)
        } else {
            change(.reachable, nil, .neighbour, real)
        }
        handle(.path(exists: !isCut, isMetered: false, epoch: epoch), real)
    }

    // MARK: - The journal

    mutating func openJournal(after cursor: JournalCursor?, _ real: Instant) {
        position = (0, 0, cursor == nil)
        if let cursor, let found = logs.firstIndex(where: { $0.name == cursor.log }) {
            if cursor.n <= UInt64(logs[found].events.count) {
                position = (found, Int(cursor.n), true)
            } else {
                // The engine has more of this log than there is: it is another machine's, and a new log begins.
                if found == logs.count - 1 {
                    logs.append((String(log.prefix { $0 != "y" }) + "y\(settings.boot)\(logs.count)", []))
                }
                position = (found + 1, 0, false)
            }
        }
        deliver(real)
    }

    mutating func closeJournal() { position = nil }

    mutating func readJournal(_ real: Instant) { if needsJournal { deliver(real) } }

    private mutating func deliver(_ real: Instant) {
        guard var place = position else { return }
        var entries: [JournalEntry] = []
        while entries.count < 256 {
            let (name, events) = logs[place.log]
            if !place.isBegun {
                entries.append(
                    JournalEntry(gap: "log", log: name, first: 0, last: 0, boot: settings.boot, moment: now(real)))
                place.isBegun = true
            }
            let end = min(place.n + 256 - entries.count, events.count)
            for n in place.n..<max(end, place.n) {
                entries.append(
                    JournalEntry(
                        log: name, n: UInt64(n + 1), boot: settings.boot, moment: events[n].moment,
                        line: events[n].line(name, n + 1)))
            }
            place.n = max(end, place.n)
            guard place.n == events.count, place.log < logs.count - 1 else { break }
            place = (place.log + 1, 0, false)
        }
        position = place
        let newest = JournalCursor(log: log, n: UInt64(logs[logs.count - 1].events.count))
        handle(.journal(EntryPage(entries, newest: newest, isComplete: !needsMore)), real)
    }

    private var needsMore: Bool {
        position.map { $0.log < logs.count - 1 || $0.n < logs[$0.log].events.count } ?? false
    }

    /// The line of an event as this machine wrote it.
    func line(_ log: String, _ n: UInt64) -> [UInt8]? {
        guard let found = logs.first(where: { $0.name == log }), n > 0, n <= UInt64(found.events.count) else {
            return nil
        }
        return found.events[Int(n) - 1].line(log, Int(n))
    }
}
