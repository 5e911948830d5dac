import Glibc
import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// Users who do not trust each other: what one of them does costs the others no more than a bounded wait.
@Suite struct SchedulerSharesTests {
    private var stage = QueueStage()
    private static let (alice, bob): (UInt32, UInt32) = (1000, 1001)

    /// Fills all slots with attempts that never end.
    private mutating func drip(_ count: Int = 40, of owner: UInt32 = alice) throws -> [RequestID] {
        try (0..<count).map { number in
            try stage.add("https://drip\(number).example/", by: owner) {
                $0.priority = .urgent
            }
        }
    }

    private func owner(of id: RequestID) -> UInt32? { stage.explanation(id)?.owner }

    private func running(of owner: UInt32) -> Int {
        stage.startedIDs.reduce(into: Set()) { $0.insert($1) }
            .count { stage.state($0) == .running && self.owner(of: $0) == owner }
    }

    @Test mutating func `a user whose slots others keep gets one after five seconds`() throws {
        stage.network([.wired])
        _ = try drip()
        #expect(stage.queue.runningCount == 8)
        let id = try stage.add("https://b.example/", by: Self.bob)
        stage.pass(.seconds(4.9))
        #expect(stage.state(id) != .running && stage.aborted.isEmpty)
        stage.pass(.seconds(0.2))
        #expect(stage.state(id) == .running)
        #expect(stage.aborted.count == 1)
        let interrupted = try #require(stage.events.last { $0.kind == .interrupted })
        #expect(interrupted.reason == "share" && interrupted.owner == Self.alice)
        // It counts as no failure, and is sent again.
        let yielded = try #require(stage.explanation(stage.aborted[0]))
        #expect(yielded.attempts == 0 && yielded.networkFailures == 0 && yielded.state == .waiting)
    }

    @Test mutating func `after one had to wait, the next of that user's requests starts at once`() throws {
        stage.network([.wired])
        _ = try drip()
        let first = try stage.add("https://b.example/", by: Self.bob)
        stage.pass(.seconds(6))
        stage.answer(first)
        #expect(running(of: Self.alice) == 7)
        stage.pass(.seconds(20))
        let second = try stage.add("https://b.example/", by: Self.bob)
        #expect(stage.state(second) == .running)
        stage.answer(second)
        stage.pass(.seconds(61))
        #expect(running(of: Self.alice) == 8)
    }

    @Test mutating func `a free slot goes to the user who has the fewest, whatever the priorities`() throws {
        stage.network([.wired])
        let drips = try drip()
        let id = try stage.add("https://b.example/", by: Self.bob) {
            $0.priority = .low
        }
        stage.answer(drips[0])
        #expect(stage.state(id) == .running)
    }

    @Test mutating func `two users with much to send have half of the slots each, and then no one is interrupted`()
        throws
    {
        stage.network([.wired])
        _ = try drip()
        _ = try drip(of: Self.bob)
        stage.pass(.seconds(120))
        #expect(running(of: Self.alice) == 4 && running(of: Self.bob) == 4)
        #expect(stage.aborted.count == 4)
    }

    @Test mutating func `more users than slots take turns of a minute`() throws {
        var policy = QueuePolicy()
        policy.slots.all = 2
        stage = QueueStage(policy)
        stage.network([.wired])
        for owner in UInt32(1)...5 { _ = try drip(3, of: owner) }
        stage.pass(.seconds(600))
        let served = Set(stage.starts.compactMap { owner(of: $0.order.id) })
        #expect(served == [1, 2, 3, 4, 5])
        // Two slots, turns of a minute: no more than two changes a minute.
        #expect(stage.aborted.count <= 22)
    }

    @Test mutating func `of the user with most slots the least urgent attempt yields, and of those the youngest`()
        throws
    {
        stage.network([.wired])
        for number in 0..<3 { try stage.add("https://c\(number).example/", by: 1002) { $0.priority = .low } }
        var ids: [RequestID] = []
        for priority in [RequestPriority.low, .urgent, .low, .normal, .high] {
            stage.pass(.seconds(1))
            ids.append(try stage.add("https://a\(ids.count).example/", by: Self.alice) { $0.priority = priority })
        }
        #expect(stage.queue.runningCount == 8)
        try stage.add("https://b.example/", by: Self.bob)
        stage.pass(.seconds(6))
        #expect(stage.aborted == [ids[2]])
    }

    @Test mutating func `what may not be repeated keeps its slot`() throws {
        stage.network([.wired])
        for number in 0..<8 {
            var request = try QueuedRequest(RequestSpecification(method: "POST", url: "https://drip\(number).example/"))
            request.owner = Self.alice
            stage.ask { .add(request, $0) }
            if number < 7 { stage.send(.requestSent(RequestID(rawValue: Int64(number + 1)))) }
        }
        _ = try stage.add("https://b.example/", by: Self.bob)
        stage.pass(.seconds(600))
        // Of the one that has not been sent, nothing is lost.
        #expect(stage.aborted == [RequestID(rawValue: 8)])
        #expect(running(of: Self.bob) == 1)
    }

