import ReachCore
import ReachFleet
import ReachTesting

/// An engine's stream, as far as a host sees it: compare-and-append, last message of a subject, restores.
struct SimulatedEngine {
    struct Message {
        let sequence: UInt64
        let chunk: EventChunk
    }

    private(set) var messages: [Message] = []
    private(set) var sequence: UInt64 = 0
    var lease = FleetMachine.LeaseAnswer.none
    /// The host's state, as far as it says what of the log the engine has.
    var mark: JournalCursor?
    private var backup: (messages: [Message], sequence: UInt64, mark: JournalCursor?)?

    var last: Message? { messages.last }

    mutating func append(_ chunk: EventChunk, expecting tail: UInt64) -> FleetMachine.PublishAnswer {
        let last = messages.last?.sequence ?? 0
        guard tail == last else { return .wrongTail(last: last) }
        sequence += 1
        messages.append(Message(sequence: sequence, chunk: chunk))
        return .stored(sequence: sequence, isDuplicate: false)
    }

    /// Messages of other hosts.
    mutating func advance(by count: UInt64) { sequence += count }

    mutating func keepBackup() { backup = (messages, sequence, mark) }

    /// The backup takes the place of what is there; without one the engine begins with nothing.
    mutating func restore() {
        (messages, sequence, mark) = backup.map { ($0.messages, $0.sequence, $0.mark) } ?? ([], 0, nil)
    }

    /// Everything stored so far is older than the stream keeps.
    mutating func expire() { messages = [] }
}

/// A daemon's journal: logs of numbered events, which may be rolled back or begin again.
struct SimulatedJournal {
    struct Event: Hashable {
        let log: String
        let n: UInt64
        let moment: Instant
    }

    private(set) var logs: [(name: String, first: UInt64, events: [Event])] = []
    private var made = 0
    private let prefix: String

    init(named prefix: String) {
        self.prefix = prefix
        beginLog()
    }

    var current: String { logs[logs.count - 1].name }
    var newest: JournalCursor {
        let log = logs[logs.count - 1]
        return JournalCursor(log: log.name, n: log.first + UInt64(log.events.count) - 1)
    }

    mutating func beginLog() {
        made += 1
        logs.append(("\(prefix)\(made)", 1, []))
    }

    mutating func record(at moment: Instant) -> Event {
        let event = Event(log: current, n: newest.n + 1, moment: moment)
        logs[logs.count - 1].events.append(event)
        return event
    }

    /// The power fails: the newest events were not on the disk. Numbers are given again unless a reader knows better.
    mutating func rollBack(by count: Int) -> [Event] {
        let lost = Array(logs[logs.count - 1].events.suffix(count))
        logs[logs.count - 1].events.removeLast(lost.count)
        return lost
    }

    /// Deletes the oldest events of the current log.
    mutating func expire(_ count: Int) -> [Event] {
        let gone = Array(logs[logs.count - 1].events.prefix(count))
        logs[logs.count - 1].events.removeFirst(gone.count)
        logs[logs.count - 1].first += UInt64(gone.count)
        return gone
    }

    /// A copy of the machine goes its own way.
    func cloned(as prefix: String) -> SimulatedJournal {
        var copy = SimulatedJournal(named: prefix)
        copy.logs = logs
        return copy
    }

    mutating func read(after cursor: JournalCursor?, limit: Int, boot: String, now: Instant) -> EntryPage {
        var entries: [JournalEntry] = []
        var index = 0
        var after: UInt64 = 0
        if let cursor {
            if let found = logs.firstIndex(where: { $0.name == cursor.log }) {
                (index, after) = (found, cursor.n)
                let last = logs[found].first + UInt64(logs[found].events.count) - 1
                if after > last {
                    if found == logs.count - 1 { beginLog() }
                    (index, after) = (found + 1, 0)
                } else if after + 1 < logs[found].first {
                    entries.append(
                        JournalEntry(
                            gap: "expired", log: cursor.log, first: after + 1, last: logs[found].first - 1, boot: boot,
                            moment: now))
                    after = logs[found].first - 1
                }
            }
        }
        var isComplete = true
        for (position, log) in logs.enumerated() where position >= index && isComplete {
            let isBegun = cursor.map { $0.log == log.name } ?? (position == 0)
            let from = isBegun ? after : log.first - 1
            if !isBegun {
                entries.append(
                    JournalEntry(gap: "log", log: log.name, first: 0, last: from, boot: boot, moment: now))
            }
            for event in log.events where event.n > from {
                guard entries.count < limit else {
                    isComplete = false
                    break
                }
                entries.append(
                    JournalEntry(log: event.log, n: event.n, boot: boot, moment: event.moment, line: event.line))
            }
        }
        return EntryPage(entries, newest: newest, isComplete: isComplete)
    }
}

