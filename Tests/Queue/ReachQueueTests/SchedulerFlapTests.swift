import ReachCore
import ReachQueue
import Testing

/// A link that comes and goes in virtual time, a server behind it that answers after 2 ms, and a `curl --retry` loop
/// with each request.
private struct FlappingLink {
    var stage: QueueStage
    let up: Duration
    let down: Duration
    /// When the flapping began: the link came up then.
    let start: Duration
    var isUp = true
    /// Attempts without an answer, and when they get one if the link stays up until then.
    private var waiting: [(id: RequestID, at: Duration)] = []
    private var seen = 0
    /// When the server received each.
    var sends: [RequestID: [Duration]] = [:]
    /// How many of these the link cut off.
    var cutOff: [RequestID: Int] = [:]
    var answered: Set<RequestID> = []
    var isDark = false

    init(up: Duration, down: Duration, seed: UInt64) {
        stage = QueueStage(seed: seed)
        (self.up, self.down) = (up, down)
        stage.network([.wifi])
        stage.pass(.seconds(10))
        start = stage.elapsed
    }

    /// When the link changes next, and what it is before.
    private func phase(at time: Duration) -> (isUp: Bool, until: Duration) {
        let cycle = up + down
        let offset = (time - start).nanoseconds % cycle.nanoseconds
        let isUp = offset < up.nanoseconds
        return (isUp, time + .nanoseconds((isUp ? up.nanoseconds : cycle.nanoseconds) - offset))
    }

    mutating func pass(until end: Duration) {
        while stage.elapsed < end {
            let change = phase(at: stage.elapsed).until
            let next =
                [end, change, waiting.map(\.at).min(), stage.queue.deadline.map(stage.elapsed(at:))]
                .compactMap(\.self).filter { $0 > stage.elapsed }.min() ?? end
            stage.pass(next - stage.elapsed)
            collect()
            if stage.elapsed == change { flip() }
            answer()
            collect()
        }
    }

    private mutating func flip() {
        isUp = phase(at: stage.elapsed).isUp
        stage.network(isUp ? [.wifi] : [])
        if !isUp { for id in waiting.map(\.id) { cutOff[id, default: 0] += 1 } }
        // TCP sends again a while after the link is back.
        let next = isUp ? stage.elapsed + .milliseconds(200) : .seconds(1 << 30)
        for index in waiting.indices { waiting[index].at = next }
    }

    private mutating func collect() {
        for start in stage.starts[seen...] {
            if isUp { sends[start.order.id, default: []].append(stage.elapsed) }
            waiting.append((start.order.id, isDark ? .seconds(1 << 30) : stage.elapsed + .milliseconds(2)))
            stage.send(.requestSent(start.order.id))
        }
        seen = stage.starts.count
        waiting.removeAll { stage.aborted.contains($0.id) && stage.state($0.id)?.isRunning != true }
    }

    private mutating func answer() {
        guard isUp else { return }
        for (id, at) in waiting where at <= stage.elapsed {
            answered.insert(id)
            stage.answer(id)
        }
        waiting.removeAll { $0.at <= stage.elapsed }
    }

    /// Whether a loop of `curl --retry` that meets the same would send as often and as soon: once, and again only after
    /// the link cut it off, a second later and then twice as long each time.
    func isSentAsByCurl(_ id: RequestID) -> Bool {
        let sends = sends[id] ?? []
        guard sends.count <= 1 + (cutOff[id] ?? 0) else { return false }
        return zip(sends, sends.dropFirst()).enumerated().allSatisfy { $1.1 - $1.0 >= .seconds(1 << min($0, 9)) }
    }
}

/// Flapping costs starts that fail, and canaries keep those few.
@Suite struct SchedulerFlapTests {
    private var stage = QueueStage()

    @Test(arguments: 0..<20)
    func `of 66 requests 60 are sent over a link that is up 2.5 s of every 3.2 s`(seed: UInt64) throws {
        try sendAll(up: .seconds(2.5), down: .seconds(0.7), atLeast: 60, seed: seed)
    }

    @Test(arguments: 0..<20)
    func `of 66 requests half are sent over a link that is up 0.6 s of every 2.6 s`(seed: UInt64) throws {
        try sendAll(up: .seconds(0.6), down: .seconds(2), atLeast: 33, seed: seed)
    }

