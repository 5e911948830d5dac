import ReachQueueRuntime
import ReachTesting
import Testing

/// A week of a queue's life.
@Suite(.timeLimit(.minutes(3))) struct SoakTests {
    @Test func `after seven days nothing has grown, and of what is over only so much is kept`() throws {
        let temporary = try TemporaryDirectory()
        let result = try BuiltProgram(named: "queuecrash").run(
            [temporary.path + "/queue", "soak", "7"], limit: .seconds(150))
        #expect(result.status == 0, "\(result)")
        let days = result.lines.map { line -> [String: Int] in
            let words = line.split(separator: " ").map(String.init)
            return Dictionary(
                zip(words, words.dropFirst()).compactMap { name, value in Int(value).map { (name, $0) } },
                uniquingKeysWith: { first, _ in first })
        }
        try #require(days.count == 7, "\(result.lines)")
        // By then there is as much as is ever kept.
        let early = try #require(days[3]["bytes"])
        // The pages that are moved into the file at a time, each with its header, and those of one commit more.
        let log = QueueStoreOptions().checkpointPages * (4096 + 24) + (1 << 20)
        for day in days { #expect((day["log"] ?? .max) <= log, "\(result.lines)") }
        // It was that long: what is measured is what is bounded.
        #expect(days.contains { ($0["log"] ?? 0) > log / 2 }, "\(result.lines)")
        for day in days[3...] {
            // Of what is over there may be a little more before it is removed, many at a time.
            #expect((day["bytes"] ?? .max) <= early + early / 10 + 65_536, "\(result.lines)")
            #expect(day["descriptors"] == days[3]["descriptors"] && day["threads"] == days[3]["threads"])
            // Two that die and one that expires in each half hour, for two days; and a thousand answers.
            #expect((day["over"] ?? .max) <= 2 * 48 * 3 + 1000 + 64)
            #expect((day["alive"] ?? .max) < 100)
        }
    }
}
