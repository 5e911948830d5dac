import ReachCore
import ReachQueue
import Testing

/// Failures, waits, budgets and breakers.
@Suite struct SchedulerRetryTests {
    private var stage = QueueStage()

    init() { stage.network([.wired]) }

    @Test func `full jitter draws evenly up to the bound, and the same from the same seed`() {
        let policy = QueuePolicy()
        func draws(_ seed: UInt64) -> [Duration] {
            var generator = SplitMix64(seed: seed)
            return (0..<10_000).map { _ in policy.retryDelay(afterFailures: 3, using: &generator) }
        }
        let drawn = draws(7)
        #expect(drawn.allSatisfy { $0 >= .seconds(0.25) && $0 <= .seconds(8) })
        let mean = drawn.reduce(Duration.zero, +) / drawn.count
        // The floor lifts the mean by 0.25^2 / 16 s.
        #expect(mean > .seconds(4 * 0.97) && mean < .seconds(4 * 1.03 + 0.004))
        #expect(draws(7) == drawn)
        #expect(draws(8) != drawn)
        var generator = SplitMix64(seed: 1)
        let late = (0..<1000).map { _ in policy.retryDelay(afterFailures: 1000, using: &generator) }
        #expect(late.allSatisfy { $0 <= .seconds(300) } && late.contains { $0 > .seconds(200) })
    }

