import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

/// Requests whose bodies are joined.
@Suite struct SchedulerJoinTests {
    private static func stage(_ change: (inout JoinPolicy) -> Void = { _ in }) -> QueueStage {
        var policy = QueuePolicy()
        change(&policy.joining)
        return QueueStage(policy)
    }

    @Test func `what waited for the network is sent in one request, within the limits, and ends with it`() throws {
        var stage = Self.stage { $0.count = 4 }
        let ids = try (0..<6).map { try stage.reading($0) }
        stage.pass(.seconds(60))
        stage.network([.wifi])
        stage.pass(.seconds(20))
        #expect(stage.compositions == [ids[0]: Array(ids[1...3])])
        #expect(stage.blockers(ids[2]) == ["join"])
        #expect(stage.explanation(ids[2])?.reasons[0].text == "It is sent with request \(ids[0]).")
        stage.answer(ids[0], 201)
        for id in ids[...3] { #expect(stage.ends(of: id) == ["done 201"]) }
        stage.pass(.seconds(20))
        #expect(stage.compositions[ids[4]] == [ids[5]])
        stage.fail(ids[4], .transient)
        stage.pass(.seconds(600))
        #expect(stage.startedIDs == [ids[0], ids[4], ids[4]], "the same again")
        stage.answer(ids[4], 400)
        for id in ids[4...] { #expect(stage.ends(of: id) == ["dead refused"]) }
        // Sent again, each goes apart.
        stage.ask { .retryAll(nil, .root, $0) }
        for _ in 0..<2 {
            stage.pass(.seconds(60))
            for id in stage.running { stage.answer(id) }
        }
        #expect(stage.startedIDs.suffix(2).sorted() == Array(ids[4...]) && stage.compositions.count == 2)
    }

    @Test func `a request waits for others until there are enough, or for so long`() throws {
        var stage = Self.stage { ($0.count, $0.wait) = (3, .seconds(60)) }
        stage.network([.wifi])
        let first = try stage.reading(0)
        #expect(stage.blockers(first) == ["join"])
        stage.pass(.seconds(50))
        let second = try stage.reading(1)
        stage.pass(.seconds(9))
        #expect(stage.starts.isEmpty)
        stage.pass(.seconds(1))
        #expect(stage.startedIDs == [first] && stage.compositions == [first: [second]])
        stage.answer(first)
        let more = try (2..<5).map { try stage.reading($0) }
        #expect(stage.starts.count == 2 && stage.compositions.count == 2, "three are enough")
        #expect(Set(stage.compositions.values.joined() + stage.startedIDs).isSuperset(of: more))
        let urgent = try stage.reading(9) { $0.priority = .urgent }
        #expect(stage.startedIDs.last == urgent, "an urgent one does not wait")
    }

    @Test func `bodies are joined up to so many bytes`() throws {
        var stage = Self.stage { $0.bytes = 25 }
        let ids = try (0..<4).map { try stage.reading($0) { $0.body = .inline(Array("0123456789".utf8)) } }
        stage.pass(.seconds(60))
        stage.network([.wifi])
        stage.pass(.seconds(20))
        stage.answer(ids[0])
        stage.pass(.seconds(20))
        #expect(stage.compositions == [ids[0]: [ids[1]], ids[2]: [ids[3]]])
    }

    @Test(
        arguments: [
            { $0.headers.append(HeaderField("A", "1")) }, { $0.method = "PUT" }, { $0.priority = .low },
            { $0.uniqueness = .joined(key: "other", form: .lines) },
            { $0.uniqueness = .joined(key: "readings", form: .json) },
            { $0.maximumAttempts = 3 }, { $0.acceptedStatuses = [200...204] }, { $0.isOverBudget = true },
            { $0.followsRedirects = true }, { $0.timeToLive = .seconds(500) },
        ] as [@Sendable (inout RequestSpecification) -> Void])
    func `only requests that are alike but for their bodies are joined`(
        change: @Sendable (inout RequestSpecification) -> Void
    ) throws {
        var stage = Self.stage()
        _ = try stage.reading(0)
        _ = try stage.reading(1, change)
        _ = try stage.reading(2, by: 1000)
        stage.pass(.seconds(60))
        stage.network([.wifi])
        for _ in 0..<3 {
            stage.pass(.seconds(20))
            for id in stage.running { stage.answer(id) }
        }
        #expect(stage.compositions.isEmpty && stage.starts.count == 3)
    }

    @Test
    func `one that is cancelled or held before the first attempt is not carried, and then it cannot be taken out`()
        throws
    {
        var stage = Self.stage()
        let ids = try (0..<4).map { try stage.reading($0) }
        stage.ask { .cancel(ids[1], .root, $0) }
        stage.ask { .hold(ids[2], .root, $0) }
        stage.pass(.seconds(60))
        stage.network([.wifi])
        stage.pass(.seconds(20))
        #expect(stage.compositions == [ids[0]: [ids[3]]])
        #expect(stage.ask { .cancel(ids[3], .root, $0) } == .carried(ids[0]))
        #expect(stage.state(ids[3]) == .waiting)
        #expect(stage.ask { .cancel(ids[0], .root, $0) } == .done)
        #expect(stage.ends(of: ids[3]) == ["cancelled user"])
    }

    @Test func `a deadline ends no request that is carried`() throws {
        var stage = Self.stage()
        let ids = try (0..<2).map { try stage.reading($0) { $0.timeToLive = .seconds(200) } }
        stage.pass(.seconds(60))
        stage.network([.wifi])
        stage.pass(.seconds(30))
        stage.fail(ids[0], .localNetwork)
        stage.network([])
        stage.pass(.seconds(200))
        #expect(stage.ends(of: ids[0]) == ["dead expired"] && stage.ends(of: ids[1]) == ["dead expired"])
    }

    @Test func `a lease that is not written carries no one`() throws {
        var stage = Self.stage()
        let ids = try (0..<3).map { try stage.reading($0) }
        stage.pass(.seconds(60))
        stage.commits = false
        stage.network([.wifi])
        stage.pass(.seconds(20))
        stage.commits = true
        for number in stage.uncommitted { stage.send(.notCommitted(number)) }
        stage.send(.wake)
        stage.pass(.seconds(60))
        for id in stage.running { stage.answer(id) }
        stage.pass(.seconds(60))
        let carried = Set(stage.startedIDs).union(ids.filter { stage.ends(of: $0) == ["done 200"] })
        #expect(carried == Set(ids))
    }

    // MARK: Kills

    @Test(arguments: 0..<60)
    func `walks with kills: what carries others carries the same in each attempt, and nothing is sent besides`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var stage = Self.stage { ($0.count, $0.wait) = (Int.random(in: 2...6, using: &random), .seconds(20)) }
        var added: [RequestID] = []
        stage.send(.allRestored)
        stage.network([.wifi])
        for _ in 0..<250 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...4: if let id = try? stage.reading(Int.random(in: 0..<99, using: &random)) { added.append(id) }
            case 5...6:
                guard let id = stage.running.randomElement(using: &random) else { continue }
                stage.answer(id, [200, 200, 503, 400].randomElement(using: &random)!)
            case 7: stage.network(Bool.random(using: &random) ? [.wifi] : [])
            case 8:
                stage.restart(pieces: Int.random(in: 1...3, using: &random))
                stage.network([.wifi])
            case 9:
                guard let id = added.randomElement(using: &random) else { continue }
                stage.ask { .cancel(id, .root, $0) }
            default: stage.pass(.seconds(Int.random(in: 0..<40, using: &random)))
            }
            #expect(stage.queue.brokenRules() == [])
        }
        stage.network([.wifi])
        for _ in 0..<200 {
            stage.pass(.seconds(400))
            for id in stage.running { stage.answer(id, 200) }
        }
        let faults = stage.joinFaults(of: added)
        #expect(faults == [])
        for id in added where stage.state(id) == .dead { stage.ask { .forget(id, .root, $0) } }
        #expect(stage.queue.brokenRules() == [] && stage.queue.leftovers(hasFailed: true) == [])
    }
}

