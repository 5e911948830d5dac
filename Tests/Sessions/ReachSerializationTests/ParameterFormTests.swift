import Foundation
import HTTPTypes
import ReachSerialization
import Testing

/// Numbers with many digits, forms of dates, boundaries and text encodings of one's own.
@Suite struct ParameterFormTests {
    private struct Order: Encodable {
        var price = Decimal(string: "12345678901234567890.123456789")
        var placed = Date(timeIntervalSince1970: 1_700_000_000)
        var visits: Set<Date> = [Date(timeIntervalSince1970: 1.5)]
        var history = ["first": [Date(timeIntervalSince1970: 0)]]
        var never: Date?
    }

    @Test func `a Decimal keeps all its digits in a query, a form and JSON`() throws {
        let many = try #require(Decimal(string: "-12345678901234567890.123456789"))
        let value = try #require(try ParameterValue(of: ["a": many]))
        #expect(value == ["a": .decimal("-12345678901234567890.123456789")])
        let written = try FormRequestSerializer().request("GET", "http://a.test/", parameters: value)
        #expect(written.url.query == "a=-12345678901234567890.123456789")
        let json = try JSONRequestSerializer.document(value)
        #expect(String(decoding: json, as: UTF8.self) == #"{"a":-12345678901234567890.123456789}"#)
        let encoded = try JSONEncoder().encode(value)
        #expect(String(decoding: encoded, as: UTF8.self) == #"{"a":-12345678901234567890.123456789}"#)
        // Short ones are as they were.
        #expect(try ParameterValue(of: Decimal(string: "12.5")!) == .double(12.5))
        #expect(throws: RequestSerializationError.self) { try JSONRequestSerializer.document(["a": .double(.nan)]) }
        #expect(
            throws: RequestSerializationError.unsupportedValue(
                place: "a", kind: "a number that is not finite", format: "JSON")
        ) { try JSONRequestSerializer.document(["a": try #require(try ParameterValue(of: Decimal.nan))]) }
    }

    @Test(arguments: [
        ("0", true), ("-0.5", true), ("1e400", true), ("1E-7", true), ("01", false), ("1.", false), (".5", false),
        ("+1", false), ("1 ", false), ("", false), ("1e", false), ("1,\"b\":2", false), ("NaN", false),
    ])
    func `digits that are no number stay out of JSON`(digits: String, isNumber: Bool) throws {
        let document = try? JSONRequestSerializer.document(["a": .decimal(digits)])
        #expect((document != nil) == isNumber)
    }

    @Test func `dates of a whole value have the form that is asked for, at every level`() throws {
        let seconds = try ParameterValue(encoding: Order(), dates: .secondsSince1970)
        #expect(
            seconds == [
                "price": .decimal("12345678901234567890.123456789"), "placed": 1_700_000_000,
                "visits": .set([.double(1.5)]), "history": ["first": [0]],
            ])
        let milliseconds = try ParameterValue(encoding: Order(), dates: .millisecondsSince1970)
        guard case .dictionary(let members) = milliseconds else { return #expect(Bool(false)) }
        #expect(members["placed"] == 1_700_000_000_000 && members["visits"] == .set([1500]))
        let years = try ParameterValue(
            encoding: ["at": Date(timeIntervalSince1970: 0)],
            dates: .custom { .string("\(Int($0.timeIntervalSince1970 / 31_557_600) + 1970)") })
        #expect(years == ["at": "1970"])
        #expect(try ParameterValue(of: Date(timeIntervalSince1970: 0), dates: .custom { _ in nil }) == nil)
        #expect(try ParameterValue(encoding: ["at": Date(timeIntervalSince1970: 0)]) == ["at": "1970-01-01T00:00:00Z"])
    }

    private static func bytes(of body: MultipartBody) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(body.contentLength))
        var reader = BodyReader(body)
        let count = try bytes.withUnsafeMutableBytes { try reader.read(into: $0) }
        return Array(bytes.prefix(count))
    }

    @Test func `a form's boundary is chosen, and quoted where it must be`() throws {
        let request = try FormRequestSerializer().multipartRequest(
            "POST", "http://a.test/", parameters: ["a": "b"]
        ) { form in
            try form.setBoundary("my boundary?")
        }
        #expect(request.headers[.contentType] == #"multipart/form-data; boundary="my boundary?""#)
        guard case .multipart(let body) = request.body else { return #expect(Bool(false)) }
        let text = String(decoding: try Self.bytes(of: body), as: UTF8.self)
        #expect(text.hasPrefix("--my boundary?\r\n") && text.hasSuffix("\r\n--my boundary?--\r\n"))
        var form = MultipartForm()
        for bad in ["", "a\r\nb", "a\"b", "end ", String(repeating: "x", count: 71), "\u{e9}"] {
            #expect(throws: RequestSerializationError.badBoundary(bad)) { try form.setBoundary(bad) }
        }
        #expect(RequestSerializationError.badBoundary("a\nb").word == "bad-boundary")
    }

    @Test func `queries and forms are in the encoding that is asked for`() throws {
        var serializer = FormRequestSerializer()
        serializer.textEncoding = .latin1
        let query = try serializer.request("GET", "http://a.test/", parameters: ["\u{e9}": "\u{fc}", "n": 1])
        #expect(query.url.query == "n=1&%E9=%FC")
        let body = try serializer.request("POST", "http://a.test/", parameters: ["a": "\u{fc}", "b": nil])
        guard case .bytes(let bytes) = body.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == "a=%FC&b")
        #expect(
            throws: RequestSerializationError.unsupportedValue(
                place: "a", kind: "text with other characters", format: "ISO-8859-1")
        ) { try serializer.request("GET", "http://a.test/", parameters: ["a": "\u{20ac}"]) }
        let form = try serializer.multipartRequest("POST", "http://a.test/", parameters: ["a": "\u{fc}"])
        guard case .multipart(let parts) = form.body else { return #expect(Bool(false)) }
        let read = try Self.bytes(of: parts)
        #expect(read.contains(0xfc) && !read.contains(0xc3))
        for encoding: TextEncoding in [
            .utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian, .latin1, .utf8,
        ] {
            let text = encoding == .latin1 ? "{\u{e9}}" : "{\u{e9}\u{1f600}}"
            let encoded = try #require(encoding.encode(text))
            #expect(String(decoding: UTF8Transcoder.utf8(encoded, unlessMarked: encoding), as: UTF8.self) == text)
        }
    }
}
