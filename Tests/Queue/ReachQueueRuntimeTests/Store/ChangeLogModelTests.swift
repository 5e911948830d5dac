import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// Any changes, together in the tables of one queue and one after the other in those of another: both must have the
/// same in the end, whatever happens to the first one between two changes.
@Suite struct ChangeLogModelTests {
    private let stage: StoreStage
    private let now = SystemClock.now

    init() throws { stage = try StoreStage() }

    private func open(_ directory: QueueDirectory, replacing old: QueueDatabase? = nil) throws -> QueueDatabase {
        let database = try QueueDatabase(
            directory, QueueStoreOptions(), QueueSchema(), at: now, bootIdentity: "boot", replacing: old)
        if old == nil {
            _ = try database.begin(at: now)
            // What a restart does.
            try database.flush()
        }
        return database
    }

    /// What there is to know of a queue.
    private func picture(of database: QueueDatabase) throws -> String {
        let reports = try database.reports(RecordQuery(limit: 10_000))
        let whole = try reports.map { try database.report(on: $0.id) }
        return "\(try database.contents(at: now))\n\(whole)\n\(try database.spoolNames().sorted())"
    }

    /// The rows themselves. What the last lease of a request was is kept for people alone.
    private func rows(of database: QueueDatabase) throws -> String? {
        let columns = RequestColumn.names.filter { !$0.hasPrefix("lease_") }
        let row = columns.map { "quote(\($0))" }.joined(separator: "||','||")
        return try database.database.text(
            """
            SELECT (SELECT group_concat(\(row), x'0a') FROM (SELECT * FROM request ORDER BY id))
                || (SELECT group_concat(request || ' ' || hex(bytes)) FROM (SELECT * FROM body ORDER BY request))
                || (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'request')
            """)
    }

    /// REACH_LONG_TESTS=1 takes 400 of them.
    @Test(arguments: 0..<UInt64(getenv("REACH_LONG_TESTS") == nil ? 12 : 400))
    func `whatever is written, read, folded, killed and opened again, nothing differs from the tables alone`(
        seed: UInt64
    )
        throws
    {
        var random = SeededGenerator(seed: seed)
        var changes = RandomChanges(now: now)
        let directory = try QueueDirectory(stage.path)
        var kept: QueueDatabase? = try open(directory)
        let plain = try open(try QueueDirectory(stage.temporary.path + "/plain"))
        var removed: Set<String> = []
        var isKilled = false
        for step in 0..<80 {
            if isKilled {
                // Nothing is brought into the tables at the end.
                kept = nil
                isKilled = false
                kept = try open(directory)
                removed.formUnion(changes.files.subtracting(try kept?.spoolNames() ?? []))
            }
            let logged = try #require(kept)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try logged.flush()
            case 1: _ = try logged.reports(RecordQuery(limit: 10))
            case 2: #expect(try picture(of: logged) == picture(of: plain), "step \(step)")
            case 3: isKilled = true
            case 4:
                logged.unfold()
                let fresh = try open(directory, replacing: logged)
                try fresh.flushAgain()
                kept = fresh
            case 5: logged.unfold()
            default:
                let transactions = (0...Int.random(in: 0...2, using: &random)).map { _ in
                    StoreTransaction(number: 1, changes: changes.next(&random), mayBeRefused: true)
                }
                let receipts = try logged.write(transactions) { _, _ in }
                var expected: [StoreReceipt] = []
                for transaction in transactions {
                    expected += try plain.write([transaction]) { _, _ in }
                    try plain.flush()
                }
                #expect(receipts.allSatisfy { $0.rejection == nil } && receipts.count == expected.count)
                let leased = receipts.flatMap(\.leased).map(\.1.specification)
                #expect(leased == expected.flatMap(\.leased).map(\.1.specification), "step \(step)")
                removed.formUnion(receipts.flatMap(\.filesToRemove))
            }
            try? kept?.makeTablesSafe()
            removed.formUnion(kept?.safety.removable ?? [])
            #expect(kept?.fold.now.leftOut == [] && kept?.losses == [])
        }
        let logged = try #require(kept)
        #expect(try picture(of: logged) == picture(of: plain))
        try logged.flush()
        try logged.makeTablesSafe()
        removed.formUnion(logged.safety.removable)
        #expect(try rows(of: logged) == rows(of: plain))
        // All files go that nothing names, and no others.
        #expect(try removed == changes.files.subtracting(logged.spoolNames()))
    }
}

