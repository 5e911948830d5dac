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
    ///
    /// - Parameter left: All but this number of bytes.
    private func fill(left: Int = 0) {
        truncate(path + "/queue.reserve", 0)
        let file = open(mountPoint + "/filler", O_CREAT | O_WRONLY | O_APPEND, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4096)
        while Glibc.write(file, page, page.count) > 0 {}
        var status = stat()
        fstat(file, &status)
        ftruncate(file, status.st_size - off_t(left))
    }

    private var options: QueueStoreOptions {
        var options = QueueStoreOptions()
        options.retryInterval = .milliseconds(100)
        options.reserveBytes = 4096
        return options
    }

    private func list(_ store: QueueStore) async throws -> [Int64] {
        let records = EventLog<[Int64]>()
        store.records(RecordQuery(limit: 100)) { records.append(((try? $0.get()) ?? []).map(\.id.rawValue)) }
        return try await records.wait(for: 1)[0]
    }

    /// Writes what happens anyway, until the disk does not take it.
    ///
    /// - Returns: How many were taken.
    private func holdUntilPostponed(_ id: Int64, from number: UInt64, in store: QueueStore) async throws -> UInt64 {
        for next in number..<number + 5000 {
            fill()
            let hold = StoreChange.holdRequest(RequestID(rawValue: id), isHeld: next % 2 == 0)
            store.submit(StoreTransaction(number: next, changes: [hold], mayBeRefused: false))
            let notices = try await stage.notices.wait { notices in
                notices.contains { $0.number == next || $0.isPostponement(of: next) }
            }
            if notices.contains(where: { $0.isPostponement(of: next) }) { return next - number }
        }
        throw StoreStage.Failure(text: "the disk is not full")
    }

    @Test func `on a full disk what is kept is read, however often the file is opened again`() async throws {
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
        for id in Int64(6)...100 {
            guard try await stage.write(UInt64(id), [StoreStage.insert(id, try StoreStage.request())], to: store) else {
                break
            }
            written.append(id)
            fill()
        }
        #expect(stage.notices.values.contains { $0.isDegradation })
        _ = try await holdUntilPostponed(1, from: 1000, in: store)
        for _ in 0..<20 {
            usleep(20_000)
            fill()
            #expect(try await list(store) == written)
        }
        let answer = EventLog<String?>()
        store.record(of: RequestID(rawValue: 2)) { answer.append((try? $0.get())??.url) }
        #expect(try await answer.wait(for: 1) == ["https://a.example/x?y=1"])
        let lease = StoreChange.lease(
            RequestID(rawValue: 2), attempt: 1, interface: "lo", isRepeatable: true, at: SystemClock.now)
        store.submit(StoreTransaction(number: 300, changes: [lease], mayBeRefused: false))
        let seen = stage.notices.values.count
        unlink(mountPoint + "/filler")
        let notices = try await stage.notices.wait { notices in
            notices.dropFirst(seen).contains { $0.isRecovery } && notices.contains { $0.number == 300 }
        }
        // It is known what to send.
        let leased = notices.compactMap { if case .committed(300, let leased) = $0 { leased } else { nil } }
        #expect(leased.first?.first?.1.specification.url == "https://a.example/x?y=1")
        #expect(try await list(store) == written)
        #expect(store.close(patience: .seconds(20)))
        let database = try SQLiteDatabase.open(path + "/queue.sqlite")
        #expect(try database.number("SELECT count(*) FROM request") == Int64(written.count))
        #expect(try database.number("SELECT tries FROM request WHERE id = 2") == 1)
    }

    @Test func `a change log that does not fit into the tables is used after a start, and goes on`() async throws {
        guard mount() else { return }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        do {
            // As after a kill: nothing is brought into the tables at the end.
            let database = try QueueDatabase(
                try QueueDirectory(path), options, QueueSchema(), at: SystemClock.now, bootIdentity: "boot")
            for id in Int64(1)...60 {
                var request = try StoreStage.request(.inline([UInt8](repeating: 7, count: 3000)))
                request.specification.uploadProtocol = .tus
                let transaction = StoreTransaction(
                    number: 1, changes: [StoreStage.insert(id, request)], mayBeRefused: true)
                _ = try database.write([transaction]) { _, _ in }
            }
            #expect(database.changeLog.length > 180_000)
        }
        var expected = Array(Int64(1)...60)
        for round in UInt64(1)...3 {
            // Room for SQLite's shared memory, but not for the rows.
            fill(left: 120_000)
            let seen = stage.notices.values.count
            let store = try stage.open(at: path, options: options)
            let contents = try await stage.contents(after: seen)
            #expect(contents.requests.map(\.id.rawValue) == expected && contents.nextID == 61)
            _ = try await stage.notices.wait { $0.dropFirst(seen).contains { $0.isDegradation } }
            #expect(try await list(store) == Array(1...60))
            #expect(
                try await stage.write(round * 1000, [StoreStage.insert(100, try StoreStage.request())], to: store)
                    == false)
            let id = expected.removeFirst()
            let request = RequestID(rawValue: id)
            let lease = StoreChange.lease(request, attempt: 1, interface: "lo", isRepeatable: true, at: SystemClock.now)
            #expect(try await stage.write(round * 1000 + 1, [lease], mayBeRefused: false, to: store))
            let leased = stage.notices.values.compactMap {
                if case .committed(round * 1000 + 1, let leased) = $0 { leased.first?.1.specification } else { nil }
            }
            #expect(leased.first?.body.count == 3000 && leased.first?.uploadProtocol == .tus)
            let end = [StoreStage.finish(id, .done, .inline([1]))]
            #expect(try await stage.write(round * 1000 + 2, end, mayBeRefused: false, to: store))
            let ends = EventLog<RequestEnd?>()
            store.record(of: request) { ends.append((try? $0.get())??.end) }
            #expect(try await ends.wait(for: 1) == [.done])
            store.close(patience: .seconds(20))
        }
        unlink(mountPoint + "/filler")
        let seen = stage.notices.values.count
        let store = try stage.open(at: path, options: options)
        #expect(try await stage.contents(after: seen).requests.map(\.id.rawValue) == expected)
        #expect(try await list(store) == Array(1...60))
        #expect(store.close(patience: .seconds(20)))
        #expect(!stage.notices.values.dropFirst(seen).contains { $0.isDegradation })
        let database = try SQLiteDatabase.open(path + "/queue.sqlite")
        #expect(try database.number("SELECT count(*) FROM request WHERE upload_protocol = 'tus'") == 60)
        #expect(try database.number("SELECT count(*) FROM request WHERE state = 2") == 3)
    }
}