extension QueueStage {
    /// A reading of a gateway: one of many small bodies for one server.
    @discardableResult
    fileprivate mutating func reading(
        _ number: Int, by owner: UInt32 = 0, _ change: (inout RequestSpecification) -> Void = { _ in }
    ) throws -> RequestID {
        try add("https://a.example/readings", by: owner) { request in
            request.method = "POST"
            request.body = .inline(Array("reading \(number)".utf8))
            request.uniqueness = .joined(key: "readings", form: .lines)
            change(&request)
            request = request.completed { "key-\(number)" }
        }
    }

    fileprivate var running: [RequestID] { Set(startedIDs).filter { state($0)?.isRunning == true }.sorted() }

    /// Whom each request carries that was started, as the store has it.
    fileprivate var compositions: [RequestID: [RequestID]] {
        transactions.flatMap(\.changes).reduce(into: [:]) { found, change in
            if case .join(let id, let others) = change, startedIDs.contains(id) { found[id] = others }
        }
    }

    fileprivate func ends(of id: RequestID) -> [String] {
        transactions.flatMap(\.changes).compactMap { change in
            guard case .finish(let progress, let end, let result, _) = change, progress.id == id else { return nil }
            let word = end.reason ?? result.map { "\($0.status)" } ?? ""
            return "\(end.state.rawValue) \(word)"
        }
    }

    /// What must not be, however often the process was killed.
    fileprivate func joinFaults(of ids: [RequestID]) -> [String] {
        var faults: [String] = []
        var joins: [RequestID: [RequestID]] = [:]
        for case .join(let id, let others) in transactions.flatMap(\.changes) {
            if joins[id] != nil { faults.append("\(id) was joined twice") }
            joins[id] = others
        }
        let carried = joins.values.flatMap { $0 }
        if Set(carried).count != carried.count { faults.append("one has two carriers") }
        for id in carried where startedIDs.contains(id) { faults.append("\(id) was carried, and was sent apart") }
        for id in ids {
            let ends = ends(of: id)
            if ends.count != 1 { faults.append("\(id) ended \(ends)") }
            let carrier = joins.first { $0.value.contains(id) }?.key
            if let carrier, self.ends(of: carrier) != ends { faults.append("\(id) did not end as \(carrier)") }
        }
        return faults
    }

    /// The process is killed: the next run has what was committed.
    fileprivate mutating func restart(pieces: Int) {
        let kept = KeptRequests(transactions.flatMap(\.changes))
        queue = QueueScheduler(queue.policy, firstID: 1_000 + Int64(transactions.count), seed: 7, at: moment)
        for input in kept.inputs(pieces: pieces) { send(input) }
    }
}
