import Foundation
import HTTPTypes
import ReachCore
import ReachSerialization
import ReachTesting
import Testing

/// Cases taken from AFNetworking have the names of its tests: AFHTTPRequestSerializationTests,
/// AFJSONSerializationTests.
@Suite struct RequestSerializerTests {
    private let site = "http://example.com"

    private func bytes(_ request: WebRequest) -> String? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - Queries and forms

    @Test func `testThatAFHTTPRequestSerializationSerializesPOSTRequestsProperly`() throws {
        let request = try FormRequestSerializer().request("POST", site, parameters: ["key": "value"])
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(bytes(request) == "key=value" && request.contentLength == 9)
        #expect(request.url.description == site)
    }

    @Test func `testThatAFHTTPRequestSerializationSerializesPOSTRequestsProperlyWhenNoParameterIsProvided`() throws {
        let request = try FormRequestSerializer().request("POST", site)
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(bytes(request)?.isEmpty == true && request.contentLength == 0)
    }

    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("DELETE", true), ("get", true), ("POST", false), ("PUT", false),
        ("PATCH", false),
        ("OPTIONS", false),
    ])
    func `GET, HEAD and DELETE encode parameters in the URL`(method: String, isInURL: Bool) throws {
        let request = try FormRequestSerializer().request(method, site + "/a?x=y", parameters: ["key": [1]])
        #expect(request.url.query == (isInURL ? "x=y&key%5B%5D=1" : "x=y"))
        #expect(bytes(request) == (isInURL ? nil : "key%5B%5D=1"))
        #expect(request.method.rawValue == method)
    }

    @Test func `the methods that encode parameters in the URL can be configured`() throws {
        var serializer = FormRequestSerializer()
        serializer.methodsEncodingParametersInURL = ["POST"]
        #expect(try serializer.request("POST", site, parameters: ["a": 1]).url.query == "a=1")
        #expect(bytes(try serializer.request("GET", site, parameters: ["a": 1])) == "a=1")
    }

    @Test func `testThatEmptyDictionaryParametersAreProperlyEncoded`() throws {
        #expect(try FormRequestSerializer().request("GET", site, parameters: [:]).url.description == site)
    }

    @Test func `testThatAFHTTPRequestSerialiationSerializesQueryParametersCorrectlyFromQuerySerializationBlock`() throws
    {
        var serializer = FormRequestSerializer()
        serializer.queryEncoder = { _, parameters in
            guard case .dictionary(let members) = parameters else { return "" }
            return members.map { "\($0.key)**\($0.value == "value" ? "value" : "")" }.joined()
        }
        #expect(try serializer.request("GET", site, parameters: ["key": "value"]).url.query == "key**value")
    }

    @Test func `testQueryStringSerializationCanFailWithError`() {
        var serializer = FormRequestSerializer()
        serializer.queryEncoder = { _, _ throws(RequestSerializationError) in throw .queryEncoder("not today") }
        #expect(throws: RequestSerializationError.queryEncoder("not today")) {
            try serializer.request("GET", site, parameters: [:])
        }
    }

    @Test func `headers are set unless the request has its own`() throws {
        var defaults = HTTPFields()
        try defaults.set("User-Agent", "default")
        try defaults.set("X-Other", "default")
        var own = try WebRequest(method: "POST", url: WebAddress(site))
        try own.headers.set("user-agent", "own")
        try own.headers.set("Content-Type", "text/plain")
        let request = try FormRequestSerializer(headers: defaults).serialize(own, parameters: ["a": 1])
        #expect(request.headers[.userAgent] == "own" && request.headers["X-Other"] == "default")
        #expect(request.headers[.contentType] == "text/plain")
    }

    @Test func `a query needs names, and the URL must be valid`() {
        #expect(throws: RequestSerializationError.notADictionary) {
            try FormRequestSerializer().request("GET", site, parameters: [1, 2])
        }
        let error = #expect(throws: RequestSerializationError.self) {
            try FormRequestSerializer().request("GET", "example.com/a")
        }
        #expect(error?.word == "bad-url")
    }

    @Test(arguments: ["", "GET ", "GET\r\nX: y", "Gé", "a/b"])
    func `a method that could break out of the request line is rejected`(method: String) {
        #expect(throws: RequestSerializationError.badMethod(method)) {
            try FormRequestSerializer().request(method, site)
        }
    }

    // MARK: - JSON

    @Test func `testThatJSONRequestSerializationHandlesParametersDictionary`() throws {
        let request = try JSONRequestSerializer().request("POST", site, parameters: ["key": "value"])
        #expect(bytes(request) == #"{"key":"value"}"#)
        #expect(request.headers[.contentType] == "application/json")
    }

    @Test func `testThatJSONRequestSerializationHandlesParametersArray`() throws {
        let request = try JSONRequestSerializer().request("POST", site, parameters: [["key": "value"]])
        #expect(bytes(request) == #"[{"key":"value"}]"#)
    }

    /// AFNetworking's other case of this name, half of a surrogate pair, cannot occur in a Swift string.
    @Test(
        arguments: [
            (["key": .set(["value"])], "key", "a set"), (["a": ["b": [.data([1])]]], "a[b][]", "bytes"),
            (["a": .double(.nan)], "a", "a number that is not finite"),
            (["a": [1, .double(.infinity)]], "a[]", "a number that is not finite"),
            ("text", "", "text"), (1, "", "a whole number"), (.null, "", "null"),
        ] as [(ParameterValue, String, String)])
    func `testThatJSONRequestSerializationErrorsWithInvalidJSON`(
        parameters: ParameterValue, place: String, kind: String
    ) {
        let error = #expect(throws: RequestSerializationError.self) {
            try JSONRequestSerializer().request("POST", site, parameters: parameters)
        }
        guard case .unsupportedValue(place, kind, _) = error else {
            Issue.record("not the place and the kind: \(String(describing: error))")
            return
        }
    }

    @Test func `JSON has no body without parameters, and some methods encode parameters in the URL`() throws {
        let empty = try JSONRequestSerializer().request("POST", site)
        #expect(bytes(empty) == nil && empty.headers[.contentType] == nil && empty.contentLength == nil)
        let get = try JSONRequestSerializer().request("GET", site, parameters: ["a": ["b": 1]])
        #expect(get.url.query == "a%5Bb%5D=1" && bytes(get) == nil)
    }

    @Test func `sent JSON decodes to the parameters given`() throws {
        let parameters: ParameterValue = [
            "text": "a\"\\/\n\u{1}é😀", "yes": true, "no": false, "none": nil, "whole": .integer(.max), "small": -0.5,
            "large": 1e300, "list": [1, [], [:]], "": ["": ""],
        ]
        let document = try JSONRequestSerializer.document(parameters)
        let foundation = try JSONSerialization.jsonObject(with: Data(document)) as? NSDictionary
        let expected: NSDictionary = [
            "text": "a\"\\/\n\u{1}é😀", "yes": true, "no": false, "none": NSNull(), "whole": Int64.max, "small": -0.5,
            "large": 1e300, "list": [1, [Any](), [String: Any]()] as [Any], "": ["": ""],
        ]
        #expect(foundation == expected)
    }

    @Test(arguments: [
        (RequestSerializationError.notADictionary, "parameters-without-names"), (.badMethod("a b"), "bad-method"),
        (.unsupportedValue(place: "a", kind: "a set", format: "JSON"), "unsupported-value"),
        (.bodyNotAllowed(method: "GET"), "body-not-allowed"), (.queryEncoder("x"), "query-encoder"),
    ])
    func `an error has a word and a sentence`(error: RequestSerializationError, word: String) {
        #expect(error.word == word && !error.description.isEmpty)
    }
}
