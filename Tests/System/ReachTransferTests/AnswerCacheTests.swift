import ReachCore
import Testing

@testable import ReachTransfer

struct AnswerCacheTests {
    private func at(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }

    private func key(_ name: String, _ interface: String? = nil) -> AnswerCache.Key {
        AnswerCache.Key(name: name, type: .a, interface: interface.map { InterfaceBinding(name: $0) })
    }

    @Test(
        arguments: [
            (.addresses(["192.0.2.1"], seconds: 10), 10), (.addresses(["192.0.2.1"], seconds: 86_400), 300),
            (.none(seconds: 20), 20), (.noSuchName(seconds: 86_400), 30), (.addresses(["192.0.2.1"], seconds: 0), 0),
            (.failure(code: 2), 0),
        ] as [(DNSAnswer, Int64)])
    func `an answer is kept for its time to live, up to the cap`(answer: DNSAnswer, seconds: Int64) {
        var cache = AnswerCache()
        cache.add(answer, for: key("a.example"), at: at(1000))
        #expect(cache.answer(for: key("a.example"), at: at(1000 + seconds - 1)) == (seconds > 0 ? answer : nil))
        #expect(cache.answer(for: key("a.example"), at: at(1000 + seconds)) == nil)
        #expect(cache.answer(for: key("a.example", "eth0"), at: at(1000)) == nil)
        #expect(cache.answer(for: key("b.example"), at: at(1000)) == nil)
    }

    @Test func `the cache never has more entries than its limit`() {
        var cache = AnswerCache()
        for number in 0..<3000 {
            let name = "n\(number).example"
            cache.add(.none(seconds: UInt32(number % 20 + 1)), for: key(name), at: at(0))
            #expect(cache.count <= AnswerCache.limit)
        }
    }
}
