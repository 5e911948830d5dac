import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// A host, sometimes its clone, and an engine, with everything that can happen to them.
private struct World {
    var engine = SimulatedEngine()
    var hosts: [SimulatedHost]
    var random: SeededGenerator
    /// Whole milliseconds, since lines have no more than microseconds.
    var clock: Int64 = 1_000_000_000
    /// Every event that any journal ever recorded, but those that were lost with the power before anybody saw them.
    var recorded: Set<SimulatedJournal.Event> = []
    /// Events that no one can expect any more: expired, rolled back, or of a log that a clone continued.
    var excused: Set<SimulatedJournal.Event> = []
    var hasClone = false

    /// What may happen besides lost messages, lost connections and killed agents.
    var disasters: [Disaster]
    /// Calls of the machine that left it with a deadline in the past, by which a loop would spin.
    var spins = 0

    enum Disaster: CaseIterable {
        case backup
        case restore
        case expireInEngine
        case powerLoss
        case expireInJournal
        case clone
    }

    init(seed: UInt64, _ disasters: [Disaster] = []) {
        self.disasters = disasters
        random = SeededGenerator(seed: seed)
        hosts = [SimulatedHost(journal: SimulatedJournal(named: "a"), boot: "bootA", memory: nil, seed: seed)]
        hosts[0].startAgent(seed: seed, at: now)
    }

    var now: Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000 + clock), boot: .init(nanoseconds: clock))
    }

    // MARK: - What happens

    mutating func step() {
        clock += Int64.random(in: 1...400, using: &random) * 1_000_000
        let index = Int.random(in: hosts.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case ..<20: recorded.insert(hosts[index].record(at: now))
        case ..<75: work(index, isReliable: false)
        case ..<80: tick(index)
        case ..<82: clock += 3_700_000_000_000
        case ..<88: fault(index)
        default: if !disasters.isEmpty, Bool.random(using: &random) { disaster(index) }
        }
    }

    mutating func tick(_ index: Int) {
        if let deadline = hosts[index].machine.deadline, deadline > now.boot {
            clock = max(clock, (deadline.nanoseconds / 1_000_000 + 1) * 1_000_000)
        }
        hosts[index].handle(.tick, at: now)
        if let deadline = hosts[index].machine.deadline, deadline <= now.boot { spins += 1 }
    }

    /// One message moves, or a page of the journal is read.
    mutating func work(_ index: Int, isReliable: Bool) {
        if hosts[index].machine.word == .connecting || hosts[index].machine.word == .engineDown {
            if hosts[index].isConnected { hosts[index].handle(.connected(.init(start: "s")), at: now) }
        }
        hosts[index].readJournal(limit: Int.random(in: 1...20, using: &random), at: now)
        if !hosts[index].answers.isEmpty, isReliable || Bool.random(using: &random) {
            let answer = hosts[index].answers.removeFirst()
            // The answer is lost on the way.
            if isReliable || !random.oneIn(8) { hosts[index].handle(answer, at: now) }
        } else if !hosts[index].requests.isEmpty {
            serve(index, isReliable)
        } else if !hosts[index].ghosts.isEmpty {
            let ghost = hosts[index].ghosts.removeFirst()
            if case .publish(_, let chunk, let expecting) = ghost { _ = engine.append(chunk, expecting: expecting) }
        }
    }

    mutating func serve(_ index: Int, _ isReliable: Bool) {
        let request = hosts[index].requests.removeFirst()
        if !isReliable, random.oneIn(12) { return }
        var answer: FleetMachine.Input?
        switch request {
        case .readTail(let number):
            answer = .tail(number, engine.last.map { .message(sequence: $0.sequence, $0.chunk) } ?? .none)
        case .readMark(let number): answer = .mark(number, engine.mark.map { .had($0) } ?? .none)
        case .publish(let number, let chunk, let expecting):
            // Other hosts write, too.
            if random.oneIn(5) { engine.advance(by: UInt64.random(in: 1...20, using: &random)) }
            let odd: FleetMachine.PublishAnswer? =
                isReliable ? nil : random.oneIn(40) ? .full : random.oneIn(40) ? .unavailable : nil
            answer = .published(number, odd ?? engine.append(chunk, expecting: expecting))
        case .putState(let state):
            engine.mark = state.log.map { JournalCursor(log: $0, n: state.n) }
            answer = .stateStored(true)
        case .readLease: answer = .lease(engine.lease)
        case .putLease(let lease):
            engine.lease = .renewed(lease, at: now.wall)
            answer = .leaseStored(true)
        default: break
        }
        guard let answer, hosts[index].isConnected else { return }
        hosts[index].answers.append(answer)
    }

    mutating func fault(_ index: Int) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: hosts[index].loseConnection(.unreachable, at: now)
        case 1: hosts[index].startAgent(seed: UInt64(clock), at: now)  // killed and started again
        case 2:
            // Killed before the last acknowledgement was written.
            hosts[index].memory = hosts[index].lasting
            hosts[index].startAgent(seed: UInt64(clock), at: now)
        default:
            let path = FleetMachine.Input.path(exists: random.oneIn(2), isMetered: false, epoch: UInt64(clock))
            hosts[index].handle(path, at: now)
        }
    }

    mutating func disaster(_ index: Int) {
        switch random.pick(disasters) {
        case .backup: engine.keepBackup()
        case .restore:
            engine.restore()
            for index in hosts.indices {
                hosts[index].loseConnection(.unreachable, at: now)
                // What was on its way died with the connections.
                hosts[index].ghosts = []
                // Others may be back first, and write more than there was.
                if random.oneIn(3) { engine.advance(by: 1000) }
            }
        case .expireInEngine:
            engine.expire()
            excused.formUnion(hosts[0].journal.logs.flatMap(\.events))
        case .powerLoss: rollBack(index)
        case .expireInJournal: excused.formUnion(hosts[index].journal.expire(Int.random(in: 0...5, using: &random)))
        case .clone: clone()
        }
    }

    /// The machine loses power, and starts with another boot. The journal sees that its end may be missing, and begins
    /// a log.
    mutating func rollBack(_ index: Int) {
        var journal = hosts[index].journal
        let lost = journal.rollBack(by: Int.random(in: 0...5, using: &random))
        excused.formUnion(lost)
        journal.beginLog()
        let boot = "boot\(clock)"
        // A machine takes longer to start than anything takes to arrive.
        for case .publish(_, let chunk, let expecting) in hosts[index].ghosts + hosts[index].requests {
            if Bool.random(using: &random) { _ = engine.append(chunk, expecting: expecting) }
        }
        hosts[index] = SimulatedHost(journal: journal, boot: boot, memory: hosts[index].memory, seed: UInt64(clock))
        hosts[index].startAgent(seed: UInt64(clock), at: now)
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            clock += 1_000_000
            recorded.insert(hosts[index].record(at: now))
        }
    }

    mutating func clone() {
        guard !hasClone else { return }
        hasClone = true
        let journal = hosts[0].journal.cloned(as: "c")
        var copy = SimulatedHost(journal: journal, boot: "bootC", memory: hosts[0].memory, seed: UInt64(clock))
        copy.startAgent(seed: UInt64(clock), at: now)
        hosts.append(copy)
    }

    /// Nothing fails any more, for long enough: until each machine has had nothing to do three times, with its timers
    /// between.
    mutating func settle() {
        var rest = 0
        for _ in 0..<40 where rest < 3 {
            rest += 1
            for index in hosts.indices {
                for _ in 0..<60 where !hosts[index].isAtRest { work(index, isReliable: true) }
                if !hosts[index].hasSaidAll { rest = 0 }
                tick(index)
            }
        }
    }

    // MARK: - The oracle

    /// - Returns: What is wrong with the stream.
    func faults() -> [String] {
        var faults = spins > 0 ? ["the deadline was in the past \(spins) times"] : []
        var last: [String: UInt64] = [:]
        var stored: Set<SimulatedJournal.Event> = []
        for message in engine.messages where message.chunk.mark == nil {
            let chunk = message.chunk
            if let previous = last[chunk.log], chunk.first != previous + 1 {
                faults.append("\(chunk.log) \(chunk.first) follows \(previous)")
            }
            last[chunk.log] = chunk.last
            let (events, damaged) = chunk.events()
            if damaged > 0 { faults.append("\(damaged) damaged lines") }
            for event in events {
                if case .gap = event.kind { continue }
                let key = SimulatedJournal.Event(log: event.log, n: event.n, moment: event.moment)
                if !recorded.contains(key) { faults.append("\(event.log) \(event.n) never happened so") }
                if !stored.insert(key).inserted { faults.append("\(event.log) \(event.n) twice") }
            }
        }
        let numbers = stored.map { "\($0.log) \($0.n)" }
        if Set(numbers).count != numbers.count { faults.append("a number with two events") }
        // With a clone, the machine in conflict waits.
        if !hasClone {
            for event in recorded.subtracting(stored).subtracting(excused).sorted(by: { $0.n < $1.n }) {
                faults.append("\(event.log) \(event.n) is missing")
            }
        }
        return faults
    }
}

