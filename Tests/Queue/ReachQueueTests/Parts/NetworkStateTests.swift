import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct NetworkStateTests {
    private var network = NetworkState(FixedPolicy(QueuePolicy(), seed: 1), at: .at(0))

    private mutating func update(_ paths: [QueuePath], epoch: UInt64, at seconds: Int64) -> (Bool, Bool) {
        let result = network.update(PathSet(paths, epoch: epoch, links: [2]), at: .at(Double(seconds)))
        return (result.isNewEpoch, result.isNewNetwork)
    }

    @Test mutating func `an unknown network counts as an outage after a while`() {
        #expect(network.firstLookEnds == .at(0) + QueuePolicy().paths.firstLook && !network.hasLinks)
        network.giveUpWaiting()
        #expect(network.firstLookEnds == nil && network.hasGivenUpWaiting)
    }

    @Test mutating func `the first paths are no change, later ones are`() {
        #expect(update([.wired], epoch: 1, at: 1) == (true, true))
        #expect(network.changed == nil && network.epoch == 1 && network.hasLinks)
        #expect(update([.wired], epoch: 1, at: 2) == (false, false) && network.changed == nil)
        #expect(update([.wired, .wifi], epoch: 1, at: 3) == (false, false) && network.changed == .at(3))
        #expect(update([.wired, .wifi], epoch: 2, at: 4) == (true, true) && network.changed == .at(4))
    }

    @Test mutating func `what was proved of a path is forgotten with it, and with its address`() {
        #expect(network.prove(2) == false)
        _ = update([.wired], epoch: 1, at: 1)
        #expect(network.prove(2) && network.isProved(.wired) && !network.isProved(.wifi) && !network.isProved(nil))
        _ = update([QueuePath.wired.with { $0.sources = [IPAddress(ipv4: 0xC000_0263)] }], epoch: 1, at: 2)
        #expect(!network.isProved(.wired))
        #expect(network.prove(2) == true)
        _ = update([], epoch: 2, at: 3)
        _ = update([.wired], epoch: 3, at: 4)
        #expect(!network.isProved(.wired))
    }

    @Test mutating func `a probe proves a path that was not validated`() {
        _ = update([QueuePath.wired.with { $0.isValidated = false }], epoch: 1, at: 1)
        #expect(!network.isProved(.wired))
        _ = update([.wired], epoch: 1, at: 2)
        #expect(network.isProved(.wired))
    }

    @Test mutating func `a silent path is passed over until its time, and in another network no longer`() throws {
        let paths = [QueuePath.wired, .wifi].map { $0.with { $0.isValidated = false } }
        let host = try Destination(url: "https://a.example/")
        _ = update(paths, epoch: 1, at: 1)
        #expect(network.prove(2) && network.offered(at: .at(1)) == paths && network.silenceEnds == nil)
        #expect(network.endSilence(at: .at(1)) == false)
        #expect(network.note(silenceOf: host, by: paths[0], at: .at(2)) == true)
        #expect(network.silenceEnds == .at(62) && !network.isProved(paths[0]))
        #expect(network.offered(at: .at(3)).map(\.isPassedOver) == [true, false])
        #expect(network.endSilence(at: .at(61)) == false && network.silenceEnds == .at(62))
        #expect(network.endSilence(at: .at(62)) == true && network.silenceEnds == nil)
        #expect(network.offered(at: .at(62)).map(\.isPassedOver) == [false, false])
        #expect(network.note(silenceOf: host, by: paths[0], at: .at(70)) == true && network.silenceEnds == .at(130))
        _ = update(paths, epoch: 2, at: 71)
        #expect(network.silenceEnds == nil && network.offered(at: .at(71)) == paths)
    }

    @Test mutating func `silence says nothing of the only path, beside a tunnel, or where checks have found something`()
        throws
    {
        let host = try Destination(url: "https://a.example/")
        let unproved = QueuePath.wired.with { $0.isValidated = false }
        let sets = [
            PathSet([unproved], epoch: 1), PathSet([unproved, .wifi], epoch: 2, tunnels: ["eth0"]),
            PathSet([.wired, .wifi], epoch: 3), PathSet([unproved.with { $0.isDoubted = true }, .wifi], epoch: 4),
            PathSet([.wifi, .wwan], epoch: 5),
        ]
        for set in sets {
            _ = network.update(set, at: .at(1))
            #expect(network.note(silenceOf: host, by: unproved, at: .at(2)) == false, "\(set.epoch)")
        }
        _ = network.update(PathSet([unproved, .wifi], epoch: 6), at: .at(1))
        #expect(network.note(silenceOf: host, by: unproved, at: .at(2)) == true)
    }

    @Test mutating func `a small or resumable body never waits for a longer window`() {
        // Each window and each gap outlasts what attempts outlive.
        for step in 0...8 { _ = update(step % 2 == 0 ? [.wired] : [], epoch: 1, at: Int64(step) * 60) }
        let now = BootTime.at(481)
        var large = QueueEntry.test(RequestID(rawValue: 1), bytes: 10 << 20, since: .at(0))
        network.interrupted(large, by: .wired, at: .at(200))
        let slot = Slot(rawValue: 0)
        #expect(network.windowWait(slot, large, by: .wired, at: now) != nil)
        #expect(network.windowWait(slot, large, by: nil, at: now) == nil)
        large.flags.insert(.resumable)
        #expect(network.windowWait(slot, large, by: .wired, at: now) == nil)
        let small = QueueEntry.test(RequestID(rawValue: 2), bytes: 1000)
        #expect(network.windowWait(slot, small, by: .wired, at: now) == nil)
        #expect(network.holdBack(slot, at: .at(9)) && !network.holdBack(slot, at: .at(10)))
    }
}

