import ReachTesting
import Testing

/// A week of a queue's life (scheduling.md 5, D12).
@Suite(.timeLimit(.minutes(3))) struct SoakTests {
    @Test func `D12 after seven days nothing has grown, and of what is over only so much is kept`() throws {
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
        let early = try #require(days[2]["bytes"])
        for day in days[2...] {
            // Half a day of dead ones is more than a tenth of what is kept.
            #expect((day["bytes"] ?? .max) <= early + early / 5, "\(result.lines)")
            #expect(day["descriptors"] == days[2]["descriptors"] && day["threads"] == days[2]["threads"])
            // 48 half hours with three that die and one that expires, for two days; and a thousand answers.
            #expect((day["over"] ?? .max) <= 2 * 48 * 4 + 1000 + 64)
            #expect((day["alive"] ?? .max) < 100)
        }
    }
}
