import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct JournalReaderTests {
    private let directory: TemporaryDirectory
    private let files: JournalFiles
    private static let one = String(repeating: "1", count: 32)
    private static let two = String(repeating: "2", count: 32)

    init() throws {
        directory = try TemporaryDirectory()
        files = JournalFiles(stateDirectory: directory.path)
        try ChildProcess.run(["mkdir", files.directory])
    }

    private func write(_ serial: Int, _ log: String, _ first: Int64, _ lines: [UInt8]) throws {
        let header = JournalSegment.header(log: log, first: first, inode: 1)
        try AtomicFile.replace(files.path(of: serial), with: header + lines, isSynced: false)
    }

    private func lines(_ log: String, _ numbers: ClosedRange<Int64>, padding: Int = 0) -> [UInt8] {
        numbers.flatMap { number in
            let event = JournalEvents.encode("queue", at: .second(number), boot: "b") {
                $0.field("reason", String(repeating: "x", count: padding))
                $0.field("user", number % 2)
            }
            return JournalLine.encode(event, log: log, number: number)
        }
    }

    private func slice(
        _ log: String?, _ after: Int64?, limit: Int = 1000, types: Set<String>? = nil, user: UInt32? = nil
    ) throws -> JournalSlice {
        let segments = try files.segments()
        let last = segments.last?.log == Self.two ? Int64(4) : 9
        return try JournalReader(
            JournalQuery(log: log, after: after, limit: limit, types: types), of: user, files, segments, last: last,
            at: .second(0), boot: "b"
        ).read()
    }

    /// The slice in words: `1:4` for event 4 of log 1, `1:5-7expired` for a gap, and the cursor.
    private func words(_ slice: JournalSlice) throws -> String {
        var words = try slice.events.map { event in
            let record = try JournalRecord(reading: JSONReader.read(event))
            let name = "\(record.log.prefix(1)):"
            guard record.type == "gap" else { return name + "\(record.number)" }
            let reason = record.json["reason"]?.string ?? ""
            guard let missing = record.missing else { return name + "\(record.number)" + reason }
            return name + "\(missing.lowerBound)-\(missing.upperBound)" + reason
        }
        words.append("@\(slice.log.prefix(1)):\(slice.next)" + (slice.isComplete ? "." : ""))
        return words.joined(separator: " ")
    }

    private static let cursors: [(String?, Int64?, Int, String)] = [
        // From the oldest event, through a log that ended.
        (nil, nil, 1000, "1:4 1:5 1:6 1:7 2:0log 2:1 2:2 2:3 2:4 @2:4."),
        (nil, nil, 2, "1:4 1:5 @1:5"),
        (one, 3, 2, "1:4 1:5 @1:5"), (one, 5, 1000, "1:6 1:7 2:0log 2:1 2:2 2:3 2:4 @2:4."),
        (one, 7, 1000, "2:0log 2:1 2:2 2:3 2:4 @2:4."), (one, 99, 2, "2:0log 2:1 @2:1"),
        // Any user may send any number.
        (one, .max, 2, "2:0log 2:1 @2:1"), (two, .max, 2, "2:4log @2:4."), (nil, .max, 2, "2:4log @2:4."),
        // Deleted events.
        (one, 1, 2, "1:2-3expired 1:4 @1:4"), (one, 0, 1, "1:1-3expired @1:3"),
        // The present log.
        (nil, 0, 1000, "2:1 2:2 2:3 2:4 @2:4."), (two, 2, 1000, "2:3 2:4 @2:4."), (two, nil, 1, "2:1 @2:1"),
        (two, 4, 1000, "@2:4."), (two, 3, 0, "@2:3"), (two, 4, 0, "@2:4."),
        // Numbers that it no longer has, and a log that no one knows.
        (two, 9, 1000, "2:4log @2:4."), (String(repeating: "3", count: 32), 8, 3, "1:3log 1:4 1:5 @1:5"),
    ]

    @Test(arguments: cursors)
    func `a page begins behind its cursor, and a gap says what is missing`(
        log: String?, after: Int64?, limit: Int, expected: String
    ) throws {
        try write(3, Self.one, 4, lines(Self.one, 4...5))
        try write(4, Self.one, 6, lines(Self.one, 6...7))
        try write(5, Self.two, 1, lines(Self.two, 1...4))
        #expect(try words(slice(log, after, limit: limit)) == expected)
    }

    @Test func `damaged lines are a gap, and an unfinished one is not read`() throws {
        var bytes = lines(Self.one, 1...9)
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
        for index in ends[3] + 60...ends[5] - 2 { bytes[index] = UInt8(ascii: "#") }
        try write(1, Self.one, 1, bytes.dropLast(3))
        #expect(try words(slice(nil, nil)) == "1:1 1:2 1:3 1:4 1:5-6damaged 1:7 1:8 @1:8.")
    }

    @Test func `a file that is missing in the middle is a gap`() throws {
        try write(1, Self.one, 1, lines(Self.one, 1...2))
        try write(3, Self.one, 6, lines(Self.one, 6...9))
        #expect(try words(slice(nil, nil)) == "1:1 1:2 1:3-5damaged 1:6 1:7 1:8 1:9 @1:9.")
    }

    @Test func `others' events leave numbers out, and other types, too`() throws {
        try write(1, Self.one, 1, lines(Self.one, 1...9))
        #expect(try words(slice(nil, nil, user: 1)) == "1:1 1:3 1:5 1:7 1:9 @1:9.")
        #expect(try words(slice(nil, nil, types: ["probe"])) == "@1:9.")
        #expect(try words(slice(nil, nil, limit: 2, types: ["queue"], user: 0)) == "1:2 1:4 @1:4")
    }

    /// Events that are found by bisection in a long file, in pages that end by their bytes.
    @Test func `every cursor of a long file finds the next event`() throws {
        var random = SeededGenerator(seed: 9)
        var bytes: [UInt8] = []
        for number in Int64(1)...3000 {
            bytes += lines(Self.two, number...number, padding: random.pick([0, 10, 300, 900]))
        }
        try write(1, Self.two, 1, bytes)
        let segments = try files.segments()
        for after in [0, 1, 2999, 3000] + (0..<200).map({ _ in Int64.random(in: 0...3000, using: &random) }) {
            let page = try JournalReader(
                JournalQuery(after: after, limit: 3), of: nil, files, segments, last: 3000, at: .second(0), boot: "b"
            ).read()
            let expected = (after..<3000).prefix(3).map { $0 + 1 }
            #expect(try page.events.map { try JournalRecord(reading: JSONReader.read($0)).number } == expected)
        }
        var (query, count) = (JournalQuery(limit: 1000), 0)
        while true {
            let page = try JournalReader(
                query, of: nil, files, segments, last: 3000, at: .second(0), boot: "b"
            ).read()
            #expect(page.events.reduce(0) { $0 + $1.count } < JournalQuery.pageBytes + 2000)
            count += page.events.count
            if page.isComplete { break }
            (query.log, query.after) = (page.log, page.next)
        }
        #expect(count == 3000)
    }

    @Test func `files with any bytes are read without events of their own`() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            var bytes = lines(Self.one, 1...9)
            for _ in 0..<random.pick([1, 3, 40]) {
                bytes[random.pick(Array(bytes.indices))] = random.pick([0, 10, 34, 123, 255])
            }
            if random.oneIn(3) { bytes.removeLast(random.pick([1, 100, 700])) }
            let header = JournalSegment.header(log: Self.one, first: 1, inode: 1)
            try AtomicFile.replace(files.path(of: 1), with: header + bytes, isSynced: false)
            let page = try slice(nil, nil)
            var expected: Int64 = 1
            for event in page.events {
                let record = try JournalRecord(reading: JSONReader.read(event))
                #expect((record.missing?.lowerBound ?? record.number) == expected)
                expected = record.number + 1
            }
        }
    }
}