    /// Adds 66 requests in 27 s, to one host or to several, and lets the link flap for another 3 s.
    private func sendAll(up: Duration, down: Duration, atLeast: Int, seed: UInt64) throws {
        for hosts in [1, 11] {
            var link = FlappingLink(up: up, down: down, seed: seed)
            for number in 0..<66 {
                try link.stage.add("https://host\(number % hosts).example/")
                link.pass(until: link.stage.elapsed + .milliseconds(410))
            }
            link.pass(until: link.start + .seconds(30))
            #expect(link.answered.count >= atLeast, "seed \(seed), \(hosts) hosts: \(link.answered.count)")
            let bad = link.sends.keys.filter { !link.isSentAsByCurl($0) }
            let faults = bad.map { (link.sends[$0] ?? [], link.cutOff[$0] ?? 0) }
            #expect(bad.isEmpty, "seed \(seed), \(hosts) hosts: \(faults)")
            // Few meet the end of a window.
            let repeated = link.sends.values.reduce(0) { $0 + $1.count - 1 }
            #expect(repeated <= 66 / 6, "seed \(seed), \(hosts) hosts: \(repeated) sent again")
        }
    }

    @Test func `an hour of flapping before does not matter`() throws {
        var link = FlappingLink(up: .seconds(2.5), down: .seconds(0.7), seed: 5)
        link.pass(until: .seconds(3600))
        for _ in 0..<66 {
            try link.stage.add()
            link.pass(until: link.stage.elapsed + .milliseconds(410))
        }
        link.pass(until: link.stage.elapsed + .seconds(3))
        #expect(link.answered.count >= 60)
    }

    @Test func `over a flapping link behind which nothing answers, no request is sent more often than by curl`() throws
    {
        var link = FlappingLink(up: .seconds(2.5), down: .seconds(3), seed: 6)
        link.isDark = true
        for number in 0..<20 { try link.stage.add("https://host\(number).example/") }
        link.pass(until: link.start + .seconds(480))
        #expect(link.answered.isEmpty)
        // 1, 2, 4 ... 256 s lie between the attempts of curl in eight minutes.
        #expect(link.sends.values.allSatisfy { $0.count <= 9 }, "\(link.sends)")
        #expect(link.sends.count > 10)
    }

    // MARK: Which goes first

    /// The network is back after a minute, and has settled.
    private mutating func comeBack(_ paths: [QueuePath] = [.wifi]) {
        stage.network([.wifi])
        stage.network([])
        stage.pass(.seconds(60))
        stage.network(paths)
    }

    private static func body(_ bytes: Int) -> RequestBody { .spooled(name: "b", bytes: Int64(bytes)) }

    @Test mutating func `one request goes first, and its answer lets the others go`() throws {
        stage.network([.wifi])
        stage.network([])
        let ids = try (0..<20).map { try stage.add("https://host\($0).example/") }
        stage.pass(.seconds(60))
        stage.network([.wifi])
        stage.pass(.seconds(0.19))
        #expect(stage.starts.isEmpty)
        stage.pass(.seconds(6.3))
        #expect(stage.starts.count >= 1)
        let canary = stage.starts[0]
        #expect(canary.order.isCanary)
        let waiting = try #require(stage.explanation(ids[19]))
        #expect(waiting.state == .waiting && waiting.reasons.map(\.blocker) == [.canary])
        #expect(waiting.reasons[0].text == "One request was sent first to see whether the link works.")
        stage.answer(canary.order.id, 500)
        stage.pass(.seconds(1))
        #expect(stage.starts.count > 6, "an error of the server is an answer, too")
        #expect(stage.events.contains { $0.kind == .opened })
    }

    @Test mutating func `what may be repeated and is small goes first, what may not be repeated last`() throws {
        stage.network([.wifi])
        stage.network([])
        var ids: [RequestID] = []
        for (method, bytes) in [("POST", 100), ("POST", 1 << 20), ("PUT", 1 << 20), ("GET", 0)] {
            ids.append(
                try stage.add("https://\(method.lowercased())\(bytes).example/") {
                    $0.method = method
                    if bytes > 0 { $0.body = Self.body(bytes) }
                })
        }
        stage.network([.wifi])
        var order: [RequestID] = []
        for _ in 0..<4 {
            stage.pass(.seconds(100))
            let id = try #require(stage.startedIDs.first { !order.contains($0) })
            order.append(id)
        }
        #expect(Array(stage.startedIDs.prefix(4)) == [ids[3], ids[2], ids[0], ids[1]])
    }