    @Test mutating func `a destination whose room another user has takes one request more`() throws {
        stage.network([.wired])
        for _ in 0..<6 { try stage.add(by: Self.alice) }
        #expect(stage.queue.runningCount == 4)
        let ids = try (0..<3).map { _ in try stage.add(by: Self.bob) }
        #expect(ids.map { stage.state($0) == .running } == [true, false, false])
        #expect(stage.blockers(ids[1]) == ["concurrency"])
    }

    @Test(arguments: 0..<60)
    func `whoever sends however much, shares become max-min fair and no user starves`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var policy = QueuePolicy()
        policy.slots.all = Int.random(in: 3...16, using: &random)
        policy.slots.interface = 16
        var stage = QueueStage(policy, seed: seed)
        stage.network([.wired])
        let users = Int.random(in: 2...5, using: &random)
        var wanted: [UInt32: Int] = [:]
        var owners: [RequestID: UInt32] = [:]
        for user in (1...UInt32(users)).shuffled(using: &random) {
            wanted[user] = Int.random(in: 1...20, using: &random)
            for number in 0..<(wanted[user] ?? 0) {
                let id = try stage.add("https://u\(user)-\(number).example/", by: user) {
                    $0.priority = random.pick(RequestPriority.allCases)
                }
                owners[id] = user
            }
            stage.pass(.seconds(Int.random(in: 0...3, using: &random)))
        }
        // Nothing ends by itself.
        stage.pass(.seconds(300))
        let counts = owners.filter { stage.state($0.key) == .running }.reduce(into: [UInt32: Int]()) {
            $0[$1.value, default: 0] += 1
        }
        #expect(counts.values.reduce(0, +) == min(policy.slots.all, wanted.values.reduce(0, +)))
        // Max-min: who wants more than they have, has at most one less than anybody else.
        for user in wanted.keys where (counts[user] ?? 0) < (wanted[user] ?? 0) {
            for (other, count) in counts where other != user {
                #expect(count <= (counts[user] ?? 0) + 1, "\(counts) of \(policy.slots.all), wanted \(wanted)")
            }
        }
        if users <= policy.slots.all { #expect(counts.count == users) }
    }

    // MARK: The end of its time

