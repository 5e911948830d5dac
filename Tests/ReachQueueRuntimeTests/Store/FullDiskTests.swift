import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// What the store does on a disk without any room, not even in the reserve.
@Suite struct FullDiskTests {
    private let stage: StoreStage
    private var mountPoint: String { stage.temporary.path + "/small" }
    private var path: String { mountPoint + "/queue" }

    init() throws { stage = try StoreStage() }

    private func mount() -> Bool {
        mkdir(mountPoint, 0o700)
        if Glibc.mount("tmpfs", mountPoint, "tmpfs", 0, "size=4m") == 0 { return true }
        print("skipped: a small file system cannot be mounted: \(String(cString: strerror(errno)))")
        return false
    }

    /// Takes all room, that of the reserve too.
    private func fill() {
        truncate(path + "/queue.reserve", 0)
        let file = open(mountPoint + "/filler", O_CREAT | O_WRONLY | O_APPEND, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4096)
        while Glibc.write(file, page, page.count) > 0 {}
    }

    private var options: QueueStoreOptions {
        var options = QueueStoreOptions()
        options.retryInterval = .milliseconds(100)
        return options
    }

    private func list(_ store: QueueStore) async throws -> [Int64] {
        let records = EventLog<[Int64]>()
        store.records(RecordQuery(limit: 100)) { records.append(((try? $0.get()) ?? []).map(\.id.rawValue)) }
        return try await records.wait(for: 1)[0]
    }

    @Test func `what was acknowledged is read, and survives restarts, until there is room again`() async throws {
        guard mount() else { return }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        let store = try stage.open(at: path, options: options)
        _ = try await stage.contents()
        var written: [Int64] = []
        for id in Int64(1)...5 {
            #expect(try await stage.write(UInt64(id), [StoreStage.insert(id, try StoreStage.request())], to: store))
            written.append(id)
        }
        fill()
        #expect(try await list(store) == written)
        // Until nothing fits into the last page of the change log.
        for id in Int64(6)...100 {
            guard try await stage.write(UInt64(id), [StoreStage.insert(id, try StoreStage.request())], to: store) else {
                break
            }
            written.append(id)
        }
        #expect(stage.notices.values.contains { $0.isDegradation })
        // Tried again, the file is still read.
        usleep(300_000)
        #expect(try await list(store) == written)
        store.submit(StoreTransaction(number: 200, changes: [StoreStage.finish(1)], mayBeRefused: false))
        _ = try await stage.notices.wait { $0.contains { if case .postponed(200) = $0 { true } else { false } } }
        store.close(patience: .seconds(5))
        for _ in 0..<2 {
            let seen = stage.notices.values.count
            let again = try stage.open(at: path, options: options)
            #expect(try await stage.contents(after: seen).requests.map(\.id.rawValue) == written)
            again.close(patience: .seconds(5))
        }
        let seen = stage.notices.values.count
        let last = try stage.open(at: path, options: options)
        _ = try await stage.contents(after: seen)
        let lease = StoreChange.lease(
            RequestID(rawValue: 2), attempt: 1, interface: "lo", isRepeatable: true, at: SystemClock.now)
        last.submit(StoreTransaction(number: 300, changes: [lease], mayBeRefused: false))
        _ = try await stage.notices.wait { $0.contains { if case .postponed(300) = $0 { true } else { false } } }
        unlink(mountPoint + "/filler")
        let notices = try await stage.notices.wait { notices in
            notices.dropFirst(seen).contains { $0.isRecovery } && notices.contains { $0.number == 300 }
        }
        // It is known what to send.
        let leased = notices.compactMap { if case .committed(300, let leased) = $0 { leased } else { nil } }
        #expect(leased.first?.first?.1.url == "https://a.example/x?y=1")
        #expect(try await list(last) == written)
        last.close(patience: .seconds(5))
        let database = try SQLiteDatabase.open(path + "/queue.sqlite")
        #expect(try database.number("SELECT count(*) FROM request") == Int64(written.count))
        #expect(try database.number("SELECT tries FROM request WHERE id = 2") == 1)
    }
}
