import Foundation
import HTTPTypes
import ReachCore
import ReachSerialization
import Testing

/// Cases taken from AFNetworking have the names of its tests: AFHTTPResponseSerializationTests,
/// AFJSONSerializationTests, AFCompoundResponseSerializerTests.
@Suite struct ResponseSerializerTests {
    private func response(_ status: Int = 200, type: String? = nil) throws -> HTTPResponse {
        let headers = HTTPFields(received: type.map { [("Content-Type", $0)] } ?? [])
        return HTTPResponse(status: .init(code: status), headerFields: headers)
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // MARK: - Checks

    @Test func `testThatAFHTTPResponseSerializationHandlesAll2XXCodes`() throws {
        for status in 200...299 {
            #expect(ResponseCheck().error(try response(status, type: "text/html"), body: bytes("text")) == nil)
        }
    }

    @Test func `testThatAFHTTPResponseSerializationFailsAll4XX5XXStatusCodes`() throws {
        for status in Array(100...199) + Array(300...599) {
            let error = ResponseCheck().error(try response(status, type: "text/html"), body: bytes("text"))
            #expect(error?.fault == .unacceptableStatus(status) && error?.word == "bad-status")
        }
    }

    @Test func `testThatAFHTTPResponseSerializationSucceedsWith205WithNoResponseContentTypeAndNoResponseData`() throws {
        let check = ResponseCheck(acceptableContentTypes: ["text/html"])
        #expect(check.error(try response(205), body: []) == nil)
    }

    @Test func `testThatAFHTTPResponseSerializationFailsWith205WithNoResponseContentTypeAndResponseData`() throws {
        let check = ResponseCheck(acceptableContentTypes: ["text/html"])
        #expect(check.error(try response(205), body: bytes("test"))?.fault == .unacceptableContentType(nil))
    }

    @Test(arguments: [("image/png", true), ("text/image", false), ("imagex/png", false)])
    func `a group of types is acceptable`(type: String, isAccepted: Bool) throws {
        let check = ResponseCheck(acceptableContentTypes: ["image/*"])
        #expect((check.error(try response(type: type), body: [1]) == nil) == isAccepted)
        #expect(ResponseCheck(acceptableContentTypes: ["*/*"]).error(try response(type: type), body: [1]) == nil)
    }

    @Test(arguments: [
        ("image/png", true), ("x/png", true), ("image/x-png", false), ("png", false), ("image/jpeg", false),
    ])
    func `a format of any group is acceptable`(type: String, isAccepted: Bool) throws {
        let check = ResponseCheck(acceptableContentTypes: ["*/png"])
        #expect((check.error(try response(type: type), body: [1]) == nil) == isAccepted)
    }

    @Test func `testResponseIsValidated`() throws {
        #expect(ResponseCheck().error(try response(type: "text/html"), body: bytes("text")) == nil)
    }

    @Test func `an error holds the response and the body, and a wrong type underlies a wrong status`() throws {
        let head = try response(500, type: "text/html; charset=UTF-8")
        let result = JSONResponseSerializer().serialize(head, body: bytes("<p>"))
        #expect(result.object == nil)
        #expect(result.error?.fault == .unacceptableStatus(500))
        #expect(result.error?.response == head && result.error?.body == bytes("<p>"))
        #expect(result.error?.underlying?.fault == .unacceptableContentType("text/html"))
        #expect(result.error?.description == "the server answered Internal Server Error (500)")
        #expect(throws: ResponseError.self) { try result.get() }
    }

    @Test func `statuses and types can be configured, or left unchecked`() throws {
        var serializer = JSONResponseSerializer()
        serializer.check = ResponseCheck(acceptableStatusCodes: [404], acceptableContentTypes: nil)
        #expect(serializer.serialize(try response(404, type: "x/y"), body: bytes("[]")).error == nil)
        #expect(serializer.serialize(try response(200), body: bytes("[]")).error?.fault == .unacceptableStatus(200))
        serializer.check.acceptableStatusCodes = nil
        #expect(serializer.serialize(try response(599), body: bytes("[]")).error == nil)
    }

    @Test(
        arguments: [
            ("text/html", "text/html", nil), ("Text/HTML; Charset=\"UTF-8\"", "text/html", "utf-8"),
            (" application/json ;charset=iso-8859-1;x=y", "application/json", "iso-8859-1"), ("", nil, nil),
            (";x", nil, nil),
            ("a/b; x; charset", "a/b", nil), ("a/b; charset=", "a/b", nil),
        ] as [(String, String?, String?)])
    func `a content type is split into type and character set`(header: String, type: String?, characterSet: String?)
        throws
    {
        let head = try response(type: header)
        #expect(head.mediaType == type && head.characterSet == characterSet)
    }

    // MARK: - Bytes

    @Test func `bytes are returned with any fault`() throws {
        let result = DataResponseSerializer().serialize(try response(404), body: [1, 2])
        #expect(result.object?.bytes == [1, 2] && result.error?.fault == .unacceptableStatus(404))
        #expect(DataResponseSerializer().serialize(nil, body: []).error == nil)
    }

    // MARK: - JSON

    @Test(arguments: [
        ("testThatJSONResponseSerializerAcceptsApplicationJSONMimeType", "application/json", true),
        ("testThatJSONResponseSerializerAcceptsTextJSONMimeType", "text/json", true),
        ("testThatJSONResponseSerializerAcceptsTextJavaScriptMimeType", "text/javascript", true),
        ("testThatJSONResponseSerializerDoesNotAcceptNonStandardJSONMimeType", "nonstandard/json", false),
        ("parameters of the type do not count", "application/json; charset=utf-8", true),
    ])
    func `JSON is accepted by content type`(name: String, type: String, isAccepted: Bool) throws {
        let result = JSONResponseSerializer().serialize(try response(type: type), body: bytes(#"{"foo":"bar"}"#))
        #expect((result.error == nil) == isAccepted && (result.object != nil) == isAccepted)
    }

    @Test func `testThatJSONResponseSerializerReturnsDictionaryForValidJSONDictionary`() throws {
        let result = JSONResponseSerializer().serialize(try response(type: "text/json"), body: bytes(#"{"foo":"bar"}"#))
        #expect(result.object?.json == .object(["foo": .string("bar")]) && result.error == nil)
    }

    @Test func `testThatJSONResponseSerializerReturnsErrorForInvalidJSON`() throws {
        let result = JSONResponseSerializer().serialize(try response(type: "text/json"), body: bytes("{invalid}"))
        #expect(result.object == nil && result.error?.word == "undecodable")
        #expect(result.error?.description == "the body is not JSON: byte 1: a key expected")
    }

    @Test(arguments: ["", " "])
    func `testThatJSONResponseSerializerReturnsNilObjectAndNilErrorForEmptyData and ForSingleSpace`(body: String) throws
    {
        let result = JSONResponseSerializer().serialize(try response(type: "text/json"), body: bytes(body))
        #expect(result.object == nil && result.error == nil)
    }

    @Test func `testThatJSONRemovesKeysWithNullValues`() throws {
        var serializer = JSONResponseSerializer()
        serializer.removesNulls = true
        let body = #"{"key":"value","nullkey":null,"array":[{"subnullkey":null}],"arrayWithNulls":[null]}"#
        let json = serializer.serialize(try response(type: "text/json"), body: bytes(body)).object?.json
        #expect(
            json
                == .object([
                    "key": .string("value"), "array": .array([.object([:])]), "arrayWithNulls": .array([]),
                ]))
        #expect(JSONValue.null.withoutNulls == .null)
    }

    @Test func `JSON of a response with a wrong status is decoded, and the status is the error`() throws {
        let result = JSONResponseSerializer().serialize(
            try response(422, type: "application/json"), body: bytes(#"{"error":"why"}"#))
        #expect(result.object?.json?["error"]?.string == "why" && result.error?.fault == .unacceptableStatus(422))
        let broken = JSONResponseSerializer().serialize(try response(422, type: "application/json"), body: bytes("{"))
        #expect(broken.error?.word == "undecodable" && broken.error?.underlying?.fault == .unacceptableStatus(422))
    }

    @Test func `a document that is neither object nor array is accepted only with fragments allowed`() throws {
        var serializer = JSONResponseSerializer()
        let head = try response(type: "application/json")
        for body in ["null", "5", "\"x\"", "true"] {
            #expect(serializer.serialize(head, body: bytes(body)).error?.word == "undecodable")
        }
        serializer.allowsFragments = true
        #expect(serializer.serialize(head, body: bytes("5")).object?.json == .integer(5))
    }

    @Test(arguments: EncodedText.allCases, ["", "\u{feff}"])
    func `JSON may be UTF-8, UTF-16 or UTF-32, with or without a mark`(encoding: EncodedText, mark: String) throws {
        let body = encoding.bytes(mark + #"{"é":"😀ä"}"#)
        let result = JSONResponseSerializer().serialize(try response(type: "application/json"), body: body)
        #expect(result.object?.json == .object(["é": .string("😀ä")]))
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":{"x":1},"b":0,"a":{"y":2}}"#, "[18446744073709551615,9223372036854775808]",
        "[-9223372036854775809]", "[123456789012345678901234567890,9223372036854775807]",
    ])
    func `equal keys and long integers are read as Foundation reads them`(text: String) throws {
        let json = JSONResponseSerializer().serialize(nil, body: bytes(text)).object?.json
        let foundation = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(foundationObject(try #require(json)) as? NSObject == foundation as? NSObject)
    }

    /// With numbers as doubles where Foundation has decimals.
    private func foundationObject(_ value: JSONValue) -> Any {
        switch value {
        case .null: NSNull()
        case .bool(let flag): NSNumber(value: flag)
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .string(let text): NSString(string: text)
        case .array(let elements): NSArray(array: elements.map(foundationObject))
        case .object(let members): NSDictionary(dictionary: members.mapValues(foundationObject))
        }
    }

    @Test func `a number beyond a double is an error`() {
        #expect(JSONResponseSerializer().serialize(nil, body: bytes("[1e400]")).error?.word == "undecodable")
        let digits = String(repeating: "9", count: 400)
        #expect(JSONResponseSerializer().serialize(nil, body: bytes("[\(digits)]")).error?.word == "undecodable")
    }

    @Test func `JSON of any size is decoded, and nesting is limited`() throws {
        let head = try response(type: "application/json")
        let large = bytes("[" + Array(repeating: "{\"a\":[1,2,3]}", count: 20_000).joined(separator: ",") + "]")
        #expect(JSONResponseSerializer().serialize(head, body: large).object?.json?.array?.count == 20_000)
        // Foundation's limit.
        for (levels, word) in [(512, nil), (513, "undecodable")] {
            let body = bytes(String(repeating: "[", count: levels) + String(repeating: "]", count: levels))
            #expect(JSONResponseSerializer().serialize(head, body: body).error?.word == word)
        }
        let deep = bytes(String(repeating: "[", count: 1_000_000))
        #expect(JSONResponseSerializer().serialize(head, body: deep).error?.word == "undecodable")
    }

    // MARK: - XML and compound

    @Test func `XML is returned as a parser, in the encoding that the head names`() throws {
        let result = XMLResponseSerializer().serialize(
            try response(type: "text/xml; charset=iso-8859-1"), body: bytes("<a>") + [0xe4] + bytes("</a>"))
        var parser = try #require(result.object?.xml)
        #expect(try parser.next() == .start(name: "a", attributes: []))
        #expect(try parser.next() == .text("ä"))
        let json = XMLResponseSerializer().serialize(try response(type: "application/json"), body: bytes("{}"))
        #expect(json.object == nil && json.error?.word == "bad-content-type")
    }

    /// AFNetworking's case begins with its serializer for images, which has no counterpart here.
    @Test func `testCompoundSerializerProperlySerializesResponse`() throws {
        let compound = CompoundResponseSerializer([XMLResponseSerializer(), JSONResponseSerializer()])
        let result = compound.serialize(try response(type: "application/json"), body: bytes(#"{"key":"value"}"#))
        #expect(result.object?.json == .object(["key": .string("value")]) && result.error == nil)
    }

    @Test func `without an object from any serializer, a compound returns the bytes with its own check`() throws {
        var compound = CompoundResponseSerializer([XMLResponseSerializer(), JSONResponseSerializer()])
        let plain = compound.serialize(try response(type: "text/plain"), body: bytes("x"))
        #expect(plain.object?.bytes == bytes("x") && plain.error == nil)
        #expect(
            compound.serialize(try response(500, type: "text/plain"), body: []).error?.fault == .unacceptableStatus(500)
        )
        compound.check.acceptableContentTypes = ["a/b"]
        #expect(compound.serialize(try response(type: "c/d"), body: [1]).error?.word == "bad-content-type")
    }

    @Test func `a compound returns an object together with its error`() throws {
        let compound = CompoundResponseSerializer([JSONResponseSerializer()])
        let result = compound.serialize(try response(400, type: "application/json"), body: bytes("[1]"))
        #expect(result.object?.json == .array([.integer(1)]) && result.error?.fault == .unacceptableStatus(400))
    }
}