    @Test mutating func `urgent requests wait neither for the path to settle nor for the canary of others`() throws {
        stage.network([.wifi])
        stage.network([])
        let normal = try stage.add("https://a.example/")
        let urgent = try ["b", "c"].map { try stage.add("https://\($0).example/") { $0.priority = .urgent } }
        stage.pass(.seconds(1))
        stage.network([.wifi])
        stage.pass(.milliseconds(80))
        #expect(Set(stage.startedIDs) == Set(urgent))
        stage.answer(urgent[0])
        stage.pass(.seconds(1))
        #expect(stage.startedIDs.contains(normal))
    }

    @Test mutating func `an urgent request that fails is not sent at each gain`() throws {
        stage.network([.wifi])
        stage.network([])
        let id = try stage.add { $0.priority = .urgent }
        for _ in 0..<100 {
            stage.pass(.milliseconds(100))
            stage.network([.wifi])
            stage.pass(.milliseconds(100))
            if stage.state(id) == .running { stage.fail(id, .localNetwork) }
            stage.network([])
        }
        #expect(stage.starts.count <= 6, "\(stage.starts.count) in 20 s")
    }

    @Test mutating func `a held request and one whose destination is blocked are no canaries`() throws {
        stage.network([.wifi])
        let blocked = try stage.add("https://a.example/")
        stage.answer(blocked, 503, headers: ["Retry-After": "3600"])
        stage.network([])
        let same = try stage.add("https://a.example/")
        let held = try stage.add("https://b.example/")
        stage.ask { .hold(held, .root, $0) }
        let other = try stage.add("https://c.example/") { $0.method = "POST" }
        stage.pass(.seconds(1))
        stage.network([.wifi])
        stage.pass(.seconds(10))
        #expect(stage.startedIDs == [blocked, other])
        #expect(stage.blockers(same).contains("canary"))
        stage.ask { .release(held, .root, $0) }
        stage.pass(.seconds(10))
        #expect(stage.startedIDs.last == held)
    }

    @Test mutating func `a hundred blocked destinations keep no canary from a free one behind them`() throws {
        stage.network([.wifi])
        let hosts = (0..<100).map { "https://h\($0).example/" }
        for host in hosts { stage.answer(try stage.add(host), 503, headers: ["Retry-After": "3600"]) }
        stage.network([])
        for host in hosts { _ = try stage.add(host) }
        let free = try stage.add("https://free.example/")
        stage.pass(.seconds(1))
        stage.network([.wifi])
        stage.pass(.seconds(10))
        #expect(stage.startedIDs.last == free)
    }

    @Test mutating func `one request is prepared as canary, and what its interceptor waits for goes meanwhile`() throws
    {
        stage.send(.interceptors(["api"]))
        stage.network([.wifi])
        stage.network([])
        let ids = try (0..<10).map { try stage.add("https://host\($0).example/") { $0.interceptor = "api" } }
        stage.network([.wifi])
        stage.pass(.seconds(2))
        #expect(stage.prepared.count == 1 && stage.starts.isEmpty)
        // The interceptor fetches a token by this queue.
        let token = try stage.add("https://token.example/")
        stage.pass(.seconds(1))
        #expect(stage.startedIDs == [token])
        stage.answer(token)
        stage.send(.prepared(stage.prepared[0], isReady: true))
        stage.pass(.seconds(1))
        #expect(stage.startedIDs.contains(stage.prepared[0]))
        #expect(Set(stage.prepared).isSubset(of: ids) && stage.prepared.count > 1)
    }

    // MARK: What it shows

