import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import Synchronization
import Testing

/// A real server with one stream or bucket.
@Suite struct JetStreamTests {
    private static func stream(_ name: String, _ subjects: String, _ more: String = "") -> [UInt8] {
        Array("{\"name\":\"\(name)\",\"subjects\":[\"\(subjects)\"],\"allow_direct\":true\(more)}".utf8)
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: NATSServerProcess.programs)
    func `an append with the wrong expectation is refused and names the last sequence`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        let first = try jetStream.append("e.a", Self.text("1"), expectedLast: 0)
        #expect(first.stream == "E" && first.sequence == 1 && !first.isDuplicate)
        _ = try jetStream.append("e.b", Self.text("2"), expectedLast: 0)
        #expect(failure { try jetStream.append("e.a", Self.text("1"), expectedLast: 0) } == .wrongLastSequence(1))
        #expect(try jetStream.append("e.a", Self.text("3"), expectedLast: 1).sequence == 3)
    }

    /// As a server with 100,000 hosts does on a machine that others use, too: it answers one question after the other.
    @Test func `an answer that takes longer than the first attempt arrives`() throws {
        let server = try NATSServerProcess("")
        let busy = try server.connect()
        let subscription = try busy.subscribe("$JS.API.STREAM.INFO.X") { message in
            usleep(2_500_000)
            guard let reply = message.reply else { return }
            try? busy.publish(reply, Self.text(#"{"config":{"name":"X"},"state":{"messages":7}}"#))
        }
        try busy.flush()
        let info = try JetStream(try server.connect()).stream("X")
        #expect(info?["state"]?["messages"]?.integer == 7)
        withExtendedLifetime(subscription) {}
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a bucket that is written meanwhile is read to its end`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream(
            "KV_b", Self.stream("KV_b", "$KV.b.>", ",\"max_msgs_per_subject\":1,\"discard\":\"new\""))
        for number in 0..<40 { try jetStream.put("k\(number)", in: "b", Self.text("0")) }
        let writer = try server.connect()
        let isOver = Mutex(false)
        BackgroundThread.start(named: "writer") {
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                _ = try? JetStream(writer).put("k\(number % 40)", in: "b", Self.text("\(number)"))
                usleep(500)
            }
        }
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<100 {
            var keys: Set<String> = []
            try jetStream.entries(of: "b") { keys.insert($0.key) }
            #expect(keys.count == 40)
            keys = []
            try jetStream.entries(of: "b", from: .first) { keys.insert($0.key) }
            #expect(keys.count == 40)
            try jetStream.entries(of: "b", filter: "k7") { keys.insert($0.key) }
        }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `the end of a stream is read in order, as much of it as the limit allows`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        func read(_ bytes: Int, _ messages: Int, since: Timestamp? = nil) throws -> (numbers: [UInt64], isCut: Bool) {
            var numbers: [UInt64] = []
            let isCut = try jetStream.readEnd(
                of: "E", filter: "e.*", since: since ?? Timestamp(nanosecondsSince1970: 0),
                StreamEndLimit(bytes: bytes, messages: messages)
            ) { numbers.append($0.sequence) }
            return (numbers, isCut)
        }
        #expect(try read(1000, 1000) == ([], false))
        // The newest hundred are a hundred times as large as the others.
        for number in 1...500 {
            let size = number > 400 ? 1000 : 10
            try jetStream.link.publish("e.\(number % 7)", [UInt8](repeating: 0x61, count: size))
        }
        try jetStream.link.flush()
        // The server has them all then, and stores them a moment later.
        try waitUntil("all are stored") { try read(1 << 20, 1000).numbers.count == 500 }
        #expect(try read(1 << 20, 1000) == (Array(1...500), false))
        #expect(try read(1 << 20, 500) == (Array(1...500), false))
        #expect(try read(1 << 20, 123) == (Array(378...500), true))
        let few = try read(20_000, 1000)
        #expect(few.isCut && few.numbers.last == 500 && few.numbers == Array((few.numbers.first ?? 0)...500))
        #expect((16...20).contains(few.numbers.count), "\(few.numbers.count)")
        usleep(2000)
        let now = SystemClock.now.wall
        #expect(try read(1 << 20, 1000, since: now) == ([], false))
        for _ in 0..<3 { _ = try jetStream.append("e.1", [1]) }
        #expect(try read(1 << 20, 1000, since: now) == ([501, 502, 503], false))
        #expect(try read(1 << 20, 2, since: now) == ([502, 503], true))
        #expect(try read(1 << 20, 3, since: now) == ([501, 502, 503], false))
        // Small messages in front of large ones do not have more of those read.
        for _ in 0..<20 { _ = try jetStream.append("e.1", [1]) }
        let mixed = try read(20_000, 1000)
        #expect(mixed.isCut && mixed.numbers == Array((mixed.numbers.first ?? 0)...523))
        #expect((24...43).contains(mixed.numbers.count), "\(mixed.numbers.count)")
    }

    @Test func `the same message id within the window is stored once`() throws {
        let server = try NATSServerProcess()
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        let headers = [HeaderField("Nats-Msg-Id", "log.1")]
        #expect(try !jetStream.append("e.a", headers: headers, Self.text("1")).isDuplicate)
        #expect(try jetStream.append("e.a", headers: headers, Self.text("1")).isDuplicate)
    }

    @Test(arguments: NATSServerProcess.programs)
    func `the last message of a subject is read without a consumer`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        #expect(try jetStream.last("e.a", in: "E") == nil)
        _ = try jetStream.append("e.a", headers: [HeaderField("Reach-Log", "x")], Self.text("1"))
        _ = try jetStream.append("e.a", headers: [HeaderField("Reach-Log", "y")], Self.text("2"))
        let last = try #require(try jetStream.last("e.a", in: "E"))
        #expect(last.sequence == 2)
        #expect(last.payload == Self.text("2"))
        #expect(last.headers == [HeaderField("Reach-Log", "y")])
        #expect(last.time > Timestamp("2020-01-01T00:00:00Z")!)
    }

    @Test func `what fails is sorted by what to do next`() throws {
        let server = try NATSServerProcess()
        let jetStream = JetStream(try server.connect())
        #expect(failure { try jetStream.append("e.a", []) } == .noResponders)
        #expect(try jetStream.stream("E") == nil)
        #expect(
            failure { try StreamReader(jetStream.link, stream: "E", filter: ">", from: .first) } == .notFound)
        _ = try jetStream.createStream(
            "E", Self.stream("E", "e.*", ",\"max_msg_size\":10,\"max_msgs\":1,\"discard\":\"new\""))
        #expect(failure { try jetStream.append("e.a", [UInt8](repeating: 0, count: 11)) } == .tooLarge)
        _ = try jetStream.append("e.a", Self.text("1"))
        #expect(failure { try jetStream.append("e.a", Self.text("2")) } == .full)
        #expect(failure { try jetStream.createStream("E", Self.stream("E", "f.*")) } == .exists)
        let plain = try NATSServerProcess("")
        let without = JetStream(try plain.connect())
        #expect(failure { try without.account() } == .noJetStream)
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a stream is read in order, whole and from a sequence`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        for number in 1...600 {
            try jetStream.link.publish("e.\(number % 7)", Self.text("\(number)"))
        }
        try jetStream.link.flush()
        var found: [String] = []
        try jetStream.read("E", filter: "e.>", from: .first) { message in
            found.append(String(decoding: message.payload, as: UTF8.self))
        }
        #expect(found == (1...600).map(String.init))
        found = []
        try jetStream.read("E", filter: nil, from: .first) { found.append(String(decoding: $0.payload, as: UTF8.self)) }
        #expect(found == (1...600).map(String.init))
        var later: [UInt64] = []
        try jetStream.read("E", filter: "e.>", from: .sequence(590)) { later.append($0.sequence) }
        #expect(later == Array(590...600))
        var last: Set<String> = []
        try jetStream.read("E", filter: "e.>", from: .lastOfEachSubject) { last.insert($0.subject) }
        #expect(last.count == 7)
        var none = 0
        try jetStream.read("E", filter: "e.8", from: .first) { _ in none += 1 }
        #expect(none == 0)
        let future = Timestamp("2099-01-01T00:00:00Z")!
        try jetStream.read("E", filter: "e.>", from: .time(future)) { _ in none += 1 }
        #expect(none == 0)
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a reader that waits gets what is stored later`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        let reader = try StreamReader(jetStream.link, stream: "E", filter: "e.>", from: .new)
        #expect(try reader.next(within: .milliseconds(50)) == nil)
        #expect(try reader.next(within: .milliseconds(50)) == nil)
        _ = try jetStream.append("e.a", Self.text("1"))
        #expect(try reader.next(within: .seconds(10))?.payload == Self.text("1"))
        _ = try jetStream.append("e.a", Self.text("2"))
        #expect(try reader.next(within: .seconds(10))?.sequence == 2)
        #expect(reader.pending == 0)
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a reader that asks ahead gets each message once and in order, also those that come meanwhile`(
        _ program: String
    ) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        for number in 0..<999 { try jetStream.link.publish("e.a", Self.text("\(number)")) }
        // What was published before is stored when this is acknowledged.
        _ = try jetStream.append("e.a", Self.text("999"))
        let reader = try StreamReader(jetStream.link, stream: "E", filter: "e.*", from: .first)
        #expect(reader.pending == 1000)
        for number in 0..<1300 {
            if number % 3 == 0, number < 900 { _ = try jetStream.append("e.b", Self.text("\(1000 + number / 3)")) }
            let message = try #require(try reader.next(within: .seconds(5)))
            #expect(message.sequence == UInt64(number + 1))
            #expect(message.payload == Self.text("\(number)"))
        }
        #expect(reader.pending == 0)
        #expect(try reader.next(within: .milliseconds(200)) == nil)
        _ = try jetStream.append("e.a", Self.text("last"))
        #expect(try reader.next(within: .seconds(5))?.payload == Self.text("last"))
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a message whose writer gave it a server's headers is read like any other`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        for (number, status) in ["404", "408", "409", "503", "100"].enumerated() {
            _ = try jetStream.append("e.\(number)", headers: [HeaderField("Status", status)], number == 3 ? [] : [1])
        }
        var subjects: [String] = []
        try jetStream.read("E", filter: nil, from: .first) { subjects.append($0.subject) }
        // libnats keeps the empty one with 503 to itself.
        #expect(subjects == ["e.0", "e.1", "e.2", "e.4"])
        #expect(try jetStream.last("e.0", in: "E")?.sequence == 1)
        #expect(try jetStream.last("e.3", in: "E")?.sequence == 4)
        #expect(try jetStream.last("e.9", in: "E") == nil)
    }

    @Test(arguments: [
        ("$JS.ACK.E.reader.1.42.7.1700000000000000001.9", 42, 9),
        ("$JS.ACK._.HASH.E.reader.1.42.7.1700000000000000001.9", 42, 9),
        ("$JS.ACK.hub.HASH.E.reader.1.42.7.1700000000000000001.9.random", 42, 9),
    ])
    func `a reply says where its message is stored`(_ reply: String, _ sequence: UInt64, _ pending: UInt64) {
        let place = StoredPlace(reply)
        #expect(place?.sequence == sequence)
        #expect(place?.pending == pending)
        #expect(place?.time == Timestamp(nanosecondsSince1970: 1_700_000_000_000_000_001))
    }

    @Test(arguments: [
        "", "$JS.ACK.E.reader.1.42.7.17", "$JS.ACK.E.reader.1.x.7.17.9", "$JS.ACK.E.reader.1.42.7.17.",
        "$JS.ACK.E.reader.1.99999999999999999999.7.17.9", "$JS.ACK.E.reader.1.42.7.18446744073709551615.9",
    ])
    func `a reply that is none has no place`(_ reply: String) { #expect(StoredPlace(reply) == nil) }

    @Test func `a reader whose consumer is gone says so`() throws {
        let server = try NATSServerProcess()
        let jetStream = JetStream(try server.connect())
        _ = try jetStream.createStream("E", Self.stream("E", "e.*"))
        let reader = try StreamReader(jetStream.link, stream: "E", filter: "e.>", from: .new)
        _ = try jetStream.call("STREAM.DELETE.E")
        #expect(failure { try reader.next(within: .seconds(5)) } != nil)
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a bucket's entries are the last of each key, deleted ones included`(_ program: String) throws {
        let server = try NATSServerProcess(program: program)
        let jetStream = JetStream(try server.connect())
        let stream = FleetNames.stream(of: "b")
        _ = try jetStream.createStream(stream, Self.stream(stream, "$KV.b.>"))
        try jetStream.put("x", in: "b", Self.text("1"))
        try jetStream.put("y", in: "b", Self.text("2"))
        #expect(failure { try jetStream.put("x", in: "b", Self.text("3"), revision: 0) } == .wrongLastSequence(1))
        try jetStream.put("x", in: "b", Self.text("3"), revision: 1)
        try jetStream.delete("y", in: "b")
        var values: [String: [UInt8]?] = [:]
        try jetStream.entries(of: "b") { values.updateValue($0.value, forKey: $0.key) }
        #expect(values == ["x": Self.text("3"), "y": nil])
        #expect(try jetStream.entry("x", in: "b")?.value == Self.text("3"))
        #expect(try jetStream.entry("z", in: "b") == nil)
    }
}
