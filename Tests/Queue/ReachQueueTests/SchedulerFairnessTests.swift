import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// How many start, in which order, how fast.
@Suite struct SchedulerFairnessTests {
    private var stage = QueueStage()

    /// Runs everything that starts to its end after `length`, until nothing starts for a minute.
    private mutating func serve(_ length: Duration, limit: Duration, status: Int = 200) -> [(
        at: Duration, running: Int
    )] {
        var (served, seen): (Set<Int>, [(Duration, Int)]) = ([], [])
        let end = stage.elapsed + limit
        var due: [(Duration, RequestID)] = []
        var known = stage.starts.count
        while stage.elapsed < end {
            for index in known..<stage.starts.count {
                due.append((stage.starts[index].at + length, stage.starts[index].order.id))
                seen.append((stage.starts[index].at, stage.queue.runningCount))
                served.insert(index)
            }
            known = stage.starts.count
            let next = [due.first?.0, stage.queue.deadline.map(stage.elapsed(at:))].compactMap(\.self).min() ?? end
            stage.pass(max(min(next, end) - stage.elapsed, .zero))
            while let first = due.first, first.0 <= stage.elapsed {
                due.removeFirst()
                stage.answer(first.1, status)
            }
        }
        return seen
    }

    @Test mutating func `after ten minutes a thousand come back at their time, apart, and slowly`() throws {
        stage.network([.wired])
        stage.network([])
        for _ in 0..<1000 { try stage.add() }
        stage.pass(.seconds(600))
        let back = stage.elapsed
        stage.network([.wired])
        let starts = serve(.milliseconds(150), limit: .seconds(200))
        #expect(starts.count == 1000)
        #expect(starts[0].at >= back + .seconds(1) && starts[0].at <= back + .seconds(61.1))
        for (earlier, later) in zip(starts, starts.dropFirst()) { #expect(later.at - earlier.at >= .milliseconds(25)) }
        #expect(starts.allSatisfy { $0.running <= 16 })
        // One until it succeeded, then two, three, four.
        var (running, done, most) = (0, 0, [Int]())
        var ends: [Duration] = []
        for start in starts.prefix(40) {
            while let end = ends.first, end <= start.at {
                ends.removeFirst()
                (running, done) = (running - 1, done + 1)
            }
            running += 1
            ends.append(start.at + .milliseconds(150))
            #expect(running <= min(done + 1, 4))
            most.append(running)
        }
        #expect(most[0] == 1)
    }

    @Test mutating func `a destination's limit grows by one with each success`() throws {
        stage.network([])
        let ids = try (0..<20).map { _ in try stage.add() }
        stage.network([.wired])
        stage.pass(.seconds(5))
        var most: [Int] = []
        for _ in 0..<5 {
            most.append(stage.queue.runningCount)
            stage.answer(try #require(stage.startedIDs.first { stage.state($0) == .running }))
            stage.pass(.seconds(2))
        }
        #expect(most == [1, 2, 3, 4, 4])
        #expect(ids.count == 20)
    }

    @Test mutating func `when the first attempt fails, the others are not sent after it`() throws {
        var policy = QueuePolicy()
        policy.retries.floor = .seconds(10)
        stage = QueueStage(policy)
        stage.network([])
        for _ in 0..<20 { try stage.add() }
        let elsewhere = try stage.add("https://b.example/")
        stage.network([.wired])
        stage.pass(.seconds(2))
        let canary = try #require(stage.startedIDs.first { $0 != elsewhere })
        stage.answer(canary, 503)
        stage.pass(.seconds(9))
        #expect(Set(stage.startedIDs) == [canary, elsewhere])
        let other = try #require(stage.explanation(RequestID(rawValue: canary.rawValue + 1)))
        #expect(other.tries == 0 && other.attempts == 0 && other.state == .waiting)
    }

    @Test mutating func `a dead request does not poison those behind it, unless they depend on it`() throws {
        stage.network([.wired])
        let ids = try (0..<4).map { number in
            try stage.add {
                $0.orderKey = "o"
                $0.dependsOnPrevious = number == 2
            }
        }
        #expect(stage.startedIDs == [ids[0]])
        #expect(stage.blockers(ids[1]) == ["order"])
        stage.answer(ids[0], 404)
        #expect(stage.state(ids[0]) == .dead)
        #expect(stage.startedIDs == [ids[0], ids[1]])
        stage.answer(ids[1], 404)
        #expect(stage.explanation(ids[2])?.death == .dependency)
        #expect(stage.startedIDs == [ids[0], ids[1], ids[3]])
    }

    @Test mutating func `order keys of two users never meet`() throws {
        stage.network([.wired])
        for owner in [UInt32(1), 2] {
            try stage.add(by: owner) {
                $0.orderKey = "o"
            }
        }
        #expect(stage.starts.count == 2)
    }

    @Test mutating func `keep wakes the one that is there`() throws {
        var policy = QueuePolicy()
        policy.retries.floor = .seconds(100)
        stage = QueueStage(policy)
        stage.network([.wired])
        let unique = RequestUniqueness.unique(name: "u", mode: .keep)
        let id = try stage.add { $0.uniqueness = unique }
        stage.fail(id, .localNetwork)
        #expect(stage.state(id) == .backoff)
        var again = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
        again.specification.uniqueness = unique
        #expect(stage.ask { .add(again, $0) } == .kept(id))
        #expect(stage.startedIDs == [id, id])
        #expect(stage.ask { .add(again, $0) } == .kept(id))
        #expect(stage.startedIDs == [id, id])
    }

    @Test mutating func `keep answers only when the one that is there is safe`() throws {
        stage.commits = false
        var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
        request.specification.uniqueness = .unique(name: "u", mode: .keep)
        #expect(stage.ask { .add(request, $0) } == nil)
        #expect(stage.ask { .add(request, $0) } == nil)
        stage.send(.committed(stage.uncommitted[0]))
        #expect(
            stage.replies.values.map { $0 }.sorted { "\($0)" < "\($1)" } == [
                [.added(RequestID(rawValue: 1))], [.kept(RequestID(rawValue: 1))],
            ])
    }

    @Test mutating func `replace cancels the one that is there, also while it runs`() throws {
        stage.network([.wired])
        let unique = RequestUniqueness.unique(name: "u", mode: .replace)
        let old = try stage.add { $0.uniqueness = unique }
        let new = try stage.add { $0.uniqueness = unique }
        #expect(stage.aborted == [old])
        #expect(stage.kinds(of: old) == [.queued, .started, .cancelled])
        #expect(stage.events.last { $0.kind == .cancelled }?.reason == "superseded")
        #expect(stage.startedIDs == [old, new])
    }

    @Test mutating func `append runs after a head that died`() throws {
        stage.network([.wired])
        for mode in [RequestUniqueness.Mode.append, .appendOrReplace] {
            let unique = RequestUniqueness.unique(name: mode.rawValue, mode: mode)
            let head = try stage.add { $0.uniqueness = unique }
            let next = try stage.add { $0.uniqueness = unique }
            #expect(stage.blockers(next) == ["order"])
            stage.answer(head, 404)
            #expect(stage.startedIDs.last == next)
        }
    }

    @Test mutating func `the end of its time finds a request waiting or running`() throws {
        stage.network([.wired])
        let running = try stage.add { $0.timeToLive = .seconds(10) }
        stage.network([.wired, .wifi])
        let waiting = try stage.add(when: "wwan") { $0.timeToLive = .seconds(10) }
        stage.pass(.seconds(11))
        #expect(stage.explanation(waiting)?.death == .expired)
        #expect(stage.explanation(running)?.death == .expired)
        #expect(stage.aborted == [running])
        #expect(stage.kinds(of: running) == [.queued, .started, .dead])
    }

    @Test mutating func `many whose time ended meanwhile end in portions`() throws {
        var policy = QueuePolicy()
        policy.slots.all = 1
        stage = QueueStage(policy)
        stage.network([.wired])
        let running = try stage.add()
        for _ in 0..<2000 { try stage.add { $0.timeToLive = .seconds(10) } }
        stage.commits = false
        stage.transactions = []
        stage.elapsed += .seconds(20)
        stage.answer(running)
        let ends = stage.transactions.flatMap(\.changes).count { if case .finish = $0 { true } else { false } }
        // One portion of those that are due, and one that starts would take.
        #expect((513...1025).contains(ends), "\(ends)")
        #expect(stage.queue.deadline == stage.moment.boot)
    }

    @Test mutating func `four priorities share the starts as 8 to 4 to 2 to 1`() throws {
        var policy = QueuePolicy()
        policy.limits.requests = 100_000
        policy.limits.bytes = 1 << 40
        stage = QueueStage(policy)
        stage.network([.wired])
        stage.ask { .holdQueue(.root, $0) }
        for number in 0..<8000 {
            try stage.add("https://host\(number % 50).example/") {
                $0.priority = RequestPriority.allCases[number % 4]
            }
        }
        stage.ask { .releaseQueue(.root, $0) }
        var shares: [RequestPriority: Int] = [:]
        var next = 0
        while next < 3000 {
            let id = stage.startedIDs[next]
            shares[RequestPriority.allCases[Int(id.rawValue - 1) % 4], default: 0] += 1
            next += 1
            stage.answer(id)
        }
        for priority in RequestPriority.allCases {
            let share = Double(shares[priority] ?? 0) / 3000 * 15
            #expect(abs(share - Double(priority.weight)) <= Double(priority.weight) * 0.1, "\(shares)")
        }
    }

    @Test mutating func `what is new and what waited start in turns`() throws {
        var policy = QueuePolicy()
        policy.starts.spacing = .zero
        policy.starts.destinationSpacing = .zero
        stage = QueueStage(policy)
        stage.network([])
        for _ in 0..<5000 { try stage.add() }
        stage.network([.wired])
        stage.pass(.seconds(2))
        for _ in 0..<10 { stage.answer(try #require(stage.startedIDs.first { stage.state($0) == .running })) }
        var (new, old) = (0, 0)
        for _ in 0..<200 { try stage.add() }
        let before = stage.starts.count
        for index in before..<before + 300 {
            stage.answer(try #require(stage.startedIDs.first { stage.state($0) == .running }))
            let id = stage.startedIDs[index]
            if new < 150 { if id.rawValue > 5000 { new += 1 } else { old += 1 } }
        }
        #expect(abs(new - old) <= 2, "\(new) \(old)")
    }

    @Test mutating func `what was parked for its credentials is sent again, slowly, as it was`() throws {
        stage.network([.wired])
        var ids: [RequestID] = []
        for _ in 0..<200 {
            let id = try stage.add { $0.idempotency = .key("k") }
            ids.append(id)
            stage.answer(id, 401)
            #expect(stage.explanation(id)?.death == .authentication)
        }
        #expect(stage.ask { .retryAll(.refused, .root, $0) } == .retried(0))
        #expect(stage.ask { .retryAll(.authentication, .root, $0) } == .retried(200))
        #expect(stage.starts.count == 201)
        stage.answer(try #require(stage.startedIDs.last))
        #expect(stage.starts.count == 203)
        var answered: Set<RequestID> = []
        while let id = stage.startedIDs.dropFirst(200).first(where: { stage.state($0) == .running }) {
            answered.insert(id)
            stage.answer(id)
        }
        #expect(answered.count == 199)
        #expect(Set(stage.startedIDs.dropFirst(200)) == Set(ids))
    }

    @Test mutating func `of fifty updates the newest is delivered`() throws {
        stage.network([])
        var ids: [RequestID] = []
        for _ in 0..<50 { ids.append(try stage.add { $0.uniqueness = .coalesce(key: "state") }) }
        stage.network([.wired])
        stage.pass(.seconds(10))
        #expect(stage.startedIDs == [ids[49]])
        #expect(stage.events.count { $0.kind == .cancelled && $0.reason == "superseded" } == 49)
    }

    @Test mutating func `a newer state waits for the one that is being sent`() throws {
        stage.network([.wired])
        let ids = try (0..<3).map { _ in try stage.add { $0.uniqueness = .coalesce(key: "state") } }
        #expect(stage.startedIDs == [ids[0]])
        stage.answer(ids[0])
        #expect(stage.startedIDs == [ids[0], ids[2]])
    }

    @Test mutating func `no more run than an interface, a modem and a destination bear`() throws {
        stage.network([.wwan])
        for number in 0..<10 { try stage.add("https://host\(number).example/") }
        #expect(stage.queue.runningCount == 2)
        stage.network([.wwan, .wired])
        #expect(stage.queue.runningCount == 10)
        for _ in 0..<10 { try stage.add("https://a.example/") }
        #expect(stage.queue.runningCount == 10)
    }
}
