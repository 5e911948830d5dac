import HTTPTypes
import ReachCore
import ReachSession
import Testing

/// Fields of answers that repeat each other.
@Suite struct FieldsMemoTests {
    @Test func `an answer that repeats the last one has its own fields`() throws {
        let file = try #require(HTTPField.Name("X-File"))
        var memo = FieldsMemo()
        let fields = [HeaderField("X-File", "a"), HeaderField("X-File", "b")]
        #expect(memo.read(fields)[values: file] == ["a", "b"])
        #expect(memo.read(fields)[values: file] == ["a", "b"])
        #expect(memo.read([fields[0]])[values: file] == ["a"])
        #expect(memo.read([])[values: file].isEmpty)
    }

    @Test func `an accent that is written otherwise is another value`() throws {
        let file = try #require(HTTPField.Name("X-File"))
        var memo = FieldsMemo()
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        #expect(one == two)
        for text in [one, two, one] {
            let value = try #require(memo.read([HeaderField("X-File", text)])[file])
            #expect(value.utf8.elementsEqual(text.utf8))
        }
    }

    @Test func `a cookie is given to its own answer`() {
        var memo = FieldsMemo()
        #expect(memo.read([HeaderField("Set-Cookie", "a=1")])[values: .setCookie] == ["a=1"])
        #expect(memo.read([HeaderField("Set-Cookie", "a=2")])[values: .setCookie] == ["a=2"])
        #expect(memo.read([])[values: .setCookie].isEmpty)
    }
}
