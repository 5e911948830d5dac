import ReachCore
import ReachFleet

/// One host's machine, whose clock a test moves, and which says what it does in short words.
struct SingleAgent {
    private(set) var machine: FleetMachine
    private(set) var milliseconds: Int64
    /// What it wrote last.
    private(set) var state: HostState?
    private(set) var lease: HostLease?
    private(set) var chunk: EventChunk?
    private(set) var memory: FleetMemory?
    /// The number of the latest request.
    private(set) var request: UInt64 = 0

    init(
        memory: FleetMemory? = nil, atSecond second: Int64 = 1000,
        _ change: (inout FleetMachine.Settings) -> Void = { _ in }
    ) {
        var settings = FleetMachine.Settings(host: "till-1", boot: "b")
        change(&settings)
        machine = FleetMachine(settings, memory: memory, seed: 7)
        milliseconds = second * 1000
    }

    /// An agent whose events the engine has up to `n`, of the log `l`, and which has nothing more to send.
    static func settled(n: UInt64 = 1, _ change: (inout FleetMachine.Settings) -> Void = { _ in }) -> SingleAgent {
        var agent = SingleAgent(change)
        _ = agent.connect()
        _ = agent.tail(.none)
        _ = agent.journal(page(1...n))
        _ = agent.published(.stored(sequence: 5, isDuplicate: false))
        _ = agent.handle(.leaseStored(true))
        return agent
    }

    var now: Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000 + milliseconds * 1_000_000),
            boot: BootTime(nanoseconds: milliseconds * 1_000_000))
    }

    /// The time until its deadline; `nil` without one.
    var wait: Duration? {
        machine.deadline.map { .nanoseconds($0.nanoseconds - milliseconds * 1_000_000) }
    }

    mutating func pass(_ seconds: Double) { milliseconds += Int64(seconds * 1000) }

    /// Lets time pass until the deadline, and says so.
    mutating func tickAtDeadline() -> [String] {
        if let deadline = machine.deadline {
            milliseconds = max(milliseconds, (deadline.nanoseconds + 999_999) / 1_000_000)
        }
        return handle(.tick)
    }

    /// Connects; the engine has no lease of an earlier connection.
    mutating func connect() -> [String] { handle(.start) + connected() + handle(.lease(.none)) }

    mutating func connected() -> [String] { handle(.connected(.init(start: "s"))) }

    mutating func tail(_ answer: FleetMachine.TailAnswer) -> [String] { handle(.tail(request, answer)) }

    mutating func mark(_ answer: FleetMachine.MarkAnswer) -> [String] { handle(.mark(request, answer)) }

    mutating func published(_ answer: FleetMachine.PublishAnswer) -> [String] { handle(.published(request, answer)) }

    mutating func journal(_ page: EntryPage) -> [String] { handle(.journal(page)) }

    mutating func handle(_ input: FleetMachine.Input) -> [String] {
        machine.handle(input, at: now).map { action in
            switch action {
            case .connect: return "connect"
            case .disconnect: return "disconnect"
            case .readTail(let number):
                request = number
                return "tail"
            case .readMark(let number):
                request = number
                return "mark"
            case .openJournal(nil): return "open"
            case .openJournal(let cursor?):
                return cursor == .beyond(cursor.log) ? "open beyond \(cursor.log)" : "open \(cursor.log) \(cursor.n)"
            case .closeJournal: return "close"
            case .publish(let number, let chunk, let tail):
                request = number
                self.chunk = chunk
                return "publish \(chunk.log) \(chunk.first)-\(chunk.last) behind \(tail)"
            case .putState(let state):
                self.state = state
                return "state"
            case .readLease: return "read lease"
            case .putLease(let lease):
                self.lease = lease
                return "lease"
            case .deleteLease: return "no lease"
            case .remember(let memory):
                self.memory = memory
                return "remember \(memory.log) \(memory.n) at \(memory.sequence)"
            case .word(let word): return word.rawValue
            }
        }
    }

    static let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_794_000_000_000_000_000), boot: BootTime(nanoseconds: 7_000_000_000))

    static func line(_ n: UInt64, log: String = "l") -> [UInt8] {
        Array(
            """
            {"v":1,"type":"wake","time":"\(moment.wall)","boottime_ns":\(moment.boot.nanoseconds),"slept_ms":7,\
            "log":"\(log)","n":\(n)}
            """.utf8)
    }

    static func entry(_ n: UInt64, log: String = "l", _ moment: Instant = moment) -> JournalEntry {
        JournalEntry(log: log, n: n, boot: "b", moment: moment, line: line(n, log: log))
    }

    /// A page of the journal with these events.
    static func page(_ numbers: ClosedRange<UInt64>, log: String = "l", newest: UInt64? = nil) -> EntryPage {
        EntryPage(
            numbers.map { entry($0, log: log) }, newest: JournalCursor(log: log, n: newest ?? numbers.upperBound),
            isComplete: numbers.upperBound >= newest ?? 0)
    }

    /// A page without events.
    static func page(newest n: UInt64, log: String = "l", isComplete: Bool = true) -> EntryPage {
        EntryPage([], newest: JournalCursor(log: log, n: n), isComplete: isComplete)
    }

    static func chunk(_ numbers: ClosedRange<UInt64>, log: String = "l") -> EventChunk {
        EventChunk(
            log: log, first: numbers.lowerBound, last: numbers.upperBound, boot: "b", eventBoot: "b", sent: moment,
            lines: numbers.map { line($0, log: log) })
    }

    static let report = {
        var state = HostState(
            host: "till-1", version: "1", written: Instant(wall: moment.wall, boot: moment.boot), boot: "",
            lease: .seconds(1))
        state.status = HostStatus(.reachable, linkClass: .wifi, connectivity: .full, since: moment.wall)
        return state
    }()
}