    @Test(arguments: [AttemptFault.Kind.transient, .localNetwork])
    mutating func `a server that refuses shows that the path works, silence does not`(kind: AttemptFault.Kind) throws {
        for isAnswered in [true, false] {
            stage = QueueStage()
            stage.network([.wifi])
            stage.network([])
            for number in 0..<10 { try stage.add("https://host\(number).example/") }
            stage.network([.wifi])
            stage.pass(.seconds(0.5))
            let canary = try #require(stage.startedIDs.first)
            stage.send(.ended(canary, .failed(AttemptFault(kind, isAnswered: isAnswered))))
            stage.send(.pathChecked(interfaceIndex: 3, works: true))
            stage.pass(.seconds(0.4))
            #expect((stage.starts.count > 3) == isAnswered)
        }
    }

    @Test mutating func `the head of a long answer, a probe and a new validation prove the path`() throws {
        let doubtful = QueuePath.wifi.with { $0.isValidated = false }
        for proof in 0..<3 {
            stage = QueueStage()
            stage.network([doubtful])
            stage.network([])
            for number in 0..<10 { try stage.add("https://host\(number).example/") }
            stage.network([doubtful])
            stage.pass(.seconds(0.5))
            #expect(stage.starts.count == 1)
            switch proof {
            case 0: stage.send(.answering(stage.starts[0].order.id))
            case 1: stage.send(.pathChecked(interfaceIndex: 3, works: true, isProof: true))
            default: stage.network([.wifi], newEpoch: false)
            }
            stage.pass(.seconds(0.3))
            #expect(stage.starts.count > 3, "\(proof)")
        }
    }

    @Test mutating func `a user's dead server delays neither other users nor that user's other servers`() throws {
        stage.network([.wifi])
        stage.network([])
        for _ in 0..<10 { try stage.add("https://dead.example/", by: 1) }
        for number in 0..<10 { try stage.add("https://host\(number).example/", by: 2) }
        stage.pass(.seconds(1))
        stage.network([.wifi])
        stage.pass(.seconds(0.5))
        #expect(stage.starts.count == 2, "each has a canary of its own")
        let (first, second) = (stage.startedIDs[0], stage.startedIDs[1])
        let other = try stage.add("https://alive.example/", by: 1)
        stage.pass(.seconds(1.2))
        #expect(stage.startedIDs.contains(other), "the silent one holds up others for a second")
        #expect(stage.state(first) == .running && stage.state(second) == .running)
        stage.answer(second)
        stage.pass(.seconds(1))
        #expect(stage.starts.count > 6)
    }

    @Test mutating func `requests of other conditions by the same path wait for the same canary`() throws {
        stage.network([.wifi])
        stage.network([])
        let ids = try ["any", "wifi", "unmetered", "family=4"].enumerated().map {
            try stage.add("https://host\($0).example/", when: $1)
        }
        stage.network([.wifi])
        stage.pass(.seconds(0.6))
        #expect(stage.starts.count == 1)
        let late = try stage.add("https://late.example/", when: "not wwan")
        #expect(stage.state(late) == .waiting)
        stage.answer(stage.startedIDs[0])
        stage.pass(.seconds(1))
        #expect(Set(stage.startedIDs) == Set(ids + [late]))
    }

    @Test mutating func `a condition that is met again on a path that never went needs no canary`() throws {
        stage.network([.wifi])
        stage.answer(try stage.add())
        stage.network([.wifi.with { $0.isMetered = true }], newEpoch: false)
        let ids = try (0..<8).map { try stage.add("https://host\($0).example/", when: "unmetered") }
        stage.pass(.seconds(1))
        stage.network([.wifi], newEpoch: false)
        stage.pass(.seconds(1))
        #expect(stage.starts.count > 6)
        #expect(ids.allSatisfy { !stage.blockers($0).contains("canary") })
    }

    @Test mutating func `the explanation says what was sent, and when the next one is`() throws {
        stage.network([.wifi])
        stage.network([])
        let ids = try (0..<2).map { _ in try stage.add() }
        stage.pass(.seconds(1))
        stage.network([.wifi])
        stage.pass(.seconds(0.5))
        let canary = try #require(stage.startedIDs.first)
        let other = try #require(ids.first { $0 != canary })
        stage.fail(canary, .localNetwork)
        let reason = try #require(stage.explanation(other)?.reasons.first)
        #expect(reason.blocker == .canary && reason.until != nil)
        #expect(reason.text == "What was sent by wlan0 to see whether the link works was not answered.")
        #expect(reason.remedy.hasPrefix("It starts when one is answered; the next one is sent in "))
    }

