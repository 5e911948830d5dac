import ReachCore
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// Joined requests in the queue's file.
@Suite struct JoinStoreTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    private static func insertion(_ number: Int64, _ body: String) throws -> StoreChange {
        var request = try RequestSpecification(
            method: "POST", url: "https://a.example/r", body: .inline(Array(body.utf8)))
        request.uniqueness = .joined(key: "k", form: .json)
        let queued = QueuedRequest(request.completed { "key-\(number)" }, owner: 7)
        let now = Instant(wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), boot: .init(nanoseconds: 1))
        return .insert(
            StoredRequest(RequestID(rawValue: number), queued, created: now, deadline: now.after(.seconds(86_400))),
            queued)
    }

    private static func lease(_ number: Int64, attempt: Int) -> StoreChange {
        .lease(
            RequestID(rawValue: number), attempt: attempt, interface: "eth0", isRepeatable: true,
            at: Instant(wall: Timestamp(nanosecondsSince1970: 1), boot: .init(nanoseconds: 1)))
    }

    /// What is to be sent for the lease of a transaction.
    private func leased(by number: UInt64, after count: Int = 0) throws -> RequestSpecification? {
        for case .committed(number, let leased) in stage.notices.values.dropFirst(count) {
            return leased.first?.1.specification
        }
        return nil
    }

    @Test func `each attempt has the same bodies and the same key, also after a restart, from the log or the tables`()
        async throws
    {
        var store = try stage.open()
        _ = try await stage.contents()
        for number in Int64(1)...4 {
            _ = try await stage.write(
                UInt64(number), [try Self.insertion(number, "{\"n\":\(number)}")], to: store)
        }
        let (carrier, others) = (RequestID(rawValue: 2), [1, 4].map { RequestID(rawValue: $0) })
        _ = try await stage.write(5, [.join(carrier, others), Self.lease(2, attempt: 1)], to: store)
        let first = try #require(try leased(by: 5))
        #expect(first.body == .inline(Array("[{\"n\":1},{\"n\":2},{\"n\":4}]".utf8)))
        #expect(first.headers.first { $0.isNamed("Idempotency-Key") }?.value == "key-2.joined")
        for attempt in 2...3 {
            store.close(patience: .seconds(5))
            let count = stage.notices.values.count
            store = try stage.open()
            let contents = try await stage.contents(after: count)
            #expect(contents.requests.map { $0.carrier?.rawValue } == [2, nil, nil, 2])
            #expect(contents.requests.allSatisfy { $0.joinGroup != nil && $0.bodyBytes == 7 })
            _ = try await stage.write(UInt64(10 + attempt), [Self.lease(2, attempt: attempt)], to: store)
            let again = try #require(try leased(by: UInt64(10 + attempt), after: count))
            #expect(again.body == first.body && again.headers == first.headers && again.url == first.url)
        }
        _ = try await stage.write(20, [Self.lease(3, attempt: 1)], to: store)
        #expect(try #require(try leased(by: 20)).body == .inline(Array("[{\"n\":3}]".utf8)), "alone, in the same form")
        store.close(patience: .seconds(5))
    }
}

extension Instant {
    fileprivate func after(_ time: Duration) -> Instant { Instant(wall: wall + time, boot: boot + time) }
}