@Suite struct StoreStateTests {
    private var store = StoreState(at: .at(0))
    private var turn = Turn(at: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: .at(1)), SplitMix64(seed: 1))

    private func event(_ kind: QueueEvent.Kind) -> QueueEvent { QueueEvent(kind, at: turn.moment, epoch: 1) }

    /// Ends the turn.
    private mutating func end() -> (transactions: [StoreTransaction], replies: Int, events: Int) {
        let actions = store.actions(of: turn.end())
        let transactions = actions.compactMap { if case .store(let transaction) = $0 { transaction } else { nil } }
        return (
            transactions, actions.count { if case .reply = $0 { true } else { false } },
            actions.count { if case .publish = $0 { true } else { false } }
        )
    }

    @Test mutating func `without a change everything is reported at once`() {
        turn.events = [event(.opened)]
        turn.replies = [PendingReply(ticket: 1, reply: .done)]
        let output = end()
        #expect(output.transactions.isEmpty && output.replies == 1 && output.events == 1)
    }

    @Test mutating func `what follows from a change waits for it, also in later turns`() throws {
        turn.changes = [.purge([RequestID(rawValue: 1)])]
        turn.events = [event(.closed)]
        turn.replies = [PendingReply(ticket: 1, reply: .done)]
        let output = end()
        let number = try #require(output.transactions.first?.number)
        #expect(output.replies == 0 && output.events == 0 && output.transactions.first?.isAwaited == true)
        turn.events = [event(.opened)]
        turn.replies = [PendingReply(ticket: 2, reply: .done)]
        let later = end()
        #expect(later.replies == 0 && later.events == 0)
        let write = store.remove(number)
        #expect(write?.events.map(\.kind) == [.closed, .opened] && write?.replies.map(\.ticket) == [1, 2])
        #expect(store.remove(number) == nil)
    }

    @Test mutating func `a transaction that the disk refuses for long keeps no client waiting`() throws {
        turn.changes = [.purge([RequestID(rawValue: 1)])]
        turn.replies = [PendingReply(ticket: 1, reply: .done)]
        let output = end()
        let number = try #require(output.transactions.first?.number)
        #expect(store.postpone(number).map(\.ticket) == [1] && store.isStuck && store.postpone(number).isEmpty)
        turn.replies = [PendingReply(ticket: 2, reply: .done)]
        #expect(end().replies == 1)
        store.setDegraded(false, at: .at(2))
        #expect(!store.isStuck && !store.isDegraded && store.since == .at(0))
    }

    @Test mutating func `a client joins the insertion of a request that is being stored`() throws {
        let slot = Slot(rawValue: 4)
        turn.refusable = [.purge([RequestID(rawValue: 1)])]
        turn.inserted = [slot]
        let output = end()
        let number = try #require(output.transactions.first?.number)
        let reply = PendingReply(ticket: 9, reply: .kept(RequestID(rawValue: 1)), insertion: RequestID(rawValue: 1))
        #expect(store.append(reply, toInsertionOf: slot) && !store.append(reply, toInsertionOf: Slot(rawValue: 5)))
        #expect(store.remove(number)?.replies.map(\.ticket) == [9])
    }
}
