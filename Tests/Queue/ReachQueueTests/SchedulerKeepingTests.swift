import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// Storing, restoring, limits, the dead, and why something does not run.
@Suite struct SchedulerKeepingTests {
    private var stage = QueueStage()

    @Test mutating func `nothing is answered, told or sent before it is safe`() throws {
        stage.network([.wired])
        stage.commits = false
        let request = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
        #expect(stage.ask { .add(request, $0) } == nil)
        #expect(stage.events.isEmpty && stage.starts.isEmpty)
        stage.send(.committed(stage.uncommitted[0]))
        #expect(stage.events.map(\.kind) == [.queued])
        #expect(stage.starts.isEmpty)
        stage.send(.committed(stage.uncommitted[1]))
        #expect(stage.starts.count == 1)
        #expect(stage.events.map(\.kind) == [.queued, .started])
        stage.answer(RequestID(rawValue: 1))
        #expect(stage.events.count == 2)
        stage.send(.committed(stage.uncommitted[2]))
        #expect(stage.events.last?.kind == .done)
    }

    @Test mutating func `what happened is reported though what was to be written with it is refused`() throws {
        stage.network([.wired])
        for _ in 0..<2 { try stage.add(when: "wifi") }
        stage.network([.wired, .wifi])
        stage.pass(.seconds(60))
        stage.answer(try #require(stage.startedIDs.last))
        stage.commits = false
        let request = try QueuedRequest(RequestSpecification(url: "https://b.example/"))
        stage.ask { .add(request, $0) }
        stage.network([.wired])
        #expect(!stage.events.contains { $0.kind == .closed })
        stage.send(.notCommitted(try #require(stage.uncommitted.last)))
        #expect(stage.events.contains { $0.kind == .closed } && stage.queue.count == 1)
    }

    @Test mutating func `a request whose time ended while it ran has its whole time when it is sent again`() throws {
        stage.network([.wired])
        let id = try stage.add {
            $0.method = "POST"
            $0.timeToLive = .seconds(60)
        }
        stage.send(.requestSent(id))
        stage.pass(.seconds(61))
        stage.answer(id, 503)
        #expect(stage.state(id) == .dead)
        stage.network([])
        #expect(stage.ask { .retry(id, .root, $0) } == .retried(1))
        stage.pass(.seconds(50))
        #expect(stage.state(id) == .waiting)
        stage.pass(.seconds(11))
        #expect(stage.state(id) == .dead)
    }

    @Test mutating func `the answer that a request of an earlier run died of counts with it`() throws {
        var policy = QueuePolicy()
        policy.dead.bytes = 10_000
        stage = QueueStage(policy)
        var row = try Self.rows([7], at: stage.moment)[0]
        row.state = .dead(.refused, at: stage.moment)
        row.answerBytes = 50_000
        stage.send(.restore([row], breakers: [], heldQueues: []))
        #expect(stage.queue.bytes(of: 7).owner == row.bytesHeld + 40_000)
    }

    @Test mutating func `what was sent when the run ended waits since the restart, the rest since it waits`() throws {
        let added = stage.moment
        var rows = try Self.rows([7, 7], at: added)
        for index in rows.indices { (rows[index].progress.tries, rows[index].progress.waitsSince) = (1, added) }
        rows[0].state = .leased
        stage.elapsed = .seconds(100)
        stage.send(.restore(rows, breakers: [], heldQueues: []))
        stage.network([])
        let since = rows.map { stage.explanation($0.id)?.reasons.first?.since.boot }
        #expect(since == [stage.moment.boot, added.boot])
    }

    @Test mutating func `what is held and released before it is stored is not sent before`() throws {
        stage.network([.wired])
        stage.commits = false
        let request = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
        stage.ask { .add(request, $0) }
        let id = RequestID(rawValue: 1)
        stage.ask { .hold(id, .root, $0) }
        #expect(stage.state(id) == .new)
        stage.ask { .release(id, .root, $0) }
        #expect(stage.state(id) == .new && stage.queue.runningCount == 0)
        stage.commits = true
        for number in stage.uncommitted { stage.send(.committed(number)) }
        #expect(stage.startedIDs == [id])
    }

    @Test mutating func `an end is written before its event is sent`() throws {
        stage.network([.wired])
        stage.answer(try stage.add())
        let last = try #require(stage.transactions.last)
        #expect(last.changes.count == 1 && !last.mayBeRefused)
        guard case .finish(_, .done, let result, _) = last.changes[0] else { throw QueueStage.Refused(reply: nil) }
        #expect(result?.status == 200)
    }

    @Test mutating func `what cannot be stored is refused, and leaves nothing behind`() throws {
        stage.network([.wired])
        stage.commits = false
        var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
        request.specification.orderKey = "o"
        stage.ask { .add(request, $0) }
        stage.ask { .add(request, $0) }
        stage.send(.notCommitted(stage.uncommitted[0]))
        #expect(stage.replies[1] == [.refused(.storage)])
        stage.send(.committed(stage.uncommitted[1]))
        #expect(stage.queue.count == 1)
        // Its lease is refused: it is sent when the disk is back.
        stage.send(.notCommitted(stage.uncommitted[2]))
        stage.send(.degraded(true))
        #expect(stage.queue.runningCount <= 1)
        for number in stage.uncommitted.dropFirst(3) { stage.send(.notCommitted(number)) }
        #expect(stage.queue.runningCount == 0 && stage.starts.isEmpty)
        #expect(stage.blockers(RequestID(rawValue: 2)) == ["disk"])
        #expect(stage.ask { .add(request, $0) } == .refused(.storage))
        stage.commits = true
        stage.send(.degraded(false))
        #expect(stage.starts.map(\.order.number) == [1])
    }

    @Test mutating func `while the disk is full, a change is confirmed when it is written, and not before`() throws {
        let ids = [try stage.add(), try stage.add(), try stage.add()]
        stage.commits = false
        stage.send(.degraded(true))
        #expect(stage.ask { .cancel(ids[0], .root, $0) } == nil)
        // What follows from it waits with it.
        #expect(stage.ask { .cancel(ids[0], .root, $0) } == nil)
        #expect(stage.ask { .hold(ids[1], .root, $0) } == nil)
        #expect(stage.transactions.suffix(2).allSatisfy { $0.isAwaited && !$0.mayBeRefused })
        let written = stage.uncommitted.suffix(2)
        stage.send(.committed(written[written.startIndex]))
        #expect(stage.replies.values.flatMap { $0 }.count { $0 == .alreadyOver } == 1)
        stage.send(.postponed(written[written.startIndex + 1]))
        #expect(stage.replies.values.flatMap { $0 }.count { $0 == .refused(.storage) } == 1)
        // Nothing is begun that cannot be written.
        #expect(stage.ask { .cancel(ids[2], .root, $0) } == .refused(.storage))
        #expect(stage.state(ids[2]) != nil)
        stage.commits = true
        stage.send(.degraded(false))
        #expect(stage.ask { .cancel(ids[2], .root, $0) } == .done)
    }

    @Test mutating func `while a change waits for the disk, a new request is refused at once and not with it`() throws {
        let id = try stage.add()
        stage.commits = false
        stage.send(.degraded(true))
        #expect(stage.ask { .cancel(id, .root, $0) } == nil)
        let number = try #require(stage.uncommitted.last)
        stage.send(.postponed(number))
        let request = try QueuedRequest(RequestSpecification(url: "https://b.example/"))
        #expect(stage.ask { .add(request, $0) } == .refused(.storage))
        #expect(stage.ask { .cancel(id, .root, $0) } == .refused(.storage))
        #expect(stage.transactions.last?.number == number, "nothing more was given to the store")
    }

    @Test mutating func `one user's dead push out no one else's, by number or by bytes`() throws {
        var policy = QueuePolicy()
        policy.dead.count = 3
        policy.dead.bytes = 10_000
        stage = QueueStage(policy)
        stage.network([.wired])
        func die(_ owner: UInt32, _ bytes: Int, at host: Int) throws -> RequestID {
            let id = try stage.add("https://host\(host).example/", by: owner) {
                $0.body = .inline([UInt8](repeating: 0, count: bytes))
            }
            stage.answer(id, 404)
            stage.pass(.seconds(1))
            return id
        }
        let first = try die(7, 10, at: 0)
        let many = try (1...6).map { try die(8, 10, at: $0) }
        #expect(many.map { stage.state($0) == .dead } == [false, false, false, true, true, true])
        #expect(stage.state(first) == .dead)
        let long = try (7...8).map { try die(8, 6000, at: $0) }
        #expect(long.map { stage.state($0) == .dead } == [false, true])
        #expect(many.allSatisfy { stage.state($0) == nil })
        #expect(stage.ask { .retry(first, QueueInput.Client(user: 7), $0) } == .retried(1))
        // A restart counts them again.
        let rows = kept()
        stage = QueueStage(policy)
        stage.send(.restore(rows, breakers: [], heldQueues: []))
        #expect(stage.state(long[1]) == .dead)
    }

    private static func rows(_ owners: [UInt32], at moment: Instant, from first: Int64 = 1) throws -> [StoredRequest] {
        try owners.enumerated().map { number, owner in
            var request = try QueuedRequest(RequestSpecification(url: "https://host\(number).example/"))
            request.owner = owner
            return StoredRequest(
                RequestID(rawValue: first + Int64(number)), request, created: moment,
                deadline: Instant(wall: moment.wall, boot: moment.boot + .seconds(1000)))
        }
    }

    @Test mutating func `requests that are still to be restored count for figures and limits`() throws {
        var policy = QueuePolicy()
        policy.limits.ownerRequests = 4
        stage = QueueStage(policy)
        let rows = try Self.rows([7, 7, 7, 8], at: stage.moment, from: 11)
        let bytes = rows[0].bytesHeld
        stage.send(
            .expectRestored(
                ExpectedRequests(
                    shares: [7: .init(count: 3, bytes: 3 * bytes), 8: .init(count: 2, bytes: 2 * bytes)], total: 5)))
        #expect(stage.queue.count == 5 && stage.queue.count(of: .init(user: 7)) == 3)
        #expect(stage.queue.bytes(of: 7).owner == 3 * bytes && stage.queue.bytes(of: 7).all == 5 * bytes)
        var request = try QueuedRequest(RequestSpecification(url: "https://new.example/"))
        request.owner = 7
        #expect(stage.ask { .add(request, $0) } == .added(RequestID(rawValue: 1)))
        #expect(stage.ask { .add(request, $0) } == .refused(.userLimit))
        stage.send(.restore(Array(rows[..<2]), breakers: [], heldQueues: []))
        #expect(stage.queue.count == 6 && stage.queue.count(of: .init(user: 7)) == 4)
        #expect(stage.ask { .add(request, $0) } == .refused(.userLimit))
        stage.send(.restore(Array(rows[2...]), breakers: [], heldQueues: []))
        #expect(stage.queue.bytes(of: 8).owner == 2 * bytes)
        // The last row of 8 meant nothing.
        stage.send(.allRestored)
        #expect(stage.queue.count == 5 && stage.queue.count(of: .init(user: 8)) == 1)
        #expect(stage.queue.bytes(of: 8).owner == bytes)
    }

    @Test mutating func `a breaker of an earlier run holds requests that are restored after it`() throws {
        let rows = try Self.rows([7, 7, 7], at: stage.moment)
        let breaker = StoredBreaker(
            destination: rows[2].destination, interface: "eth0", owner: 7,
            openUntil: Instant(wall: stage.moment.wall, boot: stage.moment.boot + .seconds(100)), step: 1)
        stage.send(.expectRestored(ExpectedRequests(shares: [7: .init(count: 3, bytes: 0)], total: 3)))
        stage.send(.restore([], breakers: [breaker], heldQueues: []))
        for row in rows { stage.send(.restore([row], breakers: [], heldQueues: [])) }
        stage.send(.allRestored)
        var whole = QueueStage()
        whole.send(.restore(rows, breakers: [breaker], heldQueues: []))
        for seconds in [0, 5] {
            if seconds == 0 {
                stage.network([.wired])
                whole.network([.wired])
            }
            stage.pass(.seconds(seconds))
            whole.pass(.seconds(seconds))
            #expect(stage.startedIDs.sorted() == whole.startedIDs.sorted())
            #expect(stage.blockers(rows[2].id) == whole.blockers(rows[2].id))
        }
    }

    @Test mutating func `a restart does not begin the wait for the network again`() throws {
        let id = try stage.add("https://a.example/", when: "wifi")
        let added = stage.moment.boot
        stage.network([.wired])
        stage.pass(.seconds(3600))
        let rows = kept()
        let elapsed = stage.elapsed
        stage = QueueStage()
        stage.elapsed = elapsed
        stage.send(.restore(rows, breakers: [], heldQueues: []))
        stage.network([.wired])
        stage.pass(.seconds(60))
        let reason = stage.explanation(id)?.reasons.first
        #expect(reason?.blocker == .linkClass && reason?.since.boot == added)
        // A path that was there, and is lost again, begins another wait.
        stage.network([.wifi])
        stage.pass(.milliseconds(100))
        stage.network([.wired])
        let lost = stage.explanation(id)?.reasons.first?.since.boot
        #expect(lost.map { $0 <= stage.moment.boot } == true)
    }

    @Test mutating func `uploads that no request uses count for their user, also for the first request`() throws {
        var policy = QueuePolicy()
        policy.limits.ownerBytes = 10_000
        stage = QueueStage(policy)
        var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"), owner: 7)
        request.specification.body = .inline([UInt8](repeating: 0, count: 12_000))
        #expect(stage.ask { .add(request, $0) } == .refused(.userLimit))
        request.specification.body = .inline([UInt8](repeating: 0, count: 6000))
        stage.queue.reserve(5000, for: 7)
        #expect(stage.ask { .add(request, $0) } == .refused(.userLimit))
        #expect(stage.queue.bytes(of: 7).owner == 5000)
        stage.queue.reserve(-5000, for: 7)
        #expect(stage.ask { .add(request, $0) } == .added(RequestID(rawValue: 1)))
    }

    @Test mutating func `a queue and a user have their limits, and root only the queue's`() throws {
        var policy = QueuePolicy()
        policy.limits.requests = 10
        policy.limits.ownerRequests = 3
        policy.limits.ownerBytes = 10_000
        stage = QueueStage(policy)
        for _ in 0..<3 { try stage.add(by: 7) }
        var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"), owner: 7)
        #expect(stage.ask { .add(request, $0) } == .refused(.userLimit))
        request.owner = 8
        request.specification.body = .inline([UInt8](repeating: 0, count: 6000))
        #expect(stage.ask { .add(request, $0) } == .added(RequestID(rawValue: 4)))
        #expect(stage.ask { .add(request, $0) } == .refused(.userLimit))
        for _ in 0..<6 { try stage.add() }
        request.owner = 0
        #expect(stage.ask { .add(request, $0) } == .refused(.queueFull))
        #expect(stage.ask { .cancel(RequestID(rawValue: 1), .root, $0) } == .done)
        #expect(stage.ask { .add(request, $0) } == .added(RequestID(rawValue: 11)))
    }

    @Test mutating func `a user touches only what is theirs`() throws {
        let id = try stage.add(by: 7)
        let other = QueueInput.Client(user: 8)
        let commands: [(QueueInput.Ticket) -> QueueInput] = [
            { .hold(id, other, $0) }, { .release(id, other, $0) }, { .cancel(id, other, $0) },
            { .retry(id, other, $0) },
        ]
        for command in commands { #expect(stage.ask(command) == .notPermitted) }
        #expect(stage.ask { .holdQueue(other, $0) } == .done)
        stage.network([.wired])
        #expect(stage.startedIDs == [id])
        #expect(stage.ask { .retryAll(nil, other, $0) } == .retried(0))
        #expect(stage.ask { .retry(id, QueueInput.Client(user: 7), $0) } == .notDead)
        #expect(stage.ask { .cancel(RequestID(rawValue: 99), .root, $0) } == .notFound)
    }

    @Test mutating func `a held user's requests wait, and no one else's`() throws {
        stage.network([.wired])
        let owner = QueueInput.Client(user: 7)
        stage.ask { .holdQueue(owner, $0) }
        let held = try stage.add(by: 7)
        let free = try stage.add(by: 8)
        #expect(stage.startedIDs == [free])
        #expect(stage.blockers(held) == ["queue-hold"])
        stage.ask { .releaseQueue(owner, $0) }
        #expect(stage.startedIDs == [free, held])
    }

    @Test mutating func `the fleet's hold and those of users are independent of each other, and outlast a restart`()
        throws
    {
        stage.network([.wired])
        let owner = QueueInput.Client(user: 7)
        #expect(stage.ask { .setFleetHold(true, reason: "rollout\u{7}", $0) } == .done)
        let held = try stage.add(by: 7)
        #expect(stage.blockers(held) == ["fleet-hold"] && stage.state(held) == .held)
        #expect(stage.explanation(held)?.reasons.first?.text.contains("The fleet holds the queue: rollout") == true)
        #expect(stage.explanation(held)?.reasons.first?.text.contains("\u{7}") == false)
        for client in [owner, .root] {
            stage.ask { .releaseQueue(client, $0) }
            #expect(stage.startedIDs.isEmpty)
            stage.ask { .holdQueue(client, $0) }
        }
        #expect(stage.blockers(held) == ["queue-hold", "fleet-hold"])
        #expect(stage.ask { .setFleetHold(false, reason: nil, $0) } == .done)
        #expect(stage.blockers(held) == ["queue-hold"])
        for client in [owner, .root] { stage.ask { .releaseQueue(client, $0) } }
        #expect(stage.startedIDs == [held])
        // Each change is written once, under an owner that no user has.
        let written = stage.transactions.flatMap(\.changes).filter {
            if case .holdQueue(owner: UInt32.max, _) = $0 { true } else { false }
        }
        #expect(written == [.holdQueue(owner: .max, isHeld: true), .holdQueue(owner: .max, isHeld: false)])
        stage = QueueStage()
        stage.send(.restore([], breakers: [], heldQueues: [.max, 7]))
        stage.network([.wired])
        let free = try stage.add(by: 8)
        #expect(stage.blockers(free) == ["fleet-hold"])
        stage.ask { .setFleetHold(true, reason: "again", $0) }
        #expect(stage.explanation(free)?.reasons.first?.text == "The fleet holds the queue: again.")
        stage.ask { .setFleetHold(false, reason: nil, $0) }
        #expect(stage.startedIDs == [free])
    }

    /// What the stage's transactions would have left in the store.
    private func kept() -> [StoredRequest] {
        var rows: [RequestID: StoredRequest] = [:]
        for change in stage.transactions.flatMap(\.changes) {
            switch change {
            case .insert(let stored, _): rows[stored.id] = stored
            case .lease(let id, let attempt, _, _, _):
                rows[id]?.state = .leased
                rows[id]?.progress.tries = attempt
            case .update(let progress):
                rows[progress.id]?.progress = progress
                rows[progress.id]?.state = .waiting
            case .finish(let progress, .dead(let reason), _, let moment):
                rows[progress.id]?.progress = progress
                rows[progress.id]?.state = .dead(reason, at: moment)
            case .finish(let progress, _, _, _): rows[progress.id] = nil
            case .holdRequest(let id, let isHeld): rows[id]?.progress.isHeld = isHeld
            default: break
            }
        }
        return rows.values.sorted { $0.id < $1.id }
    }

    @Test mutating func `after a restart everything is where it was, and what was on its way is sent again or not`()
        throws
    {
        stage.network([.wired])
        let held = try stage.add()
        stage.ask { .hold(held, .root, $0) }
        let late = try stage.add()
        stage.answer(late, 503, headers: ["Retry-After": "100"])
        let dead = try stage.add("https://b.example/")
        stage.answer(dead, 404)
        let running = try stage.add("https://c.example/")
        let indeterminate = try stage.add("https://c.example/") { $0.method = "POST" }
        let rows = kept()
        let before = stage.moment
        stage = QueueStage(seed: 5)
        stage.send(.restore(rows, breakers: [], heldQueues: []))
        #expect(stage.moment == before)
        #expect(stage.queue.count == 3)
        #expect(stage.explanation(dead)?.death == .refused)
        #expect(stage.explanation(indeterminate)?.death == .indeterminate)
        stage.network([.wired])
        #expect(stage.startedIDs == [running])
        #expect(stage.starts[0].order.number == 2)
        #expect(stage.blockers(held) == ["hold"])
        #expect(stage.blockers(late).contains("backoff"))
        stage.pass(.seconds(111))
        #expect(stage.startedIDs == [running, late])
        #expect(try stage.add() == RequestID(rawValue: indeterminate.rawValue + 1))
        #expect(stage.ask { .retry(dead, .root, $0) } == .retried(1))
        #expect(stage.state(dead) == .running)
    }

    @Test mutating func `a hold of what runs and may not be repeated leaves its lease, and lasts through a crash`()
        throws
    {
        stage.network([.wired])
        let id = try stage.add { $0.method = "POST" }
        stage.send(.requestSent(id))
        stage.ask { .hold(id, .root, $0) }
        #expect(stage.state(id) == .running)
        #expect(kept().map(\.state) == [.leased])
        #expect(kept().map(\.progress.isHeld) == [true])
        stage.ask { .release(id, .root, $0) }
        #expect(kept().map(\.state) == [.leased])
        #expect(kept().map(\.progress.isHeld) == [false])
        stage.ask { .hold(id, .root, $0) }
        let rows = kept()
        stage = QueueStage(seed: 5)
        stage.send(.restore(rows, breakers: [], heldQueues: []))
        stage.network([.wired])
        #expect(stage.explanation(id)?.death == .indeterminate)
        stage.ask { .retry(id, .root, $0) }
        #expect(stage.state(id) == .held)
        #expect(stage.starts.isEmpty)
    }

    @Test mutating func `after a clock that was wrong, no wait and no life is longer than it may be`() throws {
        let now = stage.moment
        func ahead(_ seconds: Double) -> Instant {
            Instant(wall: now.wall, boot: BootTime(nanoseconds: now.boot.nanoseconds + Int64(seconds * 1e9)))
        }
        let request = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
        var row = StoredRequest(
            RequestID(rawValue: 1), request, created: ahead(1e6), deadline: ahead(1e6 + 1000))
        row.progress.notBefore = ahead(1e6)
        stage.send(.restore([row], breakers: [], heldQueues: [0]))
        stage.network([.wired])
        #expect(stage.blockers(row.id) == ["queue-hold", "backoff"])
        stage.ask { .releaseQueue(.root, $0) }
        stage.pass(.seconds(300))
        #expect(stage.startedIDs == [row.id])
        stage.answer(row.id, 503, headers: ["Retry-After": "701"])
        #expect(stage.explanation(row.id)?.death == .expired)
    }

    @Test mutating func `the dead are kept for a week, a thousand at most, and forgotten without being asked`() throws {
        var policy = QueuePolicy()
        policy.dead.count = 3
        stage = QueueStage(policy)
        stage.network([.wired])
        var ids: [RequestID] = []
        for _ in 0..<5 {
            let id = try stage.add()
            ids.append(id)
            stage.answer(id, 404)
            stage.pass(.seconds(1))
        }
        #expect(ids.map { stage.state($0) } == [nil, nil, .dead, .dead, .dead])
        #expect(stage.ask { .cancel(ids[0], .root, $0) } == .alreadyOver)
        stage.pass(.seconds(7 * 86_400))
        let last = try stage.add()
        #expect(ids.allSatisfy { stage.state($0) == nil })
        let purged = stage.transactions.flatMap(\.changes).reduce(into: Set<RequestID>()) {
            if case .purge(let gone) = $1 { $0.formUnion(gone) }
        }
        #expect(purged == Set(ids))
        #expect(stage.state(last) == .running)
    }

    @Test mutating func `what is over is forgotten when that is asked for, and nothing that is not`() throws {
        stage.network([.wired])
        let client = QueueInput.Client(user: 7)
        let done = try stage.add(by: 7)
        stage.answer(done)
        let dead = try stage.add(by: 7)
        stage.answer(dead, 404)
        let running = try stage.add(by: 7)
        #expect(stage.ask { .forget(running, client, $0) } == .notDead)
        #expect(stage.ask { .forget(dead, QueueInput.Client(user: 8), $0) } == .notPermitted)
        // Whose it was is not known any more.
        #expect(stage.ask { .forget(done, client, $0) } == .notPermitted)
        for id in [dead, done] { #expect(stage.ask { .forget(id, .root, $0) } == .done) }
        #expect(stage.state(dead) == nil && stage.state(running) == .running)
        let purged = stage.transactions.flatMap(\.changes).reduce(into: [RequestID]()) {
            if case .purge(let gone) = $1 { $0 += gone }
        }
        #expect(purged == [dead, done])
    }

    @Test mutating func `a revived request joins its order again`() throws {
        stage.network([.wired])
        let first = try stage.add { $0.orderKey = "o" }
        stage.answer(first, 404)
        let second = try stage.add { $0.orderKey = "o" }
        stage.ask { .retry(first, .root, $0) }
        #expect(stage.startedIDs == [first, second])
        #expect(stage.blockers(first).contains("order"))
        stage.answer(second)
        #expect(stage.startedIDs == [first, second, first])
    }

    @Test mutating func `while no path is there nothing wakes it, however many wait`() throws {
        var policy = QueuePolicy()
        policy.limits.requests = 100_000
        policy.limits.bytes = 1 << 40
        policy.timeToLive = .seconds(10 * 86_400)
        stage = QueueStage(policy)
        stage.network([.wired])
        for number in 0..<50 {
            let id = try stage.add("https://host\(number).example/")
            stage.fail(id, .localNetwork)
        }
        for _ in 0..<2000 { try stage.add() }
        stage.network([])
        #expect(stage.pass(.seconds(5)) <= 1)
        #expect(stage.pass(.seconds(5 * 86_400)) == 0)
    }

    @Test mutating func `an answer to why names everything that is in the way, and what would help`() throws {
        stage.network([.wwan.with { $0.isValidated = false }])
        stage.pass(.seconds(100))
        let id = try stage.add(when: "unmetered, validated")
        stage.pass(.seconds(180))
        stage.ask { .hold(id, .root, $0) }
        let explanation = try #require(stage.explanation(id))
        #expect(explanation.state == .held)
        #expect(
            explanation.reasons.map(\.text) == [
                "A user holds it.", "Only metered connections are available.",
                "No path is proved to reach the Internet.",
            ])
        #expect(explanation.reasons[0].remedy == "It continues when it is released.")
        #expect(stage.elapsed(at: explanation.reasons[0].since.boot) == .seconds(280))
        #expect(stage.elapsed(at: explanation.reasons[1].since.boot) == .seconds(100))
        stage.ask { .release(id, .root, $0) }
        stage.network([.wifi])
        let settling = try #require(stage.explanation(id)?.reasons.first)
        #expect(settling.text == "'unmetered, validated' has held only for a moment.")
        #expect(settling.remedy == "It may start in 200 ms, if that lasts.")
        stage.pass(.seconds(25))
        #expect(stage.explanation(id)?.state == .running)
        #expect(stage.explanation(id)?.reasons == [])
        #expect(stage.explanation(id)?.path == .wifi)
    }

    @Test mutating func `an event is one line with its stable words`() throws {
        stage.network([.wwan])
        let id = try stage.add(when: "wifi", by: 7)
        let waiting = try #require(stage.events.last)
        #expect(waiting.kind == .waiting && waiting.request == id)
        #expect(waiting.epoch == 2 && waiting.owner == 7 && waiting.blockers.words == ["class"])
    }
}
