import Testing

@testable import reach

@Suite struct JSONLayoutTests {
    private func indented(_ text: String) -> String {
        String(decoding: JSONLayout.indented(Array(text.utf8)), as: UTF8.self)
    }

    @Test func `what is short and has nothing in it stays on a line`() {
        #expect(
            indented(#"{"a":1,"b":[1,2],"c":"x,y: \"z\"","d":{}}"#) == """
                {
                  "a": 1,
                  "b": [1, 2],
                  "c": "x,y: \\"z\\"",
                  "d": {}
                }

                """)
        #expect(indented(#"[1,"a:b,c"]"#) == "[1, \"a:b,c\"]\n")
        #expect(indented("null") == "null\n")
    }

    @Test(arguments: ["", "{", "[", "{\"a", "{\"a\":", "[1,", "{\"a\":[1,2", "}", "[[[]"])
    func `a document that is cut off is no crash`(text: String) { _ = indented(text) }
}
