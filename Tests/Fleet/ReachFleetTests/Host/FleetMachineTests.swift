import ReachCore
import ReachFleet
import Testing

/// What a host sends, and when, step by step.
@Suite struct FleetMachineTests {
    @Test func `a host that starts sends what the engine lacks, and then its state`() {
        var agent = SingleAgent()
        #expect(agent.handle(.state(SingleAgent.report)) == [])
        #expect(agent.handle(.start) == ["connect"])
        #expect(agent.handle(.start) == [])
        #expect(agent.handle(.connected(.init(start: "s"))) == ["read lease", "tail", "connected"])
        #expect(agent.handle(.lease(.none)) == ["lease"])
        #expect(agent.handle(.connected(.init(start: "s"))) == [])
        #expect(agent.machine.figures.reconnects == 1)
        #expect(agent.tail(.none) == ["open"])
        let asked = agent.request
        #expect(agent.journal(SingleAgent.page(1...2)) == ["remember l 0 at 0", "publish l 1-2 behind 0"])
        #expect(agent.machine.behind == 2 && agent.request > asked)
        #expect(
            agent.published(.stored(sequence: 5, isDuplicate: false)) == ["remember l 2 at 5", "state"])
        #expect(agent.machine.behind == 0 && agent.machine.figures.acknowledged == 2)
        #expect(agent.memory == FleetMemory(host: "till-1", log: "l", n: 2, sequence: 5))
        #expect(agent.journal(SingleAgent.page(3...3)) == ["publish l 3-3 behind 5"])
    }

    @Test func `the state has what the machine knows itself`() {
        var agent = SingleAgent.settled(n: 3)
        agent.pass(5)
        #expect(agent.handle(.applied(9)) == [])
        #expect(agent.handle(.state(SingleAgent.report)) == ["state"])
        var expected = SingleAgent.report
        (expected.written, expected.boot, expected.lease) = (agent.now, "b", .seconds(30))
        (expected.log, expected.n, expected.desired) = ("l", 3, 9)
        #expect(agent.state == expected)
    }

    @Test func `a state that nothing new is in is not written again, and a new one at most every two seconds`() {
        var agent = SingleAgent.settled { $0.lease = .seconds(120) }
        #expect(agent.handle(.state(SingleAgent.report)) == ["state"])
        // One at a time.
        #expect(agent.handle(.applied(1)) == [])
        agent.pass(5)
        #expect(agent.handle(.tick) == [])
        #expect(agent.handle(.stateStored(true)) == ["state"])
        #expect(agent.handle(.stateStored(true)) == [])
        agent.pass(1)
        #expect(agent.handle(.applied(2)) == [])
        #expect(agent.wait == .seconds(1))
        #expect(agent.handle(.applied(3)) == [])
        #expect(agent.tickAtDeadline() == ["state"] && agent.state?.desired == 3)
        #expect(agent.handle(.stateStored(true)) == [])
        agent.pass(60)
        #expect(agent.handle(.tick) == [] && agent.handle(.state(SingleAgent.report)) == [])
    }

    @Test func `a state that was not stored is written again after a while`() {
        var agent = SingleAgent.settled()
        _ = agent.handle(.state(SingleAgent.report))
        #expect(agent.handle(.stateStored(false)) == [])
        #expect(agent.wait == .seconds(10))
        #expect(agent.tickAtDeadline() == ["state"])
    }

    @Test func `a host whose stream does not answer writes its state all the same, and reads again later`() {
        var agent = SingleAgent()
        _ = agent.handle(.state(SingleAgent.report))
        _ = agent.connect()
        #expect(agent.tail(.unavailable) == ["state", "no-stream"])
        #expect(agent.state?.log == nil && agent.state?.n == 0)
        _ = agent.handle(.stateStored(true))
        _ = agent.handle(.leaseStored(true))
        #expect(agent.tickAtDeadline() == ["tail"])
        #expect(agent.tail(.none) == ["open", "connected"])
    }

    @Test func `a refusal of the stream is waited out for longer, and ends by an answer`() {
        var agent = SingleAgent()
        _ = agent.connect()
        _ = agent.handle(.leaseStored(true))
        #expect(agent.tail(.refused) == ["refused"])
        #expect(agent.wait == .seconds(30), "the next lease is due before")
        agent.pass(301)
        #expect(agent.handle(.tick) == ["tail", "lease"])
        #expect(agent.tail(.none) == ["open", "connected"])
    }

    // MARK: - Leases

    @Test func `a renewed lease says since when the host is connected, and what the engine has`() {
        var agent = SingleAgent.settled(n: 3)
        let connected = agent.now.wall
        #expect(agent.wait == .seconds(30))
        #expect(agent.tickAtDeadline() == ["lease"])
        #expect(
            agent.lease == HostLease(boot: "b", n: 3, since: connected, behind: 0, server: "s", period: .seconds(30)))
        #expect(agent.wait == .seconds(10))
        #expect(agent.handle(.leaseStored(true)) == [])
        #expect(agent.wait == .seconds(30))
    }

    @Test func `a second lease waits for the answer to the first, which is not awaited for longer therefore`() {
        var agent = SingleAgent()
        _ = agent.connect()
        agent.pass(5)
        #expect(agent.handle(.path(exists: true, isMetered: false, epoch: 1)) == [])
        agent.pass(5)
        #expect(agent.handle(.tick) == ["close", "disconnect", "engine-down"])
    }

    @Test func `a change of the path tries the connection by a lease, and the same path does not`() {
        var agent = SingleAgent.settled()
        #expect(agent.handle(.path(exists: true, isMetered: false, epoch: 0)) == [])
        #expect(agent.handle(.path(exists: true, isMetered: false, epoch: 1)) == ["lease"])
        #expect(agent.handle(.leaseStored(true)) == [])
        #expect(agent.handle(.path(exists: true, isMetered: true, epoch: 1)) == ["lease"])
    }

    @Test func `over a metered path the lease is renewed less often, which the state says`() {
        var agent = SingleAgent.settled()
        _ = agent.handle(.path(exists: true, isMetered: true, epoch: 1))
        #expect(agent.handle(.leaseStored(true)) == [] && agent.wait == .seconds(600))
        #expect(agent.handle(.state(SingleAgent.report)) == ["state"] && agent.state?.lease == .seconds(600))
    }

    @Test func `a lease that is refused is tried again, and one that the store has no room for is said`() {
        var agent = SingleAgent.settled()
        _ = agent.tickAtDeadline()
        #expect(agent.handle(.leaseStored(false)) == [] && agent.wait == .seconds(10))
        #expect(agent.tickAtDeadline() == ["lease"])
        #expect(agent.handle(.leaseFull) == ["store-full"] && agent.wait == .seconds(10))
        #expect(agent.tickAtDeadline() == ["lease"])
        #expect(agent.handle(.leaseStored(false)) == [])
        #expect(agent.tickAtDeadline() == ["lease"])
        #expect(agent.handle(.leaseStored(true)) == ["connected"])
    }

    // MARK: - Words and events that wait

    @Test func `a host is behind while the journal has many events that were not read`() {
        var agent = SingleAgent()
        _ = agent.connect()
        _ = agent.tail(.none)
        #expect(agent.journal(SingleAgent.page(newest: 300, isComplete: false)) == ["behind"])
        #expect(agent.machine.behind == 300)
        #expect(agent.journal(SingleAgent.page(newest: 300)) == ["connected"])
        // A few are no word.
        #expect(agent.journal(SingleAgent.page(newest: 301, isComplete: false)) == ["behind"])
    }

    @Test func `with many events waiting the state goes first, and they follow at once`() {
        var agent = SingleAgent()
        _ = agent.handle(.state(SingleAgent.report))
        _ = agent.connect()
        _ = agent.tail(.none)
        #expect(
            agent.journal(SingleAgent.page(1...10, newest: 300))
                == ["state", "remember l 0 at 0", "publish l 1-10 behind 0", "behind"])
        #expect(agent.state?.outbox.behind == 300 && agent.state?.outbox.oldest == SingleAgent.moment.wall)
    }

    @Test func `over a metered path events may wait while state and lease are written`() {
        var agent = SingleAgent.settled { $0.metered = .state }
        _ = agent.handle(.path(exists: true, isMetered: true, epoch: 1))
        #expect(agent.journal(SingleAgent.page(2...2)) == ["behind"])
        #expect(agent.handle(.state(SingleAgent.report)) == ["state"])
        #expect(agent.state?.outbox.behind == 1 && agent.state?.n == 1)
        _ = agent.handle(.leaseStored(true))
        #expect(
            agent.handle(.path(exists: true, isMetered: false, epoch: 2))
                == ["publish l 2-2 behind 5", "lease", "connected"])
    }

    @Test func `without a daemon or a journal the word says so, and the state goes all the same`() {
        var agent = SingleAgent()
        _ = agent.connect()
        _ = agent.tail(.none)
        #expect(agent.handle(.daemon(isThere: false)) == ["no-daemon"])
        #expect(agent.handle(.daemon(isThere: true)) == ["connected"])
        #expect(agent.handle(.state(SingleAgent.report)) == [])
        #expect(agent.handle(.noJournal) == ["state", "no-journal"])
        #expect(agent.handle(.daemon(isThere: true)) == ["connected"])
    }

    @Test func `a server that answers and does not store is named after three chunks without an answer`() {
        var agent = SingleAgent { $0.lease = .seconds(120) }
        _ = agent.connect()
        _ = agent.handle(.leaseStored(true))
        _ = agent.tail(.none)
        for round in 1...4 {
            _ = agent.journal(SingleAgent.page(1...1))
            #expect(agent.tickAtDeadline() == (round == 3 ? ["tail", "not-stored"] : ["tail"]))
            #expect(agent.tail(.none) == ["mark"])
            #expect(agent.mark(.none) == ["open"])
        }
        _ = agent.journal(SingleAgent.page(1...1))
        #expect(agent.published(.stored(sequence: 1, isDuplicate: false)) == ["remember l 1 at 1", "connected"])
    }

    @Test func `a full stream is waited out, and what it refused goes again`() {
        var agent = SingleAgent.settled()
        _ = agent.journal(SingleAgent.page(2...2))
        #expect(agent.published(.full) == ["full"])
        #expect(agent.tickAtDeadline() == ["tail"])
        #expect(
            agent.tail(.message(sequence: 5, SingleAgent.chunk(1...1))) == ["publish l 2-2 behind 5"])
        #expect(agent.published(.stored(sequence: 6, isDuplicate: false)) == ["remember l 2 at 6", "connected"])
    }

    @Test func `a chunk that is too large goes in smaller ones`() {
        var agent = SingleAgent.settled()
        #expect(agent.journal(SingleAgent.page(2...33)) == ["publish l 2-33 behind 5"])
        #expect(agent.published(.tooLarge) == ["publish l 2-17 behind 5"])
        #expect(agent.published(.tooLarge) == ["publish l 2-9 behind 5"])
        #expect(
            agent.published(.stored(sequence: 6, isDuplicate: false)) == [
                "remember l 9 at 6", "publish l 10-33 behind 6",
            ])
    }

    @Test func `an answer that was lost is found in the tail, and counted once`() {
        var agent = SingleAgent.settled()
        _ = agent.journal(SingleAgent.page(2...2))
        _ = agent.handle(.leaseStored(true))
        var sent = SingleAgent.chunk(2...2)
        sent.sent = agent.now
        #expect(agent.tickAtDeadline() == ["tail"])
        #expect(agent.tail(.message(sequence: 8, sent)) == ["remember l 2 at 8"])
        #expect(agent.machine.figures.duplicates == 1 && agent.machine.behind == 0)
        #expect(agent.journal(SingleAgent.page(3...3)) == ["publish l 3-3 behind 8"])
    }

    @Test func `an answer to an earlier request says nothing`() {
        var agent = SingleAgent()
        _ = agent.connect()
        let first = agent.request
        _ = agent.handle(.disconnected(.unreachable))
        _ = agent.tickAtDeadline()
        _ = agent.handle(.connected(.init()))
        #expect(agent.request != first)
        #expect(agent.handle(.tail(first, .none)) == [] && agent.handle(.mark(first, .none)) == [])
        #expect(agent.handle(.published(first, .full)) == [])
        #expect(agent.tail(.none) == ["open"])
    }

    @Test func `a replica that is late is asked again, at first soon and then less often`() {
        var agent = SingleAgent.settled()
        _ = agent.journal(SingleAgent.page(2...2))
        #expect(agent.published(.wrongTail(last: 9)) == ["tail"])
        var waits: [Duration?] = []
        while agent.tail(.message(sequence: 5, SingleAgent.chunk(1...1))) == [] {
            waits.append(agent.wait)
            #expect(agent.tickAtDeadline() == ["tail"])
        }
        #expect(waits == [100, 200, 400, 800, 1600, 3200, 3200, 3200].map { .milliseconds($0) })
    }

    // MARK: - What the engine has

    @Test func `an engine that lost the events says by its mark what it once had`() {
        let memory = FleetMemory(host: "till-1", log: "l", n: 7, sequence: 3)
        for (answer, actions) in [
            (.had(JournalCursor(log: "l", n: 4)), ["remember l 4 at 0", "open l 4"]),
            (.had(JournalCursor(log: "l", n: 9)), ["remember l 7 at 0", "open l 7"]),
            (.had(JournalCursor(log: "other", n: 4)), ["open"]), (.none, ["open"]), (.unavailable, ["no-stream"]),
        ] as [(FleetMachine.MarkAnswer, [String])] {
            var agent = SingleAgent(memory: memory)
            _ = agent.connect()
            #expect(agent.tail(.none) == ["mark"])
            #expect(agent.mark(answer) == actions)
        }
        var silent = SingleAgent(memory: memory)
        _ = silent.connect()
        _ = silent.handle(.leaseStored(true))
        _ = silent.tail(.none)
        #expect(silent.tickAtDeadline() == ["no-stream"])
        // What another host remembers is nothing.
        var other = SingleAgent(memory: FleetMemory(host: "till-2", log: "l", n: 7, sequence: 3))
        _ = other.connect()
        #expect(other.tail(.none) == ["open"])
    }

    @Test func `a tail that the journal has too is what the engine has`() {
        var agent = SingleAgent()
        _ = agent.connect()
        #expect(agent.tail(.message(sequence: 9, SingleAgent.chunk(1...3))) == ["open l 2"])
        #expect(
            agent.journal(SingleAgent.page(3...4)) == ["remember l 3 at 9", "publish l 4-4 behind 9"])
    }

    @Test func `a journal that ends with the tail has nothing new for the engine`() {
        var agent = SingleAgent()
        _ = agent.connect()
        _ = agent.tail(.message(sequence: 9, SingleAgent.chunk(1...3)))
        #expect(agent.journal(SingleAgent.page(newest: 3)) == ["remember l 3 at 9"])
        #expect(agent.journal(SingleAgent.page(4...4)) == ["publish l 4-4 behind 9"])
    }

    @Test func `another event under the tail's number is another machine's, and another log is begun`() {
        var agent = SingleAgent()
        _ = agent.connect()
        _ = agent.tail(.message(sequence: 9, SingleAgent.chunk(1...3)))
        let other = Instant(wall: SingleAgent.moment.wall, boot: BootTime(nanoseconds: 1))
        let page = EntryPage(
            [SingleAgent.entry(3, other)], newest: JournalCursor(log: "l", n: 3), isComplete: true)
        #expect(agent.journal(page) == ["open beyond l"])
        let start = JournalEntry(gap: "log", log: "m", first: 0, last: 0, boot: "b", moment: SingleAgent.moment)
        let begun = EntryPage(
            [start, SingleAgent.entry(1, log: "m")], newest: JournalCursor(log: "m", n: 1), isComplete: true)
        #expect(agent.journal(begun) == ["remember m 0 at 9", "publish m 1-1 behind 9"])
    }

    @Test func `a journal that ends before the tail is asked for another log once, and then it is a conflict`() {
        var agent = SingleAgent()
        _ = agent.connect()
        #expect(agent.tail(.message(sequence: 9, SingleAgent.chunk(1...9))) == ["open l 8"])
        #expect(agent.journal(SingleAgent.page(newest: 3)) == ["open beyond l"])
        #expect(agent.journal(SingleAgent.page(newest: 3)) == ["conflict"])
    }

    @Test func `what follows in the log that a journal did not leave is sent behind another machine's message`() {
        var agent = SingleAgent(memory: FleetMemory(host: "till-1", log: "l", n: 4, sequence: 3))
        _ = agent.connect()
        #expect(agent.tail(.message(sequence: 9, SingleAgent.chunk(1...2, log: "z"))) == ["open z 1"])
        #expect(agent.journal(SingleAgent.page(1...4)) == ["open beyond l"])
        #expect(agent.journal(SingleAgent.page(newest: 4)) == [])
        #expect(agent.journal(SingleAgent.page(5...5)) == ["publish l 5-5 behind 9"])
    }

    @Test func `another machine's message behind this one's is a conflict, until a long pause is over`() {
        for foreign in [
            FleetMachine.TailAnswer.message(sequence: 9, SingleAgent.chunk(1...1, log: "z")), .foreign(sequence: 9),
        ] {
            var agent = SingleAgent.settled()
            _ = agent.journal(SingleAgent.page(2...2))
            _ = agent.published(.wrongTail(last: 9))
            var actions = agent.tail(foreign)
            if actions == ["open z 0"] { actions = agent.journal(SingleAgent.page(1...2)) }
            #expect(actions == ["conflict"])
            agent.pass(3599)
            _ = agent.handle(.tick)
            _ = agent.handle(.leaseStored(true))
            agent.pass(1)
            #expect(agent.handle(.tick) == ["tail"])
            #expect(agent.tail(foreign) == (foreign == .foreign(sequence: 9) ? ["open l 1"] : ["open beyond l"]))
        }
    }

    // MARK: - The end

    @Test func `a goodbye deletes the lease, says so in the state, and is the last`() {
        var agent = SingleAgent.settled()
        _ = agent.handle(.state(SingleAgent.report))
        #expect(agent.handle(.stop) == ["no lease", "state", "close", "disconnect", "left"])
        #expect(agent.state?.left == agent.now.wall && agent.wait == nil)
        #expect(agent.handle(.start) == [] && agent.handle(.connected(.init())) == [])
        var offline = SingleAgent()
        #expect(offline.handle(.stop) == ["close", "disconnect", "left"])
    }

    @Test func `what is kept for the next run comes back from its bytes`() throws {
        let memory = FleetMemory(host: "till-1", log: "l", n: 7, sequence: 3)
        #expect(try FleetMemory(memory.bytes) == memory)
        #expect(
            String(decoding: memory.bytes, as: UTF8.self)
                == #"{"v":1,"host":"till-1","log":"l","n":7,"sequence":3}"# + "\n")
        for key in ["host", "log", "n", "sequence"] {
            let text = String(decoding: memory.bytes, as: UTF8.self)
            let without = text.split(separator: "\"\(key)\":").joined(separator: "\"x\":")
            #expect(throws: WireError.badKey(key)) { try FleetMemory(Array(without.utf8)) }
        }
    }
}
