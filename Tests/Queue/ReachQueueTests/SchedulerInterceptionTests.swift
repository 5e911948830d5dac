import ReachCore
import ReachQueue
import Testing

/// Requests with an interceptor: when it prepares them and judges their answers, and what that holds up.
@Suite struct SchedulerInterceptionTests {
    private var stage: QueueStage

    init() {
        var policy = QueuePolicy()
        policy.slots.all = 2
        stage = QueueStage(policy)
        stage.network([.wired])
        stage.send(.interceptors(["api"]))
    }

    private mutating func add(_ url: String = "https://a.example/", interceptor: String = "api") throws -> RequestID {
        try stage.add(url) { $0.interceptor = interceptor }
    }

    private mutating func prepare(_ id: RequestID, isReady: Bool = true) {
        stage.send(.prepared(id, isReady: isReady))
    }

    @Test mutating func `a request is prepared before it is leased, and then starts`() throws {
        let id = try add()
        #expect(stage.prepared == [id])
        #expect(stage.starts.isEmpty && stage.state(id) == .waiting && stage.blockers(id) == ["interceptor"])
        #expect(
            stage.transactions.flatMap(\.changes).allSatisfy {
                if case .lease = $0 { false } else { true }
            })
        prepare(id)
        #expect(stage.startedIDs == [id])
        stage.answer(id)
        #expect(stage.state(id) == nil && stage.prepared == [id])
    }

    @Test mutating func `a request waits until an interceptor of its name is registered, and says so`() throws {
        let id = try add(interceptor: "late")
        #expect(stage.prepared.isEmpty && stage.blockers(id) == ["interceptor"])
        #expect(stage.explanation(id)?.reasons[0].text == "No interceptor is registered as 'late'.")
        #expect(stage.kinds(of: id) == [.queued, .waiting])
        stage.send(.interceptors(["api", "late"]))
        #expect(stage.prepared == [id])
        #expect(stage.explanation(id)?.reasons[0].text == "Its interceptor 'late' prepares it.")
        prepare(id)
        #expect(stage.startedIDs == [id])
    }

    @Test mutating func `a request that waits for a token does not hold up the request that fetches it`() throws {
        let waiting = try (0..<20).map { _ in try add() }
        // As many as there are slots are prepared, and hold none of them.
        #expect(stage.prepared == Array(waiting.prefix(2)))
        let token = try stage.add()
        #expect(stage.startedIDs == [token])
        stage.answer(token)
        for _ in 0..<20 where stage.starts.count < 21 {
            for id in waiting { prepare(id) }
            for id in waiting where stage.state(id) == .running { stage.answer(id) }
        }
        #expect(stage.startedIDs.dropFirst().sorted() == waiting && stage.prepared.sorted() == waiting)
    }

    @Test mutating func `a prepared request that waits too long for a slot is prepared again`() throws {
        let id = try add()
        for _ in 0..<2 { _ = try stage.add("https://b.example/") }
        prepare(id)
        #expect(!stage.startedIDs.contains(id) && stage.blockers(id) == ["concurrency"])
        stage.pass(.seconds(9))
        let busy = stage.startedIDs
        stage.pass(.seconds(2))
        stage.answer(busy[0])
        #expect(stage.prepared == [id, id] && !stage.startedIDs.contains(id))
        prepare(id)
        #expect(stage.startedIDs.last == id)
    }

    @Test mutating func `a failed preparation ends the request, and a late report changes nothing`() throws {
        let id = try add()
        prepare(id, isReady: false)
        #expect(stage.explanation(id)?.death == .authentication)
        prepare(id)
        #expect(stage.starts.isEmpty && stage.explanation(id)?.death == .authentication)
    }

    @Test(arguments: ["hold", "cancel", "expire"])
    mutating func `a request that is not wanted any more is taken from its interceptor`(how: String) throws {
        for isJudged in [false, true] {
            var stage = stage
            let id = try stage.add {
                $0.interceptor = "api"
                $0.timeToLive = .seconds(60)
            }
            if isJudged {
                stage.send(.prepared(id, isReady: true))
                stage.send(.answerHeld(id))
            }
            switch how {
            case "hold": #expect(stage.ask { .hold(id, .root, $0) } == .done)
            case "cancel": #expect(stage.ask { .cancel(id, .root, $0) } == .done)
            default: stage.pass(.seconds(61))
            }
            #expect(stage.abandoned == [id])
            stage.send(.prepared(id, isReady: true))
            stage.send(.judged(id, .again(after: .zero)))
            #expect(stage.starts.count == (isJudged ? 1 : 0))
            guard how == "hold" else { continue }
            #expect(stage.state(id) == .held)
            _ = stage.ask { .release(id, .root, $0) }
            #expect(stage.prepared == [id, id])
        }
    }

    @Test mutating func `an answer that is judged holds no slot, and the request is sent again without a failure`()
        throws
    {
        let id = try stage.add {
            $0.interceptor = "api"
            $0.maximumAttempts = 1
        }
        prepare(id)
        stage.send(.requestSent(id))
        stage.send(.answerHeld(id))
        #expect(stage.state(id) == .waiting && stage.blockers(id) == ["interceptor"])
        let others = try (0..<2).map { _ in try stage.add() }
        #expect(stage.startedIDs == [id] + others)
        for other in others { stage.answer(other) }
        stage.send(.judged(id, .again(after: .zero)))
        #expect(stage.prepared == [id, id])
        prepare(id)
        #expect(stage.startedIDs.last == id && stage.explanation(id)?.attempts == 0)
        stage.send(.answerHeld(id))
        stage.send(.judged(id, .again(after: .seconds(5))))
        stage.pass(.seconds(4))
        #expect(stage.prepared.count == 2 && stage.blockers(id) == ["backoff"])
        stage.pass(.seconds(2))
        #expect(stage.prepared.count == 3)
        let retries = stage.events.filter { $0.kind == .retrying }
        #expect(retries.map(\.reason) == ["interceptor", "interceptor"])
        #expect(retries.map { $0.notBefore == nil } == [true, false])
    }

    @Test mutating func `another network does not cut a wait of the interceptor's, though the network failed before`()
        throws
    {
        let id = try add()
        prepare(id)
        stage.fail(id, .localNetwork)
        stage.pass(.seconds(2))
        prepare(id)
        stage.send(.answerHeld(id))
        stage.send(.judged(id, .again(after: .seconds(100))))
        stage.network([.wifi])
        stage.pass(.seconds(99))
        #expect(stage.prepared == [id, id] && stage.blockers(id) == ["backoff"])
        stage.pass(.seconds(2))
        #expect(stage.prepared == [id, id, id])
    }

    @Test(arguments: [(200, nil, 0), (401, DeathReason.authentication, 0), (503, nil, 1)])
    mutating func `an answer that stands is judged as without an interceptor`(
        status: Int, death: DeathReason?, failures: Int
    ) throws {
        let id = try add()
        prepare(id)
        stage.send(.answerHeld(id))
        let end = AttemptEnd.answered(RequestResult(status: status), isAccepted: status == 200)
        stage.send(.judged(id, .stands(end)))
        #expect(stage.explanation(id)?.death == death)
        #expect(stage.explanation(id)?.attempts ?? 0 == failures)
        #expect(stage.state(id) == (status == 200 ? nil : death == nil ? .backoff : .dead))
        #expect(stage.queue.runningCount == 0)
    }

    @Test mutating func `an answer that its interceptor refuses is kept with the dead request`() throws {
        let id = try add()
        prepare(id)
        stage.send(.answerHeld(id))
        stage.send(.judged(id, .refused(RequestResult(status: 401))))
        #expect(stage.explanation(id)?.death == .authentication)
        #expect(stage.events.last { $0.kind == .dead }?.status == 401)
    }

    @Test mutating func `what an interceptor has at the end of a run is given back`() throws {
        let id = try add()
        prepare(id)
        stage.send(.answerHeld(id))
        stage.send(.stop)
        #expect(stage.abandoned == [id])
        let last = try #require(stage.transactions.last?.changes.last)
        guard case .update(let progress) = last else { return #expect(Bool(false), "\(last)") }
        #expect(progress.id == id)
    }

    @Test mutating func `the network may go while a request is prepared`() throws {
        let id = try add()
        stage.network([])
        prepare(id)
        #expect(stage.starts.isEmpty && stage.blockers(id).contains("no-path"))
        stage.network([.wired])
        stage.pass(.seconds(20))
        prepare(id)
        #expect(stage.startedIDs == [id])
    }

    @Test(arguments: [
        ("1 2 3", "1 2 3"), ("- - -", "- - -"), ("10000000000 - 5", "10000000000 - 5"), ("1 2", nil), ("", nil),
        ("1 2 x", nil), ("1 2 3 4", nil), ("0 1 1", nil), ("-1 1 1", nil), ("1  1", nil),
    ])
    func `time limits are read as they are written`(text: String, again: String?) {
        #expect(AttemptTimeouts(text: text)?.text == again)
    }
}