@Suite struct `The machine against a simulated engine` {
    private static let all: [World.Disaster] = [.backup, .restore, .expireInEngine, .powerLoss, .expireInJournal]

    @Test(arguments: 0..<10)
    func `nothing is lost, repeated or exchanged whatever fails`(block: UInt64) {
        for seed in block * 40..<block * 40 + 40 {
            let faults = faults(seed, Self.all)
            #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(5))")
        }
    }

    @Test(arguments: 0..<5)
    func `two machines with one identity never write a number twice`(block: UInt64) {
        for seed in 20_000 + block * 40..<20_040 + block * 40 {
            let faults = faults(seed, [.clone])
            #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(5))")
        }
    }

    /// The agent is killed after it began a log behind the other machine's message, and before the engine had a chunk
    /// of that log.
    @Test(arguments: [100_363, 100_379, 100_437, 100_671, 100_738, 100_940, 101_263] as [UInt64])
    func `a machine that stopped right after it began another log continues with that log`(seed: UInt64) {
        let faults = faults(seed, [.clone])
        #expect(faults.isEmpty, "\(faults.prefix(5))")
    }

    @Test func `without disasters everything is stored exactly once, and the machine says so`() {
        for seed in 10_000..<10_100 as Range<UInt64> {
            var world = World(seed: seed)
            for _ in 0..<300 { world.step() }
            world.settle()
            #expect(world.faults().isEmpty, "seed \(seed): \(world.faults().prefix(5))")
            let count = world.engine.messages.filter { $0.chunk.mark == nil }.reduce(0) {
                $0 + $1.chunk.events().events.count
            }
            #expect(count == world.recorded.count, "seed \(seed)")
            #expect(world.hosts[0].machine.word == .connected, "seed \(seed)")
            #expect(world.hosts[0].machine.behind == 0, "seed \(seed)")
        }
    }

    private func faults(_ seed: UInt64, _ disasters: [World.Disaster]) -> [String] {
        var world = World(seed: seed, disasters)
        for _ in 0..<300 { world.step() }
        world.settle()
        return world.faults()
    }
}
