import Glibc
import ReachControl
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachDaemon
import ReachRecords

/// Files that a daemon wrote before the history and the journal shared one kind of file: it was killed once, and
/// stopped once.
@Suite struct EarlierFilesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `a history of an earlier version is read, and continued`() throws {
        let files = HistoryFiles(directory: directory.path)
        try directory.file("history.jsonl", Self.history)
        #expect(try files.read().damaged == 0)
        #expect(
            try files.read().entries.map(\.content.word) == [
                "started", "internet not-reachable*", "internet reachable", "internet not-reachable", "started",
                "internet not-reachable*", "internet reachable", "stopped",
            ])
        let history = try EventHistory(files, entries: 100, at: SystemClock.now, boot: "b") { Issue.record("\($0)") }
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        let log = try files.read()
        #expect(log.damaged == 0)
        #expect(log.entries.suffix(2).map(\.content) == [.started(lastSeen: nil), .stopped])
        #expect(SmallFile.text(files.current)?.hasPrefix(Self.history) == true)
    }

    @Test func `a journal of an earlier version is read, and its log is continued`() throws {
        let files = JournalFiles(stateDirectory: directory.path)
        mkdir(files.directory, 0o700)
        // The header names the inode of the file, and a copy begins another log.
        let file = try LineFile(files.path(of: 1), mode: 0o600)
        try file.append(JournalSegment.header(log: Self.log, first: 1, inode: file.inode))
        try file.append(Array(Self.events.utf8))
        try AtomicFile.replace(files.head, with: Array(Self.head.utf8))

        var store = try JournalStore(files, JournalStore.Options(), boot: "another")
        #expect(store.log == Self.log && store.last == 4 && store.lastSeen == nil)
        try JournalStage.append("new", to: &store)
        let slice = try store.read(JournalQuery(after: 0), of: nil)
        let records = try slice.events.map { try JournalRecord(reading: JSONReader.read($0)) }
        #expect(records.map(\.type) == ["started", "snapshot", "change", "stopped", "resync"])
        #expect(records.map(\.number) == [1, 2, 3, 4, 5])
    }

    @Test func `a copy of a journal of an earlier version is read, and begins another log`() throws {
        let files = JournalFiles(stateDirectory: directory.path)
        mkdir(files.directory, 0o700)
        try directory.file("journal/events.1.jsonl", Self.header + Self.events)
        try directory.file("journal/head.json", Self.head)
        let store = try JournalStore(files, JournalStore.Options(), boot: "b")
        #expect(store.log != Self.log && store.last == 0)
        #expect(try store.read(JournalQuery(log: Self.log, after: 1), of: nil).events.count == 4, "three, and a gap")
    }

    private static let log = "f0afcab6651aba6a2be634ce44c71bbb"

    private static let history = #"""
        {"v":1,"type":"started","time":"2026-11-27T03:27:37.052206Z","boottime_ns":14576456566431,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","crc":"76bb7ddd"}
        {"v":1,"type":"state","time":"2026-11-27T03:27:37.063462Z","boottime_ns":14576467820989,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","target":"internet","status":"not-reachable","class":null,"interface":null,"reason":"no-route","root_cause":"no-default-route","root_interface":"eth0","cause":"start","change":false,"crc":"78d30c98"}
        {"v":1,"type":"state","time":"2026-11-27T03:27:38.950065Z","boottime_ns":14578354424983,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","target":"internet","status":"reachable","class":"virtual","interface":"eth0","reason":null,"cause":"route-added","change":true,"crc":"ee29ec73"}
        {"v":1,"type":"state","time":"2026-11-27T03:27:39.962506Z","boottime_ns":14579366866010,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","target":"internet","status":"not-reachable","class":null,"interface":null,"reason":"no-carrier","root_cause":"no-carrier","root_interface":"eth0","cause":"carrier-lost","change":true,"crc":"b07b1532"}
        {"v":1,"type":"started","time":"2026-11-27T03:27:41.552180Z","boottime_ns":14580956539697,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","last_seen":"2026-11-27T03:27:39.961090Z","crc":"bc3ac0b6"}
        {"v":1,"type":"state","time":"2026-11-27T03:27:41.566113Z","boottime_ns":14580970472570,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","target":"internet","status":"not-reachable","class":null,"interface":null,"reason":"no-carrier","root_cause":"no-carrier","root_interface":"eth0","cause":"start","change":false,"crc":"5ba05a9c"}
        {"v":1,"type":"state","time":"2026-11-27T03:27:43.500590Z","boottime_ns":14582904949599,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","target":"internet","status":"reachable","class":"virtual","interface":"eth0","reason":null,"cause":"carrier-gained","change":true,"crc":"7b20a9b0"}
        {"v":1,"type":"stopped","time":"2026-11-27T03:27:44.542157Z","boottime_ns":14583946517028,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","crc":"413a23cf"}

        """#

    private static let header = #"""
        {"v":1,"type":"journal","log":"f0afcab6651aba6a2be634ce44c71bbb","first":1,"inode":16334949,"crc":"601bd4fc"}

        """#

    private static let events = #"""
        {"log":"f0afcab6651aba6a2be634ce44c71bbb","n":1,"v":1,"type":"started","time":"2026-11-27T03:27:37.052609Z","boottime_ns":14576456967987,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","crc":"9f6d16d1"}
        {"log":"f0afcab6651aba6a2be634ce44c71bbb","n":2,"v":1,"type":"snapshot","time":"2026-11-27T03:27:37.063462Z","boottime_ns":14576467820989,"initial":true,"cause":"start","changed":[],"previous":null,"status":{"v":1,"type":"status","time":"2026-11-27T03:27:37.063462Z","boottime_ns":14576467820989,"source":"daemon","target":"internet","status":"not-reachable","class":null,"interface":null,"reason":"no-route","root_cause":"no-default-route","root_interface":"eth0","afnetworking":0,"metered":false,"connectivity":"unknown","portal":null,"validated":false,"since":"2026-11-27T03:27:37.062605Z","connectivity_since":"2026-11-27T03:27:37.062605Z","epoch":1,"stale":false,"held":false,"flaps":0,"ipv4":{"status":"not-reachable","reason":"no-route"},"ipv6":{"status":"not-reachable","reason":"no-route"}},"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","crc":"e6d7dede"}
        {"log":"f0afcab6651aba6a2be634ce44c71bbb","n":3,"v":1,"type":"change","time":"2026-11-27T03:27:38.950065Z","boottime_ns":14578354424983,"initial":false,"cause":"route-added","changed":["status"],"previous":{"status":"not-reachable","class":null,"interface":null,"reason":"no-route","root_cause":"no-default-route","root_interface":"eth0"},"status":{"v":1,"type":"status","time":"2026-11-27T03:27:38.950065Z","boottime_ns":14578354424983,"source":"daemon","target":"internet","status":"reachable","class":"virtual","interface":"eth0","reason":null,"root_cause":null,"root_interface":null,"afnetworking":2,"metered":false,"connectivity":"unknown","portal":null,"validated":false,"since":"2026-11-27T03:27:38.950065Z","connectivity_since":"2026-11-27T03:27:37.062605Z","epoch":2,"stale":false,"held":false,"flaps":0,"ipv4":{"status":"reachable","interface":"eth0","ifindex":3,"class":"virtual","carrier_class":null,"lower":[],"gateway":"192.0.2.1","source":"192.0.2.17","table":254,"metric":null,"neighbour":"none","metered":false,"connectivity":"unknown","reason":null},"ipv6":{"status":"not-reachable","reason":"no-route"}},"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","crc":"f033e04c"}
        {"log":"f0afcab6651aba6a2be634ce44c71bbb","n":4,"v":1,"type":"stopped","time":"2026-11-27T03:27:44.524690Z","boottime_ns":14583929050051,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","crc":"4e83de40"}

        """#

    private static let head = #"""
        {"log":"f0afcab6651aba6a2be634ce44c71bbb","last":4,"boot":"d84fbd71-8676-4c05-946a-f2f4b185cf25","closed":true,"crc":"2cebdf6b"}

        """#
}