/// Changes as the scheduler makes them, of requests of all kinds.
private struct RandomChanges {
    private enum State { case waiting, leased, dead, over }

    let now: Instant
    private var states: [Int64: State] = [:]
    private var last: Int64 = 0
    /// All spool files that were named.
    private(set) var files: Set<String> = []

    init(now: Instant) { self.now = now }

    private func moment(_ random: inout SeededGenerator) -> Instant {
        let seconds = Duration.seconds(Int64.random(in: -5000...5000, using: &random))
        return Instant(wall: now.wall + seconds, boot: now.boot + seconds)
    }

    private mutating func body(_ name: String, _ random: inout SeededGenerator) -> RequestBody {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return .none
        case 1: return .inline(random.bytes(Int.random(in: 1...500, using: &random)))
        default:
            // The next answer of a request that is sent again has the same name, but is another file.
            let file = "\(name)-\(files.count)"
            files.insert(file)
            return .spooled(name: file, bytes: 7)
        }
    }

    private func progress(_ id: Int64, _ random: inout SeededGenerator) -> RequestProgress {
        RequestProgress(
            id: RequestID(rawValue: id), attempts: Int.random(in: 0...9, using: &random),
            networkFailures: Int.random(in: 0...9, using: &random), tries: Int.random(in: 1...9, using: &random),
            isHeld: random.oneIn(2), notBefore: random.oneIn(2) ? moment(&random) : nil,
            isNetworkFailure: random.oneIn(2), waitsSince: random.oneIn(2) ? moment(&random) : nil)
    }

    private mutating func insertion(_ random: inout SeededGenerator) throws -> StoreChange {
        last += Int64.random(in: 1...3, using: &random)
        states[last] = .waiting
        var request = try StoreStage.request(body("body-\(last)", &random))
        if random.oneIn(2) { request.specification.uploadProtocol = .tus }
        request.specification.followsRedirects = random.oneIn(2)
        request.specification.isCompressed = random.oneIn(2)
        if random.oneIn(2) { request.specification.tag = "t\(last)" }
        if random.oneIn(3) { request.specification.maximumAttempts = 3 }
        let end = Instant(wall: now.wall + .seconds(100), boot: now.boot + .seconds(100))
        return .insert(StoredRequest(RequestID(rawValue: last), request, created: now, deadline: end), request)
    }

    private mutating func end(_ id: Int64, _ random: inout SeededGenerator) -> StoreChange {
        let end: RequestEnd = random.pick([.done, .dead(.expired), .dead(.refused), .cancelled(.byUser)])
        if case .dead = end { states[id] = .dead } else { states[id] = .over }
        var result: RequestResult?
        if random.oneIn(2) {
            result = RequestResult(
                status: 200, headers: [HeaderField("A", "b")],
                body: body(QueueDirectory.answerName(RequestID(rawValue: id)), &random))
        }
        return .finish(progress(id, &random), end, result, at: now)
    }

    /// Some changes that follow from what is there. A lease is alone: nothing happens to a request while it begins.
    mutating func next(_ random: inout SeededGenerator) -> [StoreChange] {
        var changes: [StoreChange] = []
        for _ in 0...Int.random(in: 0...2, using: &random) {
            let (before, files) = (states, files)
            guard let change = try? change(&random) else { continue }
            if case .lease = change, !changes.isEmpty { (states, self.files) = (before, files); break }
            changes.append(change)
            if case .lease = change { break }
        }
        return changes
    }

    private mutating func change(_ random: inout SeededGenerator) throws -> StoreChange {
        guard !random.oneIn(4), let id = states.keys.sorted().randomElement(using: &random), let state = states[id]
        else {
            return try insertion(&random)
        }
        let request = RequestID(rawValue: id)
        switch (state, Int.random(in: 0..<6, using: &random)) {
        case (.waiting, 0...2):
            states[id] = .leased
            return .lease(
                request, attempt: Int.random(in: 1...9, using: &random), interface: "eth0", isRepeatable: true, at: now)
        case (.leased, 0...2):
            states[id] = .waiting
            return .update(progress(id, &random))
        case (.waiting, 3), (.leased, 3): return .holdRequest(request, isHeld: random.oneIn(2))
        case (.waiting, _), (.leased, _): return end(id, &random)
        case (.dead, 0...2):
            states[id] = .waiting
            return .revive(progress(id, &random), deadline: moment(&random))
        case (.over, 0...2): return .markRead(request)
        case (.dead, _), (.over, _):
            states[id] = nil
            return .purge([request])
        }
    }
}
