import ReachCore
import Testing

@Suite struct JSONOutlineTests {
    private func outline(_ text: String) throws -> JSONOutline { try JSONReader.outline(Array(text.utf8)) }

    @Test func `members are found by their keys, and only those of the object itself`() throws {
        let document = try outline(
            #"{"a":1,"b":{"c":"x","d":{"a":true}},"e":[{"a":2},null,-1.5],"\u0066":"\n","ä":"ö","":false}"#)
        func member(_ name: StaticString, of node: Int = JSONOutline.root) throws -> Int {
            try #require(document.member(name, of: node))
        }
        #expect(try document.integer(member("a")) == 1)
        let b = try member("b")
        #expect(document.kind(of: b) == .object)
        #expect(try document.string(member("c", of: b)) == "x")
        #expect(try document.bool(member("a", of: member("d", of: b))) == true)
        #expect(document.member("a", of: b) == nil)
        #expect(document.member("c", of: JSONOutline.root) == nil)
        #expect(try document.string(member("f")) == "\n")
        #expect(try document.string(member("ä")) == "ö")
        #expect(try document.bool(member("")) == false)
        let elements = try document.children(of: member("e"))
        #expect(elements.map(document.kind) == [.object, .null, .double])
        #expect(document.double(elements[2]) == -1.5)
        #expect(document.integer(elements[2]) == nil)
        #expect(document.children(of: JSONOutline.root).map(document.key) == ["a", "b", "e", "f", "ä", ""])
        #expect(document.children(of: elements[1]) == [])
    }

    @Test(arguments: [
        #"{"a":0,"\u0061":1}"#, "{\"\u{e9}\":0,\"e\u{301}\":1}", #"{"\u0061":0,"a":1}"#,
    ])
    func `a key that is written differently is the same key`(text: String) {
        #expect(throws: JSONError.self) { try outline(text) }
    }

    @Test func `equal keys are found in objects of any size`() throws {
        for count in [2, 31, 32, 33, 34, 100, 3000] {
            let members = (0..<count).map { "\"k\($0)\":\($0)" }
            let whole = try outline("{\(members.joined(separator: ","))}")
            #expect(whole.children(of: JSONOutline.root).count == count)
            #expect(whole.member("k1", of: JSONOutline.root).flatMap(whole.integer) == 1)
            for repeated in [0, count / 2, count - 1] {
                let text = "{\(members.joined(separator: ",")),\"k\(repeated)\":7}"
                #expect(throws: JSONError(.duplicateKey("k\(repeated)"), at: text.utf8.count - 6 - "\(repeated)".count))
                {
                    try outline(text)
                }
            }
        }
    }
}
