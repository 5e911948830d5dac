import ReachCore
import ReachFleet

/// A host of the simulation: the product's machine, with a journal in memory and a network that can be cut.
struct SimulatedHost {
    let id: String
    let isClone: Bool
    /// What its clock shows too much.
    let clockOffset: Duration
    private(set) var machine: FleetMachine
    private(set) var log: String
    /// All events of the present log; the event n is at n - 1.
    private(set) var journal: [JournalEntry] = []
    /// The lines of all logs, which the stream must hold.
    private(set) var truth: [String: [[UInt8]]] = [:]
    private(set) var state: HostState
    private(set) var isCut = false
    private(set) var word: FleetWord = .connecting
    private let boot: String
    private var logs = 1
    /// How many events of the journal the machine has; `nil` while it does not read.
    private var position: Int?
    private var epoch: UInt64 = 1
    var pending: [FleetMachine.Action] = []

    init(id: String, labels: [String: String], lease: Duration, clockOffset: Duration, isClone: Bool, seed: UInt64) {
        self.id = id
        self.isClone = isClone
        self.clockOffset = clockOffset
        boot = "boot\(seed)"
        log = "log\(seed)x1"
        var settings = FleetMachine.Settings(host: id, boot: boot)
        settings.lease = lease
        settings.spread = .seconds(5)
        machine = FleetMachine(settings, seed: seed)
        let start = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        state = HostState(host: id, version: "sim", written: start, boot: boot, lease: lease)
        state.labels = labels
    }

    var deadline: BootTime? { machine.deadline }
    var needsJournal: Bool { machine.wantsJournal && position.map { $0 < journal.count } ?? false }
    /// Whether the engine has everything.
    var isSettled: Bool { word == .connected && machine.behind == 0 }

    /// The host's clocks.
    func now(_ real: Instant) -> Instant { Instant(wall: real.wall + clockOffset, boot: real.boot) }

    mutating func handle(_ input: FleetMachine.Input, _ real: Instant) {
        for action in machine.handle(input, at: now(real)) {
            if case .word(let word) = action { self.word = word }
            pending.append(action)
        }
    }

    // MARK: - What happens on the host

    /// The path to the Internet comes or goes. The engine is reached as before, unless ``cut(_:_:)`` says otherwise.
    mutating func change(_ status: ReachabilityStatus, _ reason: Reason?, _ cause: Cause, _ real: Instant) {
        let now = now(real)
        epoch += 1
        var new = HostStatus(
            status, reason: reason, linkClass: status == .reachable ? .wired : nil, since: now.wall, epoch: epoch)
        new.ipv4.gateway = IPAddress("192.168.1.1")
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "change")
            json.field("time", now.wall)
            json.field("boottime_ns", now.boot.nanoseconds)
            json.field("log", log)
            json.field("n", Int64(journal.count + 1))
            json.field("cause", cause.rawValue)
            if let previous = state.status?.status {
                json.field("previous", object: { $0.field("status", previous.rawValue) })
            }
            json.key("status")
            new.write(to: &json)
        }
        let isNewest = position == journal.count
        journal.append(
            JournalEntry(log: log, n: UInt64(journal.count + 1), boot: boot, moment: now, line: json.bytes))
        truth[log, default: []].append(json.bytes)
        state.status = new
        handle(.state(state), real)
        if isNewest || position != nil { readJournal(real) }
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
        if let cursor, cursor.log == log, cursor.n > UInt64(journal.count) {
            // The engine has more of this log than there is: it is another machine's, and a new log begins.
            logs += 1
            log = "\(log.prefix { $0 != "x" })x\(logs)"
            journal = []
        }
        position = cursor.map { $0.log == log ? Int($0.n) : 0 } ?? 0
        deliver(real)
    }

    mutating func closeJournal() { position = nil }

    mutating func readJournal(_ real: Instant) { if needsJournal { deliver(real) } }

    private mutating func deliver(_ real: Instant) {
        guard let begin = position else { return }
        let end = min(begin + 256, journal.count)
        position = end
        let newest = JournalCursor(log: log, n: UInt64(journal.count))
        handle(
            .journal(EntryPage(Array(journal[begin..<end]), newest: newest, isComplete: end == journal.count)), real)
    }
}
