import ReachCore
import ReachProbe
import Testing

@Suite struct JSONConditionTests {
    private static let document = #"""
        {"status":"ok","count":42,"share":0.5,"text":"42","none":null,"on":true,"a b":{"it's":1},"ünder":"é",
         "list":[1,2,3],"empty":[],"nodes":[{"name":"a","error":""},{"name":"b","error":"full"}],
         "big":18446744073709551616,"at":"2026-11-27T10:00:00Z"}
        """#

    private func fault(_ condition: String, in document: String = document) throws -> String? {
        try JSONCondition(condition).fault(in: JSONReader.outline(Array(document.utf8), .asFoundation))
    }

    @Test(arguments: [
        #"$.status == "ok""#, "$.status=='ok'", " $.status  !=  'down' ", "$.count == 42", "$.count < 42.5",
        "$.count >= 42",
        "$.share <= 5e-1", "$.none == null", "$.none", "$.on == true", "$.on != false", #"$["a b"]["it's"] == 1"#,
        #"$['a b']['it\'s'] == 1"#, "$.ünder == 'é'", "$.ünder == '\\u00e9'", "$.list[0] == 1", "$.list[-1] == 3",
        "length($.list) == 3", "length($.empty) == 0", "length( $.status ) < 3", "length($) > 5", "!$.error",
        "!$.list[3]",
        "$.list[*] > 0", "$.empty[*] == 'anything'", "$.nodes[*].name", "$.big > 1e19", "$.at > '2026-11-27'", "$",
        "$.text != 42", "!$.nodes[*].code",
    ])
    func `a condition holds`(_ condition: String) throws { #expect(try fault(condition) == nil) }

    @Test(arguments: [
        ("$.status == 'up'", #"$.status is "ok"; expected == "up""#),
        ("$.count > 100", "$.count is 42; expected > 100"),
        // The value of a form, which looks like a number.
        ("$.text > 41", #"$.text is "42", a text; expected > 41, a number"#),
        ("$.btc.workers == 4", "there is no $.btc"), ("$.status.deep", "there is no $.status.deep"),
        ("$.missing != 1", "there is no $.missing"), ("!$.none", "there is $.none"),
        ("$.list == 1", "$.list: it is compared, but is an array"),
        ("length($.count) > 1", "length($.count): it is a number"),
        ("length($.empty) > 0", "length($.empty) is 0; expected > 0"), ("$.list[3]", "there is no $.list[3]"),
        ("$.nodes[*].error == ''", #"$.nodes[1].error is "full"; expected == """#),
        ("$.nodes[*].code", "there is no $.nodes[0].code"), ("$.count[*] == 1", "there is no $.count[*]"),
        ("$['a b'].x", #"there is no $["a b"].x"#), ("$.none == 0", "$.none is null, null; expected == 0, a number"),
    ])
    func `a condition that does not hold says what is there`(condition: String, sentence: String) throws {
        #expect(try fault(condition) == sentence)
    }

    @Test func `texts are equal by their bytes, and what a server sends is excerpted`() throws {
        #expect(try fault("$.a == 'e\\u0301'", in: #"{"a":"\u00e9"}"#) != nil)
        let long = try #require(try fault("$.a == 1", in: #"{"a":"\#(String(repeating: "x", count: 5000))\u001b"}"#))
        #expect(long.utf8.count < 200 && long.utf8.allSatisfy { 0x20...0x7e ~= $0 })
        // Of equal keys the last one counts, as for the programs that people write.
        #expect(try fault("$.a == 2", in: #"{"a":1,"a":2}"#) == nil)
    }

    @Test(arguments: [
        ("", 0, "a path"), ("status", 0, "a path"), ("$.", 2, "a name"), ("$.a.", 4, "a name"), ("$[", 2, "an index"),
        ("$[1.5]", 2, "an index"), ("$[01]", 2, "an index"), ("$[1", 3, "']'"), ("$.a b", 4, "a comparison"),
        ("$.a = 1", 4, "a comparison"), ("$.a ==", 6, "a number, a text"), ("$.a == ok", 7, "a number, a text"),
        ("$.a == 1 2", 9, "nothing more"), ("$.a == 'x", 7, "has no end"), (#"$.a == "\q""#, 7, "no text as JSON"),
        ("$.a < true", 6, "have an order"), ("length($.a)", 11, "a comparison"), ("length($.a == 1", 11, "')'"),
        ("length($.a) == 'x'", 15, "a number"), ("!$.a == 1", 5, "nothing more"), ("$.a == 1e999", 7, "a number"),
        ("$.a == \u{1}", 7, "a number"),
    ])
    func `a text that is no condition says what is wrong and where`(text: String, offset: Int, problem: String) {
        let error = #expect(throws: JSONConditionError.self) { try JSONCondition(text) }
        #expect(error?.offset == offset, "\(String(describing: error))")
        #expect(error?.problem.contains(problem) == true, "\(String(describing: error))")
    }

    @Test func `long texts and long paths are refused`() {
        let most = "$" + String(repeating: "[0]", count: JSONCondition.mostSteps)
        #expect(throws: Never.self) { try JSONCondition(most) }
        #expect(throws: JSONConditionError.self) { try JSONCondition(most + "[0]") }
        #expect(throws: JSONConditionError.self) { try JSONCondition("$." + String(repeating: "a", count: 1024)) }
    }

    @Test func `no text and no document traps`() throws {
        var random = SplitMix64(seed: 1)
        let pieces = Array("$.a[]*!()=<>'\"\\0159-+eE lengthtruefalsenull\u{e9}\u{0}\t")
        let document = try JSONReader.outline(Array(Self.document.utf8), .asFoundation)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &random)
            let text = String((0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] })
            do throws(JSONConditionError) {
                let condition = try JSONCondition("$" + text)
                _ = condition.fault(in: document)
                #expect(condition.description == "$" + text)
            } catch {
                #expect(error.offset <= text.utf8.count + 1)
            }
        }
    }
}
