import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

/// What a client was told is stored comes back after a restart, whatever it is.
@Suite struct AcceptedRequestTests {
    private static let pieces = [
        "a", "\u{301}", "e\u{301}", "\0", "\n", "'", "\"", "\u{1f469}\u{200d}\u{1f4bb}", " ", "\u{fffd}", "%",
    ]

    /// A text of at most this number of bytes, mostly of exactly so many.
    private static func text(_ limit: Int, _ random: inout SeededGenerator) -> String {
        let length = random.pick([1, 2, limit / 2, limit, limit])
        var text = ""
        let piece = random.pick(pieces)
        while text.utf8.count + piece.utf8.count <= length { text += random.oneIn(9) ? "a" : piece }
        return text + String(repeating: "a", count: length - text.utf8.count)
    }

    private static func specification(_ random: inout SeededGenerator) throws -> RequestSpecification {
        let path = String(repeating: "p", count: random.pick([0, 10, 60_000]))
        var request = try RequestSpecification(
            method: random.pick(["GET", "POST", "PATCH", String(repeating: "M", count: 32)]),
            url: "https://\(random.pick(["h.example", "[2001:db8::1]:81"]))/\(path)")
        for _ in 0..<random.pick([0, 1, 40]) {
            request.headers.append(HeaderField("X-\(random.pick([1, 2]))", random.pick(["", "v", " \u{301}", "a: b"])))
        }
        let terms = (0..<random.pick([1, 2, 64])).map { number in
            random.pick(["not network=n\(number)", "unmetered", "not wwan", "interface=e\u{301}", "validated"])
        }
        request.condition = (try? NetworkCondition(terms.joined(separator: ","))) ?? .any
        if random.oneIn(2) { request.idempotency = .key("k" + String(repeating: "i", count: random.pick([0, 1023]))) }
        let key = text(1024, &random)
        if random.oneIn(2) {
            request.orderKey = key
            request.dependsOnPrevious = random.oneIn(2)
        } else if random.oneIn(2) {
            request.uniqueness = .unique(name: key, mode: random.pick(RequestUniqueness.Mode.allCases))
        }
        request.priority = random.pick(RequestPriority.allCases)
        request.timeToLive = random.pick([nil, .milliseconds(1), QueueLimits.longestLife])
        request.maximumAttempts = random.pick([nil, 1, .max])
        request.acceptedStatuses = Array(repeating: 100...599, count: random.pick([1, 32]))
        request.isStrict = random.oneIn(2)
        if random.oneIn(4) { request.tag = text(200, &random) }
        if random.oneIn(4) { request.body = .inline(random.bytes(random.pick([1, 5000]))) }
        return request
    }

    @Test(arguments: 0..<6)
    func `whatever is accepted is there after a restart, as it was`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let stage = try StoreStage()
        let began = SystemClock.now.wall.nanosecondsSince1970
        var accepted: [Int64: RequestSpecification] = [:]
        var changes: [StoreChange] = []
        for id in Int64(1)...60 {
            let request = try Self.specification(&random)
            guard (try? request.check(QueueLimits())) != nil else { continue }
            accepted[id] = request
            changes.append(StoreStage.insert(id, QueuedRequest(request, owner: 1000)))
        }
        #expect(accepted.count > 20)
        let first = try stage.open()
        _ = try await stage.contents()
        #expect(try await stage.write(1, changes, to: first))
        first.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        let again = try stage.open()
        let contents = try await stage.wholeContents(after: seen).whole
        #expect(contents.rowsSetAside.count == 0 && contents.setAside == nil)
        #expect(Set(contents.requests.map(\.id.rawValue)) == Set(accepted.keys))
        for stored in contents.requests {
            let request = try #require(accepted[stored.id.rawValue])
            #expect(stored.condition == request.condition && stored.orderKey == request.orderKey)
            #expect(stored.uniqueness == request.uniqueness && stored.bytesHeld == request.bytesHeld)
            #expect(stored.deadline.wall.nanosecondsSince1970 > began - 1_000_000_000)
            let reports = EventLog<RequestReport?>()
            again.record(of: stored.id) { reports.append(try? $0.get()) }
            let report = try #require(try await reports.wait(for: 1)[0])
            #expect(report.url == request.url && report.method == request.method)
            #expect(report.idempotency.key == request.idempotency.key)
        }
        again.close(patience: .seconds(5))
    }
}
