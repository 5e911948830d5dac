import ReachCore
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// What was moved over metered links, in the queue's file.
@Suite struct MeteredStoreTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    private static func account(_ scope: MeteredScope, _ bytes: Int64, first: Int64? = 20_000) -> MeteredAccount {
        var account = MeteredAccount(scope)
        (account.first, account.bytes) = (first, bytes)
        return account
    }

    @Test func `accounts are read as they were written last, also from the change log alone`() async throws {
        var full = Self.account(.link("wwan*"), 1 << 49)
        (full.reported, full.ahead) = (80, 20_400)
        full.before = MeteredAccount.Earlier(first: 19_970, bytes: 5)
        let early = Self.account(.user(7), 3, first: nil)
        var store = try stage.open()
        _ = try await stage.contents()
        let written = [Self.account(.all, 1), full, Self.account(.user(8), 4), Self.account(.all, 700), early]
        for (number, account) in written.enumerated() {
            _ = try await stage.write(UInt64(number + 1), [.setMetered(account)], to: store)
        }
        _ = try await stage.write(9, [.setMetered(Self.account(.user(8), 0))], to: store)
        for _ in 0..<2 {
            store.close(patience: .seconds(5))
            let count = stage.notices.values.count
            store = try stage.open()
            #expect(try await stage.contents(after: count).metered == [Self.account(.all, 700), full, early])
        }
        store.close(patience: .seconds(5))
    }

    @Test func `odd rows stop nothing`() async throws {
        var store = try stage.open()
        _ = try await stage.contents()
        store.close(patience: .seconds(5))
        let database = try SQLiteDatabase.open(stage.file)
        try database.execute(
            """
            INSERT INTO metered VALUES ('all', -9223372036854775807, -5, 99, 9223372036854775807, 1, -1);
            INSERT INTO metered VALUES ('user:7', 20000, 9223372036854775807, 1000, 1, 'x', NULL);
            INSERT INTO metered VALUES ('nothing', 1, 1, 1, 1, 1, 1);
            INSERT INTO metered VALUES (x'00', 1, 1, 1, 1, 1, 1);
            """)
        let count = stage.notices.values.count
        store = try stage.open()
        let found = try await stage.contents(after: count).metered
        #expect(found.map(\.scope) == [.all, .user(7)])
        #expect(found.map(\.bytes) == [0, MeteredBudget.most] && found.map(\.reported) == [80, 100])
        #expect(found.map(\.first) == [nil, 20_000] && found[0].before == nil && found[0].ahead == nil)
        store.close(patience: .seconds(5))
    }
}
