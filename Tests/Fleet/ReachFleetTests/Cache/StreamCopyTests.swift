import Glibc
import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// What a reader keeps of streams, and when it may be believed.
@Suite struct StreamCopyTests {
    /// `REACH_FLEET_SEEDS=10000` for a long run.
    private static let seeds = getenv("REACH_FLEET_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 60

    @Test func `with a cache and without it each mouth says the same, whatever happened to the streams`() {
        var differences: [String] = []
        for seed in 0..<Self.seeds {
            var fleet = CopiedFleet(seed: seed)
            var cuts = SeededGenerator(seed: seed + 1000)
            var (files, backup) = (CopiedFleet.Files(), fleet)
            for _ in 0..<200 {
                fleet.step()
                if cuts.oneIn(60) { backup = fleet }
                if cuts.oneIn(100) { fleet.restore(backup) }
                guard cuts.oneIn(12) else { continue }
                var none = CopiedFleet.Files()
                let window = cuts.pick([2_000.0, 8_000, 100_000])
                let (found, fresh) = (fleet.read(&files, window: window), fleet.read(&none, window: window))
                for (name, pair) in zip(["status", "outages", "report", "export", "damage"], zip(found, fresh))
                where pair.0 != pair.1 {
                    differences.append("seed \(seed), \(fleet.seconds) s, \(name):\n\(pair.0)\n\(pair.1)")
                }
            }
        }
        #expect(differences.prefix(1) == [], "\(differences.count)")
    }

    @Test func `the fleets of that test have outages, absences, reports and damage to differ in`() {
        var files = CopiedFleet.Files()
        var printed = ""
        for seed in 0..<20 as Range<UInt64> {
            var fleet = CopiedFleet(seed: seed)
            for _ in 0..<120 { fleet.step() }
            files = [:]
            printed += fleet.read(&files, window: 100_000).joined(separator: "\n")
        }
        for word in ["fleet-outage", #""outages":1"#, #""word":"silent""#, "state of h"] {
            #expect(printed.contains(word), "\(word)")
        }
        #expect(files.keys.sorted() == ["connections", "events", "list", "states"])
    }

    private static func entry(_ number: Int) -> ListedHost { ListedHost("h\(number)", nil) }

    private static func bucket() -> (SimulatedStream<ListedHost>, StreamCopy<ListedHost>) {
        var stream = SimulatedStream<ListedHost>(isBucket: true)
        for number in 0..<100 { stream.append(entry(number), at: at(Double(number))) }
        var copy = StreamCopy<ListedHost>(isBucket: true)
        #expect(copy.read(stream, from: .first, stream.mark) { _, _, _ in })
        return (stream, copy)
    }

    @Test func `a file with another byte, a shorter one and one of another stream are not believed`() throws {
        let (_, copy) = Self.bucket()
        let bytes = try #require(copy.bytes(of: "list"))
        #expect(StreamCopy<ListedHost>(bytes, of: "list", isBucket: true) != nil)
        #expect(StreamCopy<ListedHost>(bytes, of: "other", isBucket: true) == nil)
        #expect(StreamCopy<ListedHost>([], of: "list", isBucket: true) == nil)
        #expect(StreamCopy<ListedHost>([0, 0, 0, 0, 0], of: "list", isBucket: true) == nil)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var other = bytes
            other[Int.random(in: other.indices, using: &random)] ^= UInt8.random(in: 1 ... .max, using: &random)
            #expect(StreamCopy<ListedHost>(other, of: "list", isBucket: true) == nil)
            let shorter = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
            #expect(StreamCopy<ListedHost>(shorter, of: "list", isBucket: true) == nil)
        }
    }

    @Test func `only what is new is read, and a file is written again when much is`() {
        var (stream, copy) = Self.bucket()
        stream.append(Self.entry(7), at: at(200))
        let counting = CountingStream(stream)
        var found = 0
        #expect(copy.read(counting, from: .first, stream.mark) { _, _, _ in found += 1 })
        #expect(found == 100 && counting.served.count <= 65 && !copy.isWorthWriting)
        for number in 0..<10 { stream.append(Self.entry(number), at: at(300)) }
        var (_, again) = Self.bucket()
        #expect(again.read(stream, from: .first, stream.mark) { _, _, _ in })
        #expect(again.isWorthWriting)
    }

    /// Counts what a reader is served.
    private final class CountingStream: CopiedStream {
        private let stream: SimulatedStream<ListedHost>
        private(set) var served: [UInt64] = []

        init(_ stream: SimulatedStream<ListedHost>) { self.stream = stream }

        func read(from start: CopyStart, _ body: (UInt64, Timestamp, ListedHost) -> Void) throws(Never) {
            stream.read(from: start) { number, time, message in
                served.append(number)
                body(number, time, message)
            }
        }
    }

    @Test func `what the server says of a stream is its mark`() throws {
        let info = try JSONReader.read(
            Array(
                #"""
                {"created":"2026-11-01T00:00:00Z","state":{"first_seq":7,"last_seq":9,"messages":2,"num_deleted":1}}
                """#.utf8))
        let mark = try #require(StreamMark(info))
        #expect(mark == StreamMark(created: "2026-11-01T00:00:00Z", first: 7, last: 9, messages: 2, deleted: 1))
        #expect(StreamMark(nil) == nil && StreamMark(.object([:])) == nil)
    }
}