    @Test mutating func `the end of its time ends an attempt, which says whether it may have arrived`() throws {
        stage.network([.wired])
        let unsent = try stage.add { $0.timeToLive = .seconds(10) }
        let repeatable = try stage.add { $0.timeToLive = .seconds(10) }
        let once = try stage.add {
            $0.method = "POST"
            $0.timeToLive = .seconds(10)
        }
        for id in [repeatable, once] { stage.send(.requestSent(id)) }
        stage.pass(.seconds(11))
        #expect(Set(stage.aborted) == [unsent, repeatable, once])
        #expect(
            [unsent, repeatable, once].map { stage.explanation($0)?.death } == [.expired, .expired, .indeterminate])
        #expect(stage.queue.runningCount == 0)
    }

    // MARK: Destinations

    @Test mutating func `what a server asks of one user holds back that user, and says so`() throws {
        stage.network([.wired])
        let asked = try stage.add(by: Self.alice)
        stage.answer(asked, 503, headers: ["Retry-After": "99999999"])
        let behind = try stage.add(by: Self.alice)
        let other = try stage.add(by: Self.bob)
        #expect(stage.state(other) == .running)
        let reason = try #require(stage.explanation(behind)?.reasons.first)
        #expect(reason.blocker == .rate)
        let until = try #require(reason.until)
        #expect(reason.text == "The server asked to wait until \(until.wall).")
    }

    @Test mutating func `failures that one user provokes stop that user alone`() throws {
        var policy = QueuePolicy()
        policy.retries.floor = .milliseconds(10)
        policy.retries.base = .milliseconds(10)
        stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add(by: Self.alice)
        for _ in 0..<5 {
            stage.answer(id, 500)
            stage.pass(.milliseconds(400))
        }
        #expect(stage.events.contains { $0.kind == .breakerOpen && $0.owner == Self.alice })
        #expect(stage.blockers(id).contains("breaker"))
        let ids = try (0..<4).map { _ in try stage.add(by: Self.bob) }
        #expect(ids.allSatisfy { stage.state($0) == .running })
    }

    @Test mutating func `a breaker of an earlier run is its owner's`() throws {
        let destination = try Destination(url: "https://a.example/")
        let breaker = StoredBreaker(
            destination: destination, interface: "eth0", owner: Self.alice,
            openUntil: Instant(wall: stage.moment.wall, boot: stage.moment.boot + .seconds(100)), step: 1)
        let rows = try [Self.alice, Self.alice, Self.bob, Self.bob].enumerated().map { number, owner in
            var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"))
            request.owner = owner
            return StoredRequest(
                RequestID(rawValue: Int64(number + 1)), request, created: stage.moment,
                deadline: Instant(wall: stage.moment.wall, boot: stage.moment.boot + .seconds(1000)))
        }
        stage.send(.restore(rows, breakers: [breaker], heldQueues: []))
        stage.network([.wired])
        stage.pass(.seconds(5))
        // In another network it is half open: one attempt finds out.
        #expect(stage.startedIDs.sorted() == [1, 3, 4].map { RequestID(rawValue: $0) })
    }

    // MARK: The first look

    @Test
    mutating func `a burst to a host that is looked at for the first time starts at once, again after it was idle`()
        throws
    {
        stage.network([.wired])
        let destination = try Destination(url: "https://a.example/")
        for _ in 0..<2 {
            let ids = try (0..<4).map { _ in try stage.add(when: "reachable") }
            stage.send(.targetPath(destination, .wired))
            #expect(ids.allSatisfy { stage.state($0) == .running })
            stage.pass(.seconds(1))
            for id in ids { stage.answer(id) }
            stage.pass(.seconds(600))
        }
    }

    @Test mutating func `another condition's path to the same host is known already, and stays known`() throws {
        stage.network([.wired])
        let destination = try Destination(url: "https://a.example/")
        let first = try stage.add(when: "reachable", by: Self.alice)
        stage.send(.targetPath(destination, .wired))
        let second = try stage.add(when: "reachable, unmetered", by: Self.bob)
        #expect(stage.state(second) == .running)
        stage.answer(first)
        stage.send(.targetPath(destination, nil))
        #expect(stage.state(second) == .lingering)
    }

    // MARK: Portals

    @Test mutating func `nothing is sent to a portal, but to a host with a route of its own`() throws {
        let portal = QueuePath.wired.with { ($0.isValidated, $0.isDoubted, $0.hasPortal) = (false, true, true) }
        stage.network([portal])
        stage.pass(.seconds(2))
        let plain = try stage.add("http://a.example/")
        let secure = try stage.add("https://b.example/")
        try stage.route("http://192.0.2.7/", own: [.wired.with { $0.isDoubted = true }])
        let near = try stage.add("http://192.0.2.7/")
        #expect(stage.startedIDs == [near])
        #expect(stage.blockers(plain) == ["not-validated"] && stage.blockers(secure) == ["not-validated"])
        #expect(stage.explanation(plain)?.reasons.first?.text == "A portal answers in the place of the Internet.")
        stage.network([portal, .wifi], newEpoch: false)
        stage.pass(.seconds(3))
        #expect(Set(stage.startedIDs) == [near, plain, secure], "another path has no portal")
    }

    @Test mutating func `what must not be read waits where the Internet does not answer, and nothing else does`() throws
    {
        let doubted = QueuePath.wired.with { ($0.isValidated, $0.isDoubted) = (false, true) }
        let proved = QueuePath.wired
        stage.network([doubted])
        stage.pass(.seconds(2))
        let plain = try stage.add("http://a.example/")
        let secret = try stage.add("http://b.example/") {
            $0.headers = [HeaderField("authorization", "Basic x")]
        }
        let body = try stage.add("http://c.example/") {
            $0.method = "PUT"
            $0.body = .inline([1])
        }
        let secure = try stage.add("https://d.example/") {
            $0.headers = [HeaderField("Cookie", "x")]
        }
        #expect(Set(stage.startedIDs) == [plain, secure])
        #expect(stage.blockers(secret) == ["not-validated"] && stage.blockers(body) == ["not-validated"])
        let reason = try #require(stage.explanation(secret)?.reasons.first)
        #expect(
            reason.text
                == "It has credentials or a body in the clear, and what answers is not proved to be the Internet.")
        stage.network([proved], newEpoch: false)
        stage.pass(.seconds(3))
        #expect(Set(stage.startedIDs) == [plain, secure, secret, body])
    }

    @Test mutating func `without probes nothing waits for them, and another path that is not doubted is taken`() throws
    {
        let unknown = QueuePath.wifi.with { $0.isValidated = false }
        let doubted = QueuePath.wired.with { ($0.isValidated, $0.isDoubted) = (false, true) }
        stage.network([doubted, unknown])
        stage.pass(.seconds(2))
        let secret = try stage.add("http://b.example/") {
            $0.headers = [HeaderField("Cookie", "x")]
        }
        #expect(stage.starts.first { $0.order.id == secret }?.order.path.interface == "wlan0")
    }
}
