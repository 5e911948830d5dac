import Foundation
import ReachSerialization
import Testing

/// Variables as parameters.
@Suite struct ParameterEncodingTests {
    private struct Filter: Encodable {
        var from: Date?
        var tags = ["a", "b"]
        var range = Range(low: 1, high: nil)
        struct Range: Encodable {
            var low: Int?
            var high: Int?
        }
    }

    private enum Size: String, Encodable { case small, large }

    private func query(_ value: Any) throws -> String {
        QueryString.text(of: ["a": try #require(try ParameterValue(of: value))])
    }

    @Test func `each type of variable has one encoding in a query`() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0)
        let cases: [(Any, String)] = [
            ("x y", "a=x%20y"), (true, "a=1"), (false, "a=0"), (7, "a=7"), (Int8(-7), "a=-7"), (UInt16(7), "a=7"),
            (Int64.min, "a=-9223372036854775808"), (UInt64.max, "a=18446744073709551615"), (UInt(7), "a=7"),
            (1.5, "a=1.5"), (2.0, "a=2"), (Float(0.1), "a=0.1"), ([1, 2], "a%5B%5D=1&a%5B%5D=2"),
            (["b": 1, "c": 2], "a%5Bb%5D=1&a%5Bc%5D=2"), (Set(["y", "x"]), "a=x&a=y"), (Data([0x41, 0xff]), "a=A%FF"),
            (date, "a=2001-01-01T00%3A00%3A00Z"), (date + 0.25, "a=2001-01-01T00%3A00%3A00.250Z"),
            (URL(string: "https://example.org/a?b=c")!, "a=https%3A//example.org/a?b%3Dc"),
            (Decimal(string: "12.5")!, "a=12.5"), (Decimal(12), "a=12"), (Size.large, "a=large"),
            (Int128(5), "a=5"), (["x" as Any, 1] as [Any], "a%5B%5D=x&a%5B%5D=1"),
            (["b": ["c": [1, "x"] as [Any]] as Any], "a%5Bb%5D%5Bc%5D%5B%5D=1&a%5Bb%5D%5Bc%5D%5B%5D=x"),
            (UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!, "a=6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
            (ParameterValue.set([2, 1]), "a=1&a=2"), (Optional(3) as Any, "a=3"),
        ]
        for (value, text) in cases { #expect(try query(value) == text) }
    }

    @Test func `a structure is a dictionary of its members, without those that are nil`() throws {
        #expect(
            try ParameterValue(encoding: Filter()) == ["tags": ["a", "b"], "range": ["low": 1]])
        #expect(
            try ParameterValue(encoding: [Filter(from: Date(timeIntervalSinceReferenceDate: 1))])
                == [["from": "2001-01-01T00:00:01Z", "tags": ["a", "b"], "range": ["low": 1]]])
    }

    @Test func `nil is left out of dictionaries, and null in arrays`() throws {
        let none: String? = nil
        #expect(try ParameterValue(of: none as Any) == nil)
        #expect(try ParameterValue(of: ["a": none as Any, "b": 1]) == ["b": 1])
        #expect(try ParameterValue(encoding: ["a": none, "b": "x"]) == ["b": "x"])
        #expect(try ParameterValue(encoding: [1, nil]) == [1, nil])
        #expect(try ParameterValue(of: [1, nil] as [Int?]) == [1, nil])
    }

    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            #expect(list.count == 1)
            var inner = list.nestedContainer(keyedBy: Key.self)
            try inner.encode("x", forKey: .list)
            try list.encodeNil()
            try container.encodeNil(forKey: .other)
            try Filter.Range(low: 2, high: 3).encode(to: container.superEncoder())
        }
        enum Key: String, CodingKey { case list, other }
    }

    @Test func `nested containers, nulls and superclasses are where the value puts them`() throws {
        #expect(
            try ParameterValue(encoding: Nested())
                == ["list": [1, ["list": "x"], nil], "other": nil, "super": ["low": 2, "high": 3]])
    }

    @Test func `what cannot be encoded is named by its place and type`() throws {
        final class Thing {}
        #expect(
            throws: RequestSerializationError.unsupportedValue(place: "a[b][]", kind: "a Thing", format: "a request")
        ) {
            try ParameterValue(of: ["a": ["b": [Thing()]]])
        }
        #expect(throws: RequestSerializationError.self) { try ParameterValue(encoding: ["a": Int128.max]) }
    }

    @Test func `integers beyond Int64 are exact in JSON`() throws {
        let document = try JSONRequestSerializer.document(["a": .unsigned(.max), "b": [true, nil, 1.5, "x"]])
        #expect(String(decoding: document, as: UTF8.self) == #"{"a":18446744073709551615,"b":[true,null,1.5,"x"]}"#)
        #expect(ParameterValue(UInt64(7)) == .integer(7) && ParameterValue(UInt64.max) == .unsigned(.max))
    }

    @Test func `a large array is encoded in time that grows with its length`() throws {
        let value = try ParameterValue(encoding: Array(0..<200_000))
        guard case .array(let elements) = value else { Issue.record("no array"); return }
        #expect(elements.count == 200_000 && elements.last == 199_999)
    }

    @Test func `a query encoder's own error is kept`() throws {
        struct Own: Error, Equatable {}
        var serializer = FormRequestSerializer()
        serializer.queryEncoder = { _, _ in throw Own() }
        let error = #expect(throws: RequestSerializationError.self) {
            try serializer.request("GET", "http://a/", parameters: ["a": 1])
        }
        guard case .custom(let failure) = error else { Issue.record("\(String(describing: error))"); return }
        #expect(failure.error is Own && error?.word == "custom-serializer")
    }

    @Test func `what a form's builder throws reaches its caller`() throws {
        #expect(throws: CocoaError.self) {
            try FormRequestSerializer().multipartRequest("POST", "http://a/") { form in
                form.append(Array(try Data(contentsOf: URL(filePath: "/nonexistent"))), name: "a")
            }
        }
    }
}
