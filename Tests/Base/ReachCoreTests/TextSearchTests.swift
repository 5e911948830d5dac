import ReachCore
import Testing

@Suite("Search in a text")
struct TextSearchTests {
    @Test(
        "A text is found where it first begins, also after a part of it",
        arguments: [
            ("tls://host://x", "://", 3), ("a:/://b", "://", 3), ("::1", "::", 0), ("1::", "::", 1), (":::", "::", 0),
            ("ü::ü", "::", 2), ("aaab", "aab", 1),
        ])
    func found(text: String, pattern: String, offset: Int) throws {
        let range = try #require(text.utf8Range(of: pattern))
        #expect(text.utf8.distance(from: text.startIndex, to: range.lowerBound) == offset)
        #expect(text[range] == pattern)
    }

    @Test(
        "What is not there, is longer, or is empty is not found",
        arguments: [
            ("", "::"), (":", "::"), ("a:b:c", "::"), ("abc", ""), ("", ""), ("aab", "aabb"),
        ])
    func notFound(text: String, pattern: String) {
        #expect(text.utf8Range(of: pattern) == nil)
    }

    @Test("A part of a text is searched by itself")
    func part() throws {
        let text = "x::y::z"
        let rest = text.dropFirst(3)
        let range = try #require(rest.utf8Range(of: "::"))
        #expect(text[range.upperBound...] == "z")
    }
}