    @Test mutating func `a user without a slot is given one for a canary, too`() throws {
        stage.network([.wwan])
        stage.network([])
        for number in 0..<5 { try stage.add("https://host\(number).example/", by: 1) }
        stage.network([.wwan])
        stage.pass(.seconds(10))
        #expect(stage.queue.runningCount == 2, "a modem bears two")
        let other = try stage.add("https://b.example/", by: 2)
        stage.pass(.seconds(60))
        #expect(stage.startedIDs.contains(other))
    }

    // MARK: What was cut off, and what is too long

    @Test mutating func `what the server may have received is sent again no sooner than by curl`() throws {
        stage.network([.wifi])
        let id = try stage.add()
        for _ in 0..<100 {
            if stage.state(id) == .running { stage.send(.requestSent(id)) }
            stage.network([])
            stage.pass(.seconds(2))
            stage.network([.wifi])
            stage.pass(.seconds(0.6))
        }
        for (number, (earlier, later)) in zip(stage.starts, stage.starts.dropFirst()).enumerated() {
            let wait = Duration.seconds(1 << min(number, 9))
            #expect(later.at - earlier.at >= wait, "\(number): \(later.at - earlier.at)")
        }
        #expect(stage.starts.count >= 4)
    }

    @Test mutating func `many that the server may have received wait without a turn`() throws {
        var policy = QueuePolicy()
        (policy.slots.all, policy.slots.interface) = (1000, 1000)
        stage = QueueStage(policy)
        stage.network([.wifi])
        // More than one turn touches.
        let ids = try (0..<600).map { try stage.add("https://a\($0).example/") }
        stage.pass(.seconds(30))
        #expect(stage.starts.count == 600)
        for id in ids { stage.send(.requestSent(id)) }
        stage.network([])
        stage.pass(.seconds(2.5))
        // Another network cuts waits, but not theirs.
        stage.network([.wifi])
        let turns = stage.turns
        stage.pass(.seconds(0.4))
        #expect(stage.turns - turns < 20)
        stage.pass(.seconds(60))
        #expect(stage.starts.count > 600)
    }

    @Test mutating func `a long upload waits as long as one that was cancelled before it`() throws {
        stage.network([.wifi])
        func upload() throws -> RequestID {
            try stage.add {
                $0.method = "PUT"
                $0.body = Self.body(50 << 20)
            }
        }
        let first = try upload()
        flap(20, first)
        #expect(stage.blockers(first).contains("window"))
        stage.ask { .cancel(first, .root, $0) }
        let second = try upload()
        // The first one would go after ten minutes in all.
        flap(12, second)
        #expect(!stage.startedIDs.contains(second) && stage.blockers(second).contains("window"))
    }

    /// The link is up for 20 s and down for 5 s, again and again, which cuts off an upload that takes longer.
    private mutating func flap(_ count: Int, _ id: RequestID) {
        for _ in 0..<count {
            stage.pass(.seconds(2))
            if stage.state(id) == .running { stage.send(.requestSent(id)) }
            stage.pass(.seconds(18))
            stage.network([])
            stage.pass(.seconds(5))
            stage.network([.wifi])
        }
    }

    @Test mutating func `an upload that is longer than the link stays is not begun each time, but in the end`()
        throws
    {
        stage.network([.wifi])
        let id = try stage.add {
            $0.method = "PUT"
            $0.body = Self.body(50 << 20)
        }
        flap(20, id)
        #expect(stage.starts.count <= 4, "\(stage.starts.count) times in 500 s")
        let reason = try #require(stage.explanation(id)?.reasons.first { $0.blocker == .window })
        #expect(reason.text.contains("wlan0 recently stayed up for 20 s at most"), "\(reason.text)")
        let small = try stage.add("https://b.example/")
        stage.pass(.seconds(5))
        #expect(stage.startedIDs.last == small, "it holds up nothing")
        stage.answer(small)
        let before = stage.starts.count
        for _ in 0..<16 {
            stage.pass(.seconds(14))
            stage.network([])
            stage.pass(.seconds(5))
            stage.network([.wifi])
            stage.pass(.seconds(5))
        }
        #expect(stage.starts.count > before, "it never starves")
    }
}