    @Test(arguments: [
        ("120", 120.0, 132.0), ("Thu, 01 Jan 2026 00:02:00 GMT", 120, 132), ("Wed, 31 Dec 2025 23:00:00 GMT", 0.25, 1),
        ("soon", 0.25, 1), ("86400", 86_400, 95_040), ("1000000000", 86_400, 95_040),
        ("Fri, 31 Dec 2027 00:00:00 GMT", 86_400, 95_040), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400, 95_040),
        ("99999999999999999999999", 86_400, 95_040),
        ("-5", 0.25, 1), ("0", 0.25, 1),
    ])
    func `Retry-After is taken in both forms, and never beyond reason`(
        value: String, least: Double, most: Double
    ) throws {
        var stage = stage
        let id = try stage.add()
        stage.answer(id, 503, headers: ["Retry-After": value, "Date": "Thu, 01 Jan 2026 00:00:00 GMT"])
        let until = try #require(stage.explanation(id)?.reasons.first { $0.blocker == .backoff }?.until)
        let wait = stage.elapsed(at: until.boot)
        #expect(wait >= .seconds(least) && wait <= .seconds(most), "\(wait)")
    }

    @Test mutating func `a request without a limit of its own survives an outage of two weeks`() throws {
        let id = try stage.add()
        let deadline = try #require(stage.explanation(id)?.deadline)
        #expect(stage.elapsed(at: deadline.boot) == .seconds(14 * 86_400))
    }

    @Test mutating func `a wait beyond the time to live is not begun`() throws {
        let id = try stage.add { $0.timeToLive = .seconds(60) }
        stage.answer(id, 429, headers: ["Retry-After": "100"])
        #expect(stage.state(id) == .dead)
        #expect(stage.explanation(id)?.death == .expired)
    }

    @Test mutating func `what a destination asks for holds for all of the user's requests that go there`() throws {
        let first = try stage.add()
        stage.answer(first, 429, headers: ["Retry-After": "100"])
        let second = try stage.add()
        let elsewhere = try stage.add("https://b.example/")
        stage.pass(.seconds(99))
        #expect(stage.startedIDs == [first, elsewhere])
        #expect(stage.blockers(second) == ["rate"])
        stage.pass(.seconds(15))
        #expect(stage.startedIDs.contains(second))
    }

    @Test mutating func `what may not be repeated dies when it may have arrived, and with a key it is repeated`()
        throws
    {
        let plain = try stage.add { $0.method = "POST" }
        let keyed = try stage.add {
            $0.method = "POST"
            $0.idempotency = .key("k")
        }
        let unsent = try stage.add { $0.method = "POST" }
        stage.send(.requestSent(plain))
        stage.send(.requestSent(keyed))
        stage.network([])
        stage.pass(.seconds(2))
        #expect(stage.state(plain) == .dead)
        #expect(stage.explanation(plain)?.death == .indeterminate)
        #expect(stage.state(keyed) == .waiting)
        #expect(stage.state(unsent) == .waiting)
        stage.network([.wired])
        stage.pass(.seconds(3))
        stage.answer(unsent)
        stage.pass(.seconds(1))
        #expect(stage.startedIDs.count(where: { $0 == keyed }) == 2)
        #expect(stage.startedIDs.count(where: { $0 == plain }) == 1)
    }

    @Test mutating func `the explanation says what failed, and when it is tried again`() throws {
        var policy = QueuePolicy()
        policy.retries.floor = .milliseconds(2500)
        policy.retries.base = .zero
        stage = QueueStage(policy)
        stage.network([.wired])
        let refused = try stage.add()
        for _ in 0..<3 {
            stage.answer(refused, 500)
            stage.pass(.milliseconds(2500))
        }
        stage.answer(refused, 503)
        let reason = try #require(stage.explanation(refused)?.reasons.first)
        #expect(reason.text == "Attempt 4 failed (HTTP 503); retrying in 2.5 s.")
        let lost = try stage.add("https://b.example/")
        stage.fail(lost, .localNetwork)
        #expect(
            stage.explanation(lost)?.reasons.first?.text == "Attempt 1 failed (the network failed); retrying in 2.5 s.")
        let silent = try stage.add("https://c.example/")
        stage.fail(silent, .transient)
        stage.send(.pathChecked(interfaceIndex: 2, works: true))
        #expect(
            stage.explanation(silent)?.reasons.first?.text
                == "Attempt 1 failed (there was no response); retrying in 2.5 s.")
    }

    @Test mutating func `a wait says how the last attempt failed`() throws {
        var policy = QueuePolicy()
        policy.retries.base = .zero
        policy.breaker.consecutive = 1
        stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add()
        var fault = AttemptFault(.transient)
        fault.trouble = .noSuchName
        stage.send(.ended(id, .failed(fault)))
        stage.send(.pathChecked(interfaceIndex: 2, works: true))
        let texts = try #require(stage.explanation(id)).reasons.map(\.text)
        #expect(texts.first?.hasPrefix("Attempt 1 failed (there is no such name); retrying in ") == true)
        #expect(texts.last?.hasSuffix("failed too often, the last time since there is no such name.") == true)
    }

    @Test mutating func `a request whose answer does not fit on the disk waits for room, and counts no failure`() throws
    {
        let id = try stage.add()
        var fault = AttemptFault(.disk)
        fault.trouble = .diskFull
        stage.send(.ended(id, .failed(fault)))
        #expect(stage.blockers(id) == ["disk"] && stage.events.contains { $0.reason == "disk" })
        let explanation = try #require(stage.explanation(id))
        #expect(explanation.reasons.first?.text == "The disk has no room for its answer.")
        #expect(explanation.attempts == 0 && explanation.networkFailures == 0)
        stage.pass(.seconds(31))
        #expect(stage.startedIDs == [id, id])
        stage.answer(id)
        #expect(stage.kinds(of: id).last == .done)
    }

    @Test mutating func `a request beyond the slots says that all are in use`() throws {
        for number in 0..<8 { try stage.add("https://host\(number).example/") }
        let id = try stage.add("https://b.example/")
        #expect(stage.explanation(id)?.reasons.map(\.text) == ["All transfer slots are in use."])
    }

    @Test mutating func `a request without a key is given one, and keeps its own`() throws {
        var request = try RequestSpecification(method: "POST", url: "https://a.example/")
        let completed = request.completed { "made" }
        #expect(completed.isRepeatable)
        #expect(completed.headers == [HeaderField("Idempotency-Key", "made")])
        #expect(completed.completed { "again" } == completed)
        request.headers = [HeaderField("idempotency-key", "own")]
        #expect(request.completed { "made" }.idempotency == .key("own"))
        request.method = "GET"
        request.headers = []
        #expect(request.completed { "made" } == request)
    }

    @Test mutating func `a used up budget stops retries and lets first tries through`() throws {
        var policy = QueuePolicy()
        policy.breaker.consecutive = 1000
        policy.breaker.atLeast = 1000
        policy.retries.longest = .seconds(1)
        stage = QueueStage(policy)
        stage.network([.wired])
        var ids: [RequestID] = []
        for _ in 0..<6 {
            let id = try stage.add()
            ids.append(id)
            stage.answer(id, 500)
            #expect(stage.state(id) == .backoff || stage.blockers(id).contains("budget"))
        }
        stage.pass(.seconds(1))
        #expect(stage.starts.count == 6)
        for id in ids { #expect(stage.blockers(id) == ["budget"]) }
        let fresh = try stage.add()
        #expect(stage.startedIDs.last == fresh)
        stage.answer(fresh)
        // Six failures leave 4 and a success 0.1; one comes back in 30 s, and more than 5 are needed.
        stage.pass(.seconds(20))
        #expect(stage.starts.count == 7)
        stage.pass(.seconds(15))
        #expect(stage.starts.count > 7)
    }

    /// How an attempt may end without its destination's fault.
    enum Innocence: CaseIterable {
        case network, interface, clock, hold, loss, revival

        func end(_ id: RequestID, in stage: inout QueueStage) {
            switch self {
            case .network: stage.fail(id, .localNetwork)
            case .interface: stage.fail(id, .interface)
            case .clock: stage.send(.ended(id, .failed(AttemptFault(.certificateTime, isClockUnset: true))))
            case .hold:
                stage.ask { .hold(id, .root, $0) }
                stage.ask { .release(id, .root, $0) }
            case .loss:
                stage.network([])
                stage.pass(.seconds(3))
                stage.network([.wired])
            case .revival:
                stage.answer(id, 404)
                stage.ask { .retry(id, .root, $0) }
            }
        }
    }

    @Test(arguments: Innocence.allCases)
    func `a used up budget does not hold what last ended without its destination's fault`(how: Innocence) throws {
        var policy = QueuePolicy()
        (policy.breaker.consecutive, policy.breaker.atLeast) = (1000, 1000)
        policy.retries.longest = .seconds(1)
        var stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add()
        stage.answer(id, 500)
        stage.pass(.seconds(1))
        #expect(stage.startedIDs == [id, id])
        var others: [RequestID] = []
        for _ in 0..<8 {
            others.append(try stage.add())
            stage.answer(others[others.count - 1], 500)
        }
        how.end(id, in: &stage)
        stage.pass(.seconds(31))
        #expect(stage.startedIDs == [id, id] + others + [id] && stage.state(id) == .running)
    }

    private static let refused = AttemptEnd.answered(RequestResult(status: 503), isAccepted: false)
    private static let lost = AttemptEnd.failed(AttemptFault(.localNetwork))

    @Test(
        arguments: [
            (refused, lost, true), (refused, .failed(AttemptFault(.interface)), true), (lost, refused, false),
            (lost, .failed(AttemptFault(.certificateTime, isClockUnset: true)), false),
        ] as [(AttemptEnd, AttemptEnd, Bool)])
    func `another network cuts a wait that a failure of the last one began, whatever failed before`(
        before: AttemptEnd, end: AttemptEnd, isCut: Bool
    ) throws {
        var policy = QueuePolicy()
        (policy.retries.floor, policy.retries.clock) = (.seconds(100), .seconds(100))
        var stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add()
        stage.send(.ended(id, before))
        stage.pass(.seconds(101))
        #expect(stage.starts.count == 2)
        stage.send(.ended(id, end))
        stage.network([.wifi])
        stage.pass(.seconds(5))
        #expect(stage.starts.count == (isCut ? 3 : 2))
        stage.pass(.seconds(100))
        #expect(stage.starts.count == 3)
    }

    @Test(arguments: [
        (AttemptEnd.failed(AttemptFault(.localNetwork)), true, true),
        (.failed(AttemptFault(.localNetwork)), false, false),
        (.failed(AttemptFault(.interface)), true, false),
        (.answered(RequestResult(status: 503), isAccepted: false), true, false),
    ])
    func `only what the network cut off when it may have arrived waits as long as curl would`(
        end: AttemptEnd, isSent: Bool, isLong: Bool
    ) throws {
        var policy = QueuePolicy()
        (policy.retries.base, policy.retries.floor) = (.milliseconds(10), .milliseconds(10))
        var stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add()
        if isSent { stage.send(.requestSent(id)) }
        stage.send(.ended(id, end))
        stage.pass(.milliseconds(990))
        #expect(stage.starts.count == (isLong ? 1 : 2))
        stage.pass(.milliseconds(20))
        #expect(stage.starts.count == 2)
    }

    @Test mutating func `an open breaker is half open in a new epoch, for one attempt`() throws {
        for _ in 0..<5 { stage.answer(try stage.add(), 500) }
        #expect(stage.events.count { $0.kind == .breakerOpen } == 1)
        let started = stage.starts.count
        let waiting = try (0..<10).map { _ in try stage.add() }
        #expect(stage.starts.count == started)
        #expect(stage.blockers(waiting[0]) == ["breaker"])
        let text = stage.explanation(waiting[0])?.reasons.first?.text
        let ending = "failed too often, the last time with HTTP 500."
        #expect(text?.hasSuffix(ending) == true, "though this one never was sent")
        stage.network([.wired])
        #expect(stage.starts.count == started + 1)
        stage.answer(try #require(stage.startedIDs.last))
        #expect(stage.starts.count == started + 2)
        stage.answer(try #require(stage.startedIDs.last))
        #expect(stage.events.count { $0.kind == .breakerClosed } == 1)
        #expect(stage.starts.count == started + 6)
    }

    @Test mutating func `a breaker that is open is so after a restart, and one that has closed is not`() throws {
        for _ in 0..<5 { stage.answer(try stage.add(), 500) }
        let ids = try (0..<3).map { _ in try stage.add() }
        func blockers(_ stage: QueueStage) -> [String] {
            var next = QueueStage()
            for input in KeptRequests(stage.transactions.flatMap(\.changes)).inputs(pieces: 1) { next.send(input) }
            next.network([.wired])
            return next.blockers(ids[2])
        }
        #expect(blockers(stage) == ["breaker"])
        stage.network([.wired])
        for _ in 0..<2 { stage.answer(try #require(stage.startedIDs.last)) }
        #expect(stage.events.last { $0.kind == .breakerClosed } != nil && stage.state(ids[2]) == .running)
        #expect(!blockers(stage).contains("breaker"))
    }

    @Test mutating func `a breaker that stays broken is tried ever more seldom`() throws {
        var random = SplitMix64(seed: 3)
        var breaker = CircuitBreaker()
        let rules = CircuitBreaker.Rules()
        var now = BootTime(nanoseconds: 0)
        for _ in 0..<5 { breaker.fail(at: now, rules, using: &random) }
        var lengths: [Duration] = []
        for _ in 0..<10 {
            guard case .open(let until) = breaker.state else { break }
            #expect(!breaker.admits(running: 0))
            lengths.append(until - now)
            now = until
            breaker.advance(to: now)
            #expect(breaker.admits(running: 0) && !breaker.admits(running: 1))
            breaker.fail(at: now, rules, using: &random)
        }
        let bounds: [Double] = [5, 10, 20, 40, 80, 160, 300, 300, 300, 300]
        for (length, bound) in zip(lengths, bounds) {
            #expect(length >= .seconds(bound / 2) && length <= .seconds(bound))
        }
        #expect(lengths.count == 10)
    }

    @Test mutating func `failures of this machine's own network are no one else's`() throws {
        for _ in 0..<100 {
            let id = try stage.add()
            stage.fail(id, .localNetwork)
            stage.ask { .cancel(id, .root, $0) }
        }
        #expect(!stage.events.contains { $0.kind == .breakerOpen })
        let id = try stage.add()
        #expect(stage.startedIDs.last == id)
        // The budget is untouched, too: a failure of the destination is retried as soon as its wait is over.
        stage.answer(id, 500)
        stage.pass(.seconds(1))
        #expect(stage.startedIDs.last == id && stage.starts.count == 102)
    }

    @Test mutating func `on a path that works, a refused or silent destination is at fault`() throws {
        for count in 1...5 {
            let id = try stage.add()
            stage.fail(id, .transient)
            if stage.checks.count == 1, count == 1 {
                #expect(stage.state(id) == .running)
                stage.send(.pathChecked(interfaceIndex: 2, works: true))
            }
            #expect(stage.explanation(id)?.attempts == 1)
            #expect(stage.explanation(id)?.networkFailures == 0)
        }
        #expect(stage.checks == [.wired])
        #expect(stage.events.count { $0.kind == .breakerOpen } == 1)
    }

    @Test mutating func `fifty failures on a dead path are the network's, and one check finds out`() throws {
        var policy = QueuePolicy()
        policy.slots.all = 50
        policy.slots.interface = 50
        stage = QueueStage(policy)
        stage.network([.wired])
        let ids = try (0..<50).map { try stage.add("https://host\($0).example/") }
        #expect(stage.starts.count == 50)
        for id in ids { stage.fail(id, .transient) }
        #expect(stage.checks.count == 1)
        stage.pass(.seconds(1))
        stage.send(.pathChecked(interfaceIndex: 2, works: false))
        for id in ids {
            #expect(stage.explanation(id)?.attempts == 0)
            #expect(stage.explanation(id)?.networkFailures == 1)
        }
        #expect(!stage.events.contains { $0.kind == .breakerOpen })
    }

    @Test mutating func `a check that does not answer has failed`() throws {
        let id = try stage.add()
        stage.fail(id, .transient)
        // The one who checks decides how long that may take, and may wait for half a minute on a slow line.
        stage.pass(QueuePolicy().paths.checkLimit - .milliseconds(1))
        #expect(stage.state(id) == .running && QueuePolicy().paths.checkLimit > .seconds(30))
        stage.pass(.milliseconds(1))
        #expect(stage.explanation(id)?.networkFailures == 1)
    }

    @Test mutating func `a request dies when it failed as often as it may`() throws {
        let id = try stage.add { $0.maximumAttempts = 2 }
        stage.answer(id, 502)
        stage.pass(.seconds(2))
        stage.answer(id, 502)
        #expect(stage.explanation(id)?.death == .exhausted)
        #expect(stage.kinds(of: id) == [.queued, .started, .retrying, .started, .dead])
    }

    @Test mutating func `a certificate is not judged by a clock that is not set`() throws {
        let id = try stage.add()
        stage.send(.ended(id, .failed(AttemptFault(.certificateTime, isClockUnset: true))))
        #expect(stage.blockers(id) == ["clock"])
        stage.pass(.seconds(30))
        #expect(stage.starts.count == 2)
        stage.send(.ended(id, .failed(AttemptFault(.certificateTime))))
        stage.send(.pathChecked(interfaceIndex: 2, works: true))
        #expect(stage.explanation(id)?.death == .untrusted)
    }

    /// What a portal answers in everybody's place: a redirect in the clear, or a certificate of its own.
    private static let forged: [(String, AttemptEnd)] = [
        ("http://a.example/", .answered(RequestResult(status: 302), isAccepted: false)),
        ("https://a.example/", .failed(AttemptFault(.certificate))),
        ("https://a.example/", .failed(AttemptFault(.certificateTime))),
    ]

    @Test(arguments: forged)
    func `what a portal may have answered kills only where the path works`(url: String, end: AttemptEnd) throws {
        for works in [true, false] {
            var stage = QueueStage()
            stage.network([.wired])
            let id = try stage.add(url)
            let behind = try stage.add(url)
            stage.send(.ended(id, end))
            #expect(stage.state(id) == .running && stage.checks == [.wired])
            stage.send(.pathChecked(interfaceIndex: 2, works: works))
            #expect(stage.state(id) == (works ? .dead : .backoff))
            #expect(stage.explanation(id)?.attempts == 0)
            #expect(stage.explanation(id)?.networkFailures == (works ? 0 : 1))
            #expect(stage.explanation(id)?.death == (works ? (url.hasPrefix("https") ? .untrusted : .refused) : nil))
            #expect(stage.state(behind) != .dead)
        }
    }

    @Test mutating func `after a failure behind a portal the others are not sent after it`() throws {
        stage.network([])
        let ids = try (0..<20).map { _ in try stage.add("http://a.example/") }
        stage.network([.wired])
        stage.pass(.seconds(2))
        #expect(stage.starts.count == 1, "the first goes ahead")
        let first = try #require(stage.startedIDs.first)
        stage.send(.ended(first, .answered(RequestResult(status: 302), isAccepted: false)))
        stage.send(.pathChecked(interfaceIndex: 2, works: false))
        #expect(stage.starts.count == 1)
        #expect(ids.allSatisfy { stage.state($0) != .dead })
    }

    @Test mutating func `a redirect of one that proved who it is, and an answer that is none, need no check`() throws {
        for (url, status) in [("https://a.example/", 302), ("http://a.example/", 404)] {
            let id = try stage.add(url)
            stage.answer(id, status)
            #expect(stage.state(id) == .dead)
        }
        #expect(stage.checks.isEmpty)
    }

    @Test mutating func `a wrong pin kills the request and spares the server the next`() throws {
        let id = try stage.add()
        stage.fail(id, .pin)
        #expect(stage.explanation(id)?.death == .pinMismatch)
        let next = try stage.add()
        #expect(stage.blockers(next) == ["breaker"])
    }

    @Test mutating func `an interface that refuses is no failure, and no busy loop`() throws {
        let id = try stage.add()
        for _ in 0..<20 where stage.state(id) == .running { stage.fail(id, .interface) }
        #expect(stage.starts.count == 1)
        stage.pass(.seconds(600))
        #expect(stage.explanation(id)?.attempts == 0)
        #expect(stage.explanation(id)?.networkFailures == 0)
    }

    @Test mutating func `a wait of one request is not shortened by another's success`() throws {
        let id = try stage.add()
        stage.answer(id, 503, headers: ["Retry-After": "50"])
        stage.pass(.seconds(49))
        #expect(stage.starts.count == 1)
    }
}
