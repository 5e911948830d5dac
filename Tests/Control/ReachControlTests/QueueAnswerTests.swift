import ReachControl
import ReachCore
import ReachLoop
import ReachQueue
import Testing

/// What of an answer fits into a reply.
struct QueueAnswerTests {
    @Test func `the headers of usual answers are whole`() {
        let headers = (0..<100).map { HeaderField("Name-\($0)", String(repeating: "v", count: 100)) }
        #expect(QueueAnswer.fitting(headers) == headers)
    }

    @Test(arguments: ["a", "\u{e9}", "\u{1}", "\"", "\\", "/"])
    func `headers that alone would fill a reply are cut, so that the longest piece of a body fits`(letter: String) {
        let headers = (0..<300).map { HeaderField("N\($0)", String(repeating: letter, count: 2000)) }
        let kept = QueueAnswer.fitting(headers)
        #expect(kept == Array(headers.prefix(kept.count)) && kept.count < headers.count)
        let answer = QueueAnswer(
            id: .max, state: .done, status: 200, headers: kept, bodyBytes: .max, offset: .max,
            bytes: [UInt8](repeating: 255, count: QueueAnswer.longest))
        var json = JSONWriter()
        json.key("answer")
        json.queueAnswer(answer, at: SystemClock.now)
        #expect(json.count < 1 << 20)
    }
}
