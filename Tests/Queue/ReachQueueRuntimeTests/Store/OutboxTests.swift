import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// The events of transactions, which the queue's file keeps until their receiver has them.
@Suite struct OutboxTests {
    private let stage: StoreStage
    /// What was delivered: `queued 1`, with a star if it is repeated.
    private let delivered = EventLog<String>()
    private let numbers = EventLog<Int64>()

    init() throws { stage = try StoreStage() }

    private var outbox: QueueOutbox {
        QueueOutbox { event in
            Array("\(event.kind.rawValue) \(event.request?.rawValue ?? 0)".utf8)
        } deliver: { [delivered, numbers] rows, isRepeated in
            for row in rows {
                numbers.append(row.number)
                delivered.append(String(decoding: row.event, as: UTF8.self) + (isRepeated ? "*" : ""))
            }
        }
    }

    private func open(
        _ outbox: QueueOutbox?, observe: @escaping @Sendable (StorePoint, [StoreTransaction]) -> Void = { _, _ in }
    ) throws -> QueueStore {
        try QueueStore(try QueueDirectory(stage.path), outbox: outbox, observe: observe) { [notices = stage.notices] in
            notices.append($0)
        }
    }

    private func event(_ kind: QueueEvent.Kind, _ id: Int64) -> QueueEvent {
        var event = QueueEvent(kind, at: SystemClock.now, epoch: 0)
        event.request = RequestID(rawValue: id)
        return event
    }

    private func add(_ id: Int64, _ kinds: [QueueEvent.Kind], to store: QueueStore) async throws {
        store.submit(
            StoreTransaction(
                number: UInt64(id), changes: [StoreStage.insert(id, try StoreStage.request())], mayBeRefused: true,
                events: kinds.map { event($0, id) }))
        _ = try await stage.notices.wait(within: .seconds(20)) { notices in
            notices.contains { $0.number == UInt64(id) }
        }
    }

    private func hasTable() throws -> Bool {
        let database = try SQLiteDatabase.open(stage.file)
        return try database.number("SELECT count(*) FROM sqlite_master WHERE name = 'journal_event'") == 1
    }

    @Test func `events of what is kept are delivered in order, once, until they are trimmed`() async throws {
        var store = try open(outbox)
        try await add(1, [.queued, .waiting, .suspended], to: store)
        try await add(2, [.queued], to: store)
        #expect(delivered.values == ["queued 1", "suspended 1", "queued 2"])
        #expect(numbers.values == [1, 2, 3])
        store.trimOutbox(upTo: 2)
        store.close(patience: .seconds(20))
        // The next run begins with what was not trimmed, and its numbers go on.
        store = try open(outbox)
        try await add(3, [.queued], to: store)
        #expect(delivered.values.suffix(2) == ["queued 2*", "queued 3"])
        #expect(numbers.values.suffix(2) == [3, 4])
        store.trimOutbox(upTo: 4)
        store.close(patience: .seconds(20))
        store = try open(outbox)
        try await add(4, [.queued], to: store)
        #expect(delivered.values.last == "queued 4" && numbers.values.last == 5)
        store.close(patience: .seconds(20))
    }

    @Test func `an event is not delivered before the commit`() async throws {
        let order = EventLog<String>()
        let outbox = QueueOutbox { _ in
            [1]
        } deliver: { rows, _ in
            order.append("delivered \(rows.count)")
        }
        let store = try open(outbox) { point, _ in order.append(point.rawValue) }
        try await add(1, [.queued], to: store)
        #expect(order.values == ["before-commit", "after-commit", "delivered 1"])
        store.close(patience: .seconds(20))
    }

    @Test func `a transaction that the tables reject leaves no event, and the others theirs`() async throws {
        let store = try open(outbox)
        try await add(1, [.queued], to: store)
        // The number is taken.
        let again = StoreTransaction(
            number: 90, changes: [StoreStage.insert(1, try StoreStage.request())], mayBeRefused: true,
            events: [event(.queued, 90)])
        store.submit(again)
        try await add(2, [.queued], to: store)
        #expect(delivered.values == ["queued 1", "queued 2"])
        #expect(numbers.values == [1, 2])
        store.close(patience: .seconds(20))
    }

    @Test func `without a receiver there is no table, and what one left goes`() async throws {
        var store = try open(nil)
        try await add(1, [.queued], to: store)
        store.close(patience: .seconds(20))
        #expect(try !hasTable())
        store = try open(outbox)
        try await add(2, [.queued], to: store)
        store.close(patience: .seconds(20))
        #expect(try hasTable())
        store = try open(nil)
        store.close(patience: .seconds(20))
        #expect(try !hasTable())
        #expect(delivered.values == ["queued 2"])
    }
}
