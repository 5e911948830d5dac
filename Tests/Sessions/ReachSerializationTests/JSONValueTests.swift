import Foundation
import ReachCore
import ReachSerialization
import Testing

/// Documents as values of Swift.
@Suite struct JSONValueTests {
    private let document: JSONValue = [
        "name": "Ann", "age": 7, "size": 1.5, "whole": 2.0, "on": true, "none": nil, "list": [1, "x", nil, [2]],
    ]

    @Test func `members and elements are found by name and number`() {
        #expect(document["name"]?.string == "Ann" && document["list"]?[1]?.string == "x")
        #expect(document["list"]?[3]?[0]?.int == 2)
        #expect(document["list"]?[2] == nil && document["list"]?[9] == nil && document["list"]?[-1] == nil)
        #expect(document["none"] == nil && document[0] == nil && document["name"]?["x"] == nil)
        #expect(document["list"]?.array?.count == 4 && document.object?.count == 7)
    }

    @Test func `numbers are read as what they are needed as`() {
        #expect(document["age"]?.double == 7 && document["size"]?.double == 1.5 && document["name"]?.double == nil)
        #expect(document["age"]?.int == 7 && document["whole"]?.int == 2 && document["size"]?.int == nil)
        #expect(document["on"]?.bool == true && document["on"]?.int == nil)
        #expect(JSONValue.double(1e300).int == nil && JSONValue.null.isNull)
    }

    @Test func `a document is the same after a trip through Swift's values, bytes and Codable`() throws {
        #expect(JSONValue(try #require(document.anyValue)) == document)
        #expect(try JSONValue(parsing: document.bytes) == document)
        let encoded = try JSONEncoder().encode(document)
        #expect(try JSONDecoder().decode(JSONValue.self, from: encoded)["list"] == document["list"])
        #expect(JSONValue.null.anyValue == nil && JSONValue(Int?.none as Any) == .null)
    }

    @Test func `Swift's values become a document, and others do not`() {
        let object: [String: Any] = ["a": [1, 2.5, "x"] as [Any], "b": ["c": UInt8(3)], "d": Int?.none as Any]
        #expect(JSONValue(object) == ["a": [1, 2.5, "x"], "b": ["c": 3], "d": nil])
        #expect(JSONValue(Date(timeIntervalSinceReferenceDate: 0)) == "2001-01-01T00:00:00Z")
        #expect(JSONValue(Data()) == nil && JSONValue(Double.nan) == nil && JSONValue(["a": UInt64.max]) == nil)
        #expect(JSONValue([Double.infinity]) == nil && JSONValue(JSONValueTests.self) == nil)
    }

    @Test func `a text that is no document is undecodable, with its place`() {
        let error = #expect(throws: ResponseError.self) { try JSONValue(parsing: Array("{".utf8)) }
        #expect(error?.word == "undecodable" && error?.description.hasPrefix("the body is not JSON: ") == true)
    }
}
