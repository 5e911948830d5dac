import ReachSerialization
import Testing

/// Cases taken from AFNetworking have the names of its tests: AFHTTPRequestSerializationTests, AFHTTPClientTests.
@Suite struct QueryStringTests {
    private static let reserved = ":#[]@!$&'()*+,;=?/"

    @Test(
        arguments: [
            ("testThatAFHTTPRequestSerialiationSerializesQueryParametersCorrectly", ["key": "value"], "key=value"),
            (
                "testThatAFHTTPRequestSerialiationSerializesURLEncodableQueryParametersCorrectly",
                ["key": " :#[]@!$&'()*+,;=/?"], "key=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"
            ),
            (
                "testThatAFHTTPRequestSerialiationSerializesURLEncodedQueryParametersCorrectly",
                ["key": "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F"],
                "key=%2520%2521%2522%2523%2524%2525%2526%2527%2528%2529%252A%252B%252C%252F"
            ),
            ("testQueryStringFromParameters", ["key": "value", "key1": "value&"], "key=value&key1=value%26"),
            (
                "testAFQueryStringFromParametersWithEncodingWithComplexNestedParameters",
                ["key1": "value1", "key2": ["key": [1, "value"]]],
                "key1=value1&key2%5Bkey%5D%5B%5D=1&key2%5Bkey%5D%5B%5D=value"
            ),
            ("testThatAFQueryStringFromParametersWithEncodingAppliesPercentEscapes", ["key1": "ä"], "key1=%C3%A4"),
            ("testThatEmptyDictionaryParametersAreProperlyEncoded", [:], ""),
        ] as [(String, [String: ParameterValue], String)])
    func `AFNetworking's queries are encoded as AFNetworking encodes them`(
        name: String, parameters: [String: ParameterValue], query: String
    ) {
        #expect(QueryString.text(of: parameters) == query)
    }

    @Test(
        arguments: [
            (["a": nil], "a"), (["a": ""], "a="), (["": "x"], "=x"), (["": nil, "b": 1], "&b=1"),
            (["a": [:]], ""), (["a": []], ""), (["a": .set([])], ""), (["a": [[:], []], "b": 1], "b=1"),
            (["a": [nil, nil]], "a%5B%5D&a%5B%5D"), (["a": ["b": nil]], "a%5Bb%5D"),
            (["a": true, "b": false], "a=1&b=0"), (["a": -7], "a=-7"),
            (["a": .integer(.min)], "a=-9223372036854775808"),
            (["a": 1.0], "a=1"), (["a": 1.5], "a=1.5"), (["a": 98.1], "a=98.1"), (["a": 1e20], "a=1e%2B20"),
            (["a": -0.25], "a=-0.25"),
            (["a": [1, 2, 1]], "a%5B%5D=1&a%5B%5D=2&a%5B%5D=1"), (["a": [[1], [2, 3]]], Self.arrays),
            (["a": .set(["c", "b", "a"])], "a=a&a=b&a=c"), (["a": .set([10, 9])], "a=10&a=9"),
            (["a": .set([["y"], ["x"]])], "a%5B%5D=x&a%5B%5D=y"),
            (["a": ["s": .set([2, 1])]], "a%5Bs%5D=1&a%5Bs%5D=2"),
            (["a": ["b": ["c": ["d": 1]]]], "a%5Bb%5D%5Bc%5D%5Bd%5D=1"),
            (["a": [["x": 1, "y": 2], ["x": 3, "y": 4]]], Self.records),
            (["b": 1, "B": 2, "a": 3, "10": 4, "9": 5, "_": 6], "10=4&9=5&B=2&_=6&a=3&b=1"),
            (["a": .data([0, 0x41, 0xff])], "a=%00A%FF"), (["a[b]": 1], "a%5Bb%5D=1"),
            (["a": "x\r\ny\0"], "a=x%0D%0Ay%00"), (["a": "-._~09azAZ"], "a=-._~09azAZ"),
            (["a": "\"<>\\^`{|}"], Self.rest),
        ] as [([String: ParameterValue], String)])
    func `nested, empty and special parameters have one encoding`(
        parameters: [String: ParameterValue], query: String
    ) {
        #expect(QueryString.text(of: parameters) == query)
    }

    private static let arrays = "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"
    private static let records =
        "a%5B%5D%5Bx%5D=1&a%5B%5D%5By%5D=2&a%5B%5D%5Bx%5D=3&a%5B%5D%5By%5D=4"
    private static let rest = "a=%22%3C%3E%5C%5E%60%7B%7C%7D"

    @Test func `testPercentEscapingString: all reserved characters but ? and slash are escaped`() {
        #expect(QueryString.escaped(Self.reserved) == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/")
    }

    @Test func `testThatEmojiIsProperlyEncoded: no character is split, wherever AFNetworking's batches of 50 end`() {
        let people = "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"
        for count in 1...60 {
            let text = String(repeating: "!", count: count) + String(repeating: "👴🏿👷🏻👮🏽", count: 5)
            let escaped = String(repeating: "%21", count: count) + String(repeating: people, count: 5)
            #expect(QueryString.text(of: ["test": .string(text)]) == "test=" + escaped)
        }
    }

    @Test func `equal parameters give equal queries`() {
        let keys = (0..<100).map { "key\($0)" }
        let one = Dictionary(uniqueKeysWithValues: keys.map { ($0, ParameterValue.set([1, 2, 3, 4, 5, 6, 7, 8])) })
        var other: [String: ParameterValue] = [:]
        for key in keys.reversed() { other[key] = .set([8, 7, 6, 5, 4, 3, 2, 1]) }
        #expect(QueryString.text(of: one) == QueryString.text(of: other))
    }
}
