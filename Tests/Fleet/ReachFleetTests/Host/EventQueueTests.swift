import ReachCore
import Testing

@testable import ReachFleet

/// Which events go in the next chunk.
@Suite struct EventQueueTests {
    private static let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), boot: BootTime(nanoseconds: 7))

    /// - Parameter bytes: The length of its line; `nil` for an event that stays on the host.
    private static func entry(_ n: UInt64, _ bytes: Int? = 9, log: String = "a", boot: String = "b") -> JournalEntry {
        JournalEntry(
            log: log, n: n, boot: boot, moment: moment,
            line: bytes.map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) })
    }

    private static func gap(_ first: UInt64, _ last: UInt64, _ reason: String = "expired") -> JournalEntry {
        JournalEntry(gap: reason, log: "a", first: first, last: last, boot: "b", moment: moment)
    }

    private static func queue(_ entries: [JournalEntry]) -> EventQueue {
        var queue = EventQueue()
        queue.append(entries)
        return queue
    }

    /// The next chunk: its log, its numbers, and how many lines it has.
    private static func next(_ queue: EventQueue, limit: Int = 1 << 20) -> String? {
        queue.chunk(payloadLimit: limit).map { "\($0.log) \($0.first)-\($0.last) \($0.boot) \($0.lines.count)" }
    }

    @Test func `a chunk has events of one log and of one boot`() {
        #expect(Self.next(Self.queue([])) == nil)
        #expect(Self.next(Self.queue([Self.entry(1), Self.entry(2), Self.entry(1, log: "c")])) == "a 1-2 b 2")
        #expect(Self.next(Self.queue([Self.entry(1), Self.entry(2), Self.entry(3, boot: "d")])) == "a 1-2 b 2")
    }

    @Test func `events that stay on the host are covered by the chunk around them`() {
        let queue = Self.queue([Self.entry(1, nil), Self.entry(2), Self.entry(3, nil), Self.entry(4)])
        #expect(Self.next(queue) == "a 1-4 b 2")
        #expect(!queue.isEmpty && queue.count == 4)
        // Where no line follows in the log, they do not wait.
        #expect(Self.queue([Self.entry(1, nil), Self.entry(2, nil)]).count == 0)
        #expect(Self.next(Self.queue([Self.entry(1, nil), Self.entry(1, log: "c")])) == "c 1-1 b 1")
    }

    private static func request(_ n: UInt64, of user: UInt32, second: Int64 = 0) -> JournalEntry {
        let time = Instant(
            wall: Timestamp(nanosecondsSince1970: moment.wall.nanosecondsSince1970 + second * 1_000_000_000),
            boot: moment.boot)
        return JournalEntry(log: "a", n: n, boot: "b", moment: time, user: user, line: Array("{\(user)}".utf8))
    }

    private static func lines(_ queue: EventQueue) -> [String] {
        queue.chunk(payloadLimit: 1 << 20)?.lines.map { String(decoding: $0, as: UTF8.self) } ?? []
    }

    @Test func `what exceeds a user's share is one gap, which waits for the next line`() {
        var queue = Self.queue((1...2000).map { Self.request($0, of: 1) })
        #expect(Self.next(queue) == "a 1-2000 b 2000")
        queue.acknowledge("a", through: 2000, isFast: true)
        for page in 0..<100 { queue.append((0..<500).map { Self.request(2001 + UInt64(page) * 500 + $0, of: 1) }) }
        #expect(queue.isEmpty && queue.count == 0 && Self.next(queue) == nil)
        // Another user's event, and the machine's, leave as ever.
        queue.append([Self.request(52_001, of: 2), Self.entry(52_002)])
        #expect(Self.next(queue) == "a 2001-52002 b 3")
        let gap = #""first":2001,"last":52000,"count":50000,"reason":"share"}"#
        #expect(Self.lines(queue)[0].hasSuffix(gap) && Self.lines(queue)[1] == "{2}", "\(Self.lines(queue))")
        queue.acknowledge("a", through: 52_002, isFast: true)
        // One more has come each five seconds.
        queue.append((0..<4).map { Self.request(52_003 + $0, of: 1, second: 10) })
        #expect(Self.next(queue) == "a 52003-52004 b 2")
        queue.append([Self.entry(52_007)])
        #expect(Self.next(queue) == "a 52003-52007 b 4")
    }

    @Test func `a gap of what was withheld covers what stays on the host, and ends with its boot and its log`() {
        var queue = Self.queue((1...2001).map { Self.request($0, of: 1) })
        queue.acknowledge("a", through: 2000, isFast: true)
        queue.append([Self.entry(2002, nil), Self.request(2003, of: 1), Self.entry(2004, boot: "d")])
        #expect(Self.next(queue) == "a 2001-2003 b 2")
        queue.acknowledge("a", through: 2003, isFast: true)
        #expect(Self.next(queue) == "a 2004-2004 d 1")
        var other = Self.queue((1...2001).map { Self.request($0, of: 1) })
        other.acknowledge("a", through: 2000, isFast: true)
        other.append([Self.entry(1, log: "c")])
        #expect(Self.next(other) == "a 2001-2001 b 1")
        // Whoever reads again from a cursor has the share again.
        other.restart(after: JournalCursor(log: "a", n: 1))
        other.append((2...2001).map { Self.request($0, of: 1) })
        #expect(Self.next(other) == "a 2-2001 b 2000")
    }

    @Test func `a clock that is set back does not withhold events for years`() {
        var shares = EventShares()
        let later = Timestamp(nanosecondsSince1970: 2_000_000_000_000_000_000)
        let early = Timestamp(nanosecondsSince1970: 1_000_000_000_000_000_000)
        let endless = Timestamp(nanosecondsSince1970: .max)
        let answers = [(1, later, 2000), (1, later, 1), (2, later, 1), (1, early, 1), (3, endless, 2001)].map {
            (user: UInt32, time: Timestamp, count: Int) in
            (0..<count).filter { _ in shares.allow(user, at: time) }.count
        }
        #expect(answers == [2000, 0, 1, 1, 2000])
    }

    @Test func `a chunk ends before its limit in bytes, and a single line may be longer`() {
        let queue = Self.queue((1...4).map { Self.entry($0) })
        #expect(Self.next(queue, limit: 20) == "a 1-2 b 2")
        #expect(Self.next(queue, limit: 29) == "a 1-2 b 2")
        #expect(Self.next(queue, limit: 30) == "a 1-3 b 3")
        #expect(Self.next(queue, limit: 10) == "a 1-1 b 1")
        // It becomes a gap that says so.
        let long = Self.queue([Self.entry(1, 500)])
        #expect(Self.next(long, limit: 501) == "a 1-1 b 1")
        #expect(long.chunk(payloadLimit: 501)?.lines.first?.count == 500)
        let text = long.chunk(payloadLimit: 500).map { String(decoding: $0.lines[0], as: UTF8.self) }
        #expect(text?.contains(#""reason":"too-large""#) == true)
    }

    @Test func `a chunk has as many lines as a reader takes`() {
        let queue = Self.queue((1...5000).map { Self.entry($0, 1) })
        #expect(Self.next(queue) == "a 1-4096 b 4096")
    }

    @Test func `what the engine has does not go again, nor what was queued`() {
        var queue = Self.queue((1...4).map { Self.entry($0) })
        queue.acknowledge("a", through: 2, isFast: false)
        #expect(Self.next(queue) == "a 3-4 b 2")
        queue.append([Self.entry(4), Self.entry(5)])
        #expect(Self.next(queue) == "a 3-5 b 3")
        // Another log was acknowledged: the chunk of this one begins with its first event.
        queue.acknowledge("z", through: 9, isFast: false)
        #expect(Self.next(queue) == "a 3-5 b 3")
        queue.restart(after: JournalCursor(log: "a", n: 7))
        queue.append((6...9).map { Self.entry($0) })
        #expect(Self.next(queue) == "a 8-9 b 2")
    }

    @Test func `a gap loses the numbers that the engine has`() {
        var queue = EventQueue()
        queue.restart(after: JournalCursor(log: "a", n: 5))
        queue.append([Self.gap(3, 8)])
        #expect(Self.next(queue) == "a 6-8 b 1")
        let text = queue.chunk(payloadLimit: 1 << 20).map { String(decoding: $0.lines[0], as: UTF8.self) }
        #expect(
            text == """
                {"v":1,"type":"gap","time":"\(Self.moment.wall)","boottime_ns":7,"log":"a","n":8,"first":6,"last":8,\
                "count":3,"reason":"expired"}
                """)
        var entry = Self.gap(3, 8)
        for number in [2, 8, 9] as [UInt64] {
            entry.dropNumbers(through: number)
            #expect(entry.first == 3, "\(number)")
        }
        entry.dropNumbers(through: 7)
        #expect(entry.first == 8)
        var event = Self.entry(4)
        event.dropNumbers(through: 3)
        #expect(event == Self.entry(4))
    }

    @Test func `a log's beginning has no number of its own`() {
        var queue = EventQueue()
        queue.append([Self.gap(0, 0, "log"), Self.entry(1)])
        #expect(Self.next(queue) == "a 1-1 b 1" && queue.count == 1)
        // An older one says nothing new.
        queue.append([Self.gap(0, 0, "log"), Self.entry(1)])
        #expect(queue.count == 1)
    }

    @Test func `after the engine found a chunk too large the next ones are smaller, until one event is`() {
        var queue = Self.queue((1...100).map { Self.entry($0, 999) })
        #expect(Self.next(queue) == "a 1-65 b 65")
        queue.shrink(64_000)
        #expect(Self.next(queue) == "a 1-32 b 32")
        queue.shrink(512)
        #expect(Self.next(queue) == "a 1-1 b 1")
        queue.shrink(400)
        // The first one became a gap.
        let chunk = queue.chunk(payloadLimit: 1 << 20)
        #expect(chunk?.last == 1)
        #expect(chunk.map { String(decoding: $0.lines[0], as: UTF8.self).contains("too-large") } == true)
        queue.acknowledge("a", through: 1, isFast: true)
        #expect(Self.next(queue) == "a 2-100 b 99")
        queue.acknowledge("a", through: 2, isFast: false)
        #expect(Self.next(queue) == "a 3-67 b 65")
        // Short ones have room again.
        var short = Self.queue([Self.entry(1, 999), Self.entry(2, 300)])
        short.shrink(400)
        #expect(Self.next(short) == "a 1-2 b 2")
        // A new beginning has no fast path.
        queue.acknowledge("a", through: 3, isFast: true)
        queue.restart(after: JournalCursor(log: "a", n: 0))
        queue.append((1...100).map { Self.entry($0, 999) })
        #expect(Self.next(queue) == "a 1-65 b 65")
    }
}
