import ReachCore
import Testing

@Suite struct NearestWordTests {
    @Test(arguments: [
        ("wfii", "wifi"), ("wif", "wifi"), ("wify", "wifi"), ("unmeterd", "unmetered"), ("nubmetered", nil),
        ("abcdefgh", nil), ("", nil),
    ])
    func `one slip in four letters is a mistyped word, and two swapped letters are one slip`(
        word: String, meant: String?
    ) {
        #expect(NearestWord.find(word, among: ["wifi", "unmetered"]) == meant)
    }

    @Test func `what is too long to be a slip is compared with nothing`() {
        #expect(NearestWord.find(String(repeating: "w", count: 65), among: [String(repeating: "w", count: 64)]) == nil)
        #expect(NearestWord.find("a", among: []) == nil)
    }

    @Test func `a hint names the word, and shows no control`() {
        #expect(NearestWord.hint(for: "ofice", among: ["office"]) == "; did you mean 'office'?")
        #expect(NearestWord.hint(for: "a\u{1b}bcdef", among: ["a\u{1b}bcdeg"]) == "; did you mean 'a\\u{1b}bcdeg'?")
        #expect(NearestWord.hint(for: "elsewhere", among: ["office"]) == "")
    }
}