extension SimulatedJournal.Event {
    var line: [UInt8] {
        Array(
            """
            {"v":1,"type":"wake","time":"\(moment.wall)","boottime_ns":\(moment.boot.nanoseconds),"slept_ms":1,\
            "log":"\(log)","n":\(n)}
            """.utf8)
    }
}

/// One machine of the fleet: the journal, the agent, and what is on the way between agent and engine.
struct SimulatedHost {
    var journal: SimulatedJournal
    var machine: FleetMachine
    var memory: FleetMemory?
    /// The memory as it was when the last chunk left: what is written later may be lost with the process.
    var lasting: FleetMemory?
    let boot: String
    private(set) var isConnected = false
    /// Requests on their way to the engine, and answers on their way back.
    var requests: [FleetMachine.Action] = []
    var answers: [FleetMachine.Input] = []
    /// Requests of connections that are over. Some still arrive, and no one gets an answer.
    var ghosts: [FleetMachine.Action] = []
    /// The journal's cursor, if it is open.
    var cursor: JournalCursor??
    var words: [FleetWord] = []
    private var hasUnreadEvents = false

    init(journal: SimulatedJournal, boot: String, memory: FleetMemory?, seed: UInt64) {
        self.journal = journal
        self.boot = boot
        (self.memory, lasting) = (memory, memory)
        machine = FleetMachine(Self.settings(boot), memory: memory, seed: seed)
    }

    private static func settings(_ boot: String) -> FleetMachine.Settings {
        FleetMachine.Settings(host: "host1", boot: boot)
    }

    mutating func startAgent(seed: UInt64, at now: Instant) {
        machine = FleetMachine(Self.settings(boot), memory: memory, seed: seed)
        ghosts += requests
        (isConnected, requests, answers, cursor) = (false, [], [], nil)
        handle(.start, at: now)
    }

    mutating func handle(_ input: FleetMachine.Input, at now: Instant) {
        for action in machine.handle(input, at: now) {
            switch action {
            case .connect: isConnected = true
            case .disconnect: hangUp()
            case .publish:
                lasting = memory
                requests.append(action)
            case .readTail, .readMark, .readLease, .putState, .putLease, .deleteLease: requests.append(action)
            case .openJournal(let after):
                cursor = .some(after)
                hasUnreadEvents = true
            case .closeJournal: cursor = nil
            case .remember(let memory): self.memory = memory
            case .word(let word): words.append(word)
            }
        }
    }

    /// The connection breaks. What was sent may still arrive.
    mutating func loseConnection(_ loss: FleetMachine.Loss, at now: Instant) {
        hangUp()
        handle(.disconnected(loss), at: now)
    }

    private mutating func hangUp() {
        ghosts += requests
        (isConnected, requests, answers, cursor) = (false, [], [], nil)
    }

    mutating func record(at now: Instant) -> SimulatedJournal.Event {
        hasUnreadEvents = true
        return journal.record(at: now)
    }

    /// Reads a page if the machine wants one.
    mutating func readJournal(limit: Int, at now: Instant) {
        guard let after = cursor, machine.wantsJournal, hasUnreadEvents else { return }
        let slice = journal.read(after: after, limit: limit, boot: boot, now: now)
        if let last = slice.entries.last { cursor = .some(JournalCursor(log: last.log, n: last.n)) }
        hasUnreadEvents = !slice.isComplete
        handle(.journal(slice), at: now)
    }

    /// Whether nothing is under way between machine, engine and journal.
    var isAtRest: Bool {
        requests.isEmpty && answers.isEmpty && ghosts.isEmpty
            && (cursor == nil || !machine.wantsJournal || !hasUnreadEvents) && !waitsForConnection
    }

    private var waitsForConnection: Bool {
        isConnected && (machine.word == .connecting || machine.word == .engineDown)
    }

    /// Whether the machine itself says that the engine has everything.
    var hasSaidAll: Bool { isAtRest && machine.word == .connected && machine.behind == 0 }
}
