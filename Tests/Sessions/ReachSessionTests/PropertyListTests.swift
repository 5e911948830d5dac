import Foundation
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// Cases taken from AFNetworking have the names of its tests: AFPropertyListRequestSerializerTests,
/// AFPropertyListResponseSerializerTests.
@Suite(.timeLimit(.minutes(1))) struct PropertyListTests {
    private let site = "http://example.com"

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func bytes(_ request: WebRequest) -> String? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func response(_ status: Int = 200, type: String) throws -> HTTPResponse {
        HTTPResponse(status: .init(code: status), headerFields: [.contentType: type])
    }

    private func xml(_ body: String) -> [UInt8] { bytes("<plist version=\"1.0\">\(body)</plist>") }

    // MARK: - Requests

    @Test func `testConstructingPOSTRequestWithParametersInPropertyListParameterEncoding`() throws {
        let request = try PropertyListRequestSerializer().request("POST", site, parameters: ["key": "value"])
        #expect(request.headers[.contentType] == "application/x-plist")
        #expect(
            bytes(request) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>key</key>
                \t<string>value</string>
                </dict>
                </plist>

                """)
    }

    /// AFNetworking's case is a key that is a number, which does not compile here.
    @Test(
        arguments: [
            (["a": nil], "a"), (["a": [.set([1])]], "a[]"), (["a": "\u{1}"], "a"), (["b": ["\u{0}": 1]], "b"),
        ] as [(ParameterValue, String)])
    func `testThatPropertyListRequestSerializerHandlesInvalidPlist`(parameters: ParameterValue, place: String) {
        let error = #expect(throws: RequestSerializationError.self) {
            try PropertyListRequestSerializer().request("POST", site, parameters: parameters)
        }
        guard case .unsupportedValue(place, _, _) = error else {
            Issue.record("not the place: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: PropertyListFormat.allCases)
    func `Foundation reads a sent property list as the parameters given`(format: PropertyListFormat) throws {
        let parameters: ParameterValue = [
            "text": "a<&>\"'é😀\r\n", "yes": true, "whole": -7, "real": 0.1, "bytes": .data([0, 1, 255]),
            "list": [1, [], [:]],
        ]
        let request = try PropertyListRequestSerializer(format: format).request("PUT", site, parameters: parameters)
        guard case .bytes(let body) = request.body else {
            Issue.record("no body")
            return
        }
        let read = try PropertyListSerialization.propertyList(from: Data(body), format: nil) as? NSDictionary
        let expected: NSDictionary = [
            "text": "a<&>\"'é😀\r\n", "yes": true, "whole": -7, "real": 0.1, "bytes": Data([0, 1, 255]),
            "list": [1, [Any](), [String: Any]()] as [Any],
        ]
        #expect(read == expected)
    }

    @Test func `a property list has no body without parameters, and some methods encode parameters in the URL`() throws
    {
        let empty = try PropertyListRequestSerializer().request("POST", site)
        #expect(bytes(empty) == nil && empty.headers[.contentType] == nil)
        #expect(
            try PropertyListRequestSerializer().request("DELETE", site, parameters: ["a": 1]).url.query == "a=1")
    }

    @Test func `a form of a session with property lists has the headers of its serializer`() throws {
        var headers = HTTPFields()
        try headers.set("X-Test", "1")
        let form = PropertyListRequestSerializer(headers: headers).form
        let request = try form.multipartRequest("POST", site, parameters: ["a": 1])
        #expect(request.headers["X-Test"] == "1")
        #expect(request.headers[.contentType]?.hasPrefix("multipart/") == true)
    }

    // MARK: - Responses

    @Test func `testThatPropertyListResponseSerializerAcceptsPlistData`() throws {
        for format in PropertyListFormat.allCases {
            let list = PropertyListValue.dictionary(["foo": .string("bar")])
            let result = PropertyListResponseSerializer().serialize(
                try response(type: "application/x-plist"), body: try list.bytes(format))
            #expect(result.object?.propertyList == list && result.error == nil)
        }
    }

    @Test func `testThatPropertyListResponseSerializerHandlesInvalidPlistData`() throws {
        let result = PropertyListResponseSerializer().serialize(
            try response(type: "application/x-plist"), body: bytes(#"{"foo":"bar"}"#))
        #expect(result.object == nil && result.error?.word == "undecodable")
    }

    @Test func `testThatPropertyListResponseSerializerHandles204`() throws {
        let result = PropertyListResponseSerializer().serialize(
            try response(204, type: "application/x-plist"), body: [])
        #expect(result.object == nil && result.error == nil)
    }

    @Test(
        arguments: [
            ("<true/>", .bool(true)), ("<false></false>", .bool(false)),
            ("<string>a&lt;&#38;<![CDATA[<b>]]>\n c</string>", .string("a<&<b>\n c")),
            ("<integer>-9223372036854775808</integer>", .integer(.min)), ("<real>1.5</real>", .real(1.5)),
            ("<real>2</real>", .integer(2)), ("<integer>18446744073709551615</integer>", .real(0x1p64)),
            ("<data>\n AQ\n\tID\n</data>", .data(Data([1, 2, 3]))),
            ("<date>2026-11-21T03:10:00Z</date>", .date(Date(timeIntervalSince1970: 1_795_230_600))),
            ("<array> <!-- x --> <true/><array/></array>", .array([.bool(true), .array([])])),
            (
                "<dict><key>a</key><real>1.5</real><key></key><true/></dict>",
                .dictionary(["a": .real(1.5), "": .bool(true)])
            ),
        ] as [(String, PropertyListValue)])
    func `XML elements are read as values`(body: String, value: PropertyListValue) throws {
        #expect(try PropertyListValue(xml(body)) == value)
    }

    @Test(arguments: [
        "", "text", "<string>a</string><string>b</string>", "<integer>1.5</integer>", "<real>x</real>", "<other/>",
        "<date>yesterday</date>", "<dict><true/></dict>", "<dict><key>a</key></dict>",
        "<array>text</array>",
    ])
    func `XML that is no property list is rejected`(body: String) throws {
        #expect(throws: (any Error).self) { try PropertyListValue(xml(body)) }
    }

    @Test(arguments: [
        "{ a = b; }", "(a, b)", "abc = d;", "\u{feff}(a)", String(repeating: "(", count: 1_000_000),
    ])
    func `the old text format is rejected, however deep it is`(text: String) {
        #expect(throws: (any Error).self) { try PropertyListValue(bytes(text)) }
    }

    @Test func `an error has a sentence that is safe to display`() throws {
        let result = PropertyListResponseSerializer().serialize(
            try response(type: "application/x-plist"), body: xml("<o\u{1b}[2Jther/>"))
        let text = try #require(result.error?.description)
        #expect(text.hasPrefix("the body is not a property list: ") && text.contains("ther"))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 } && !text.contains("DecodingError"))
    }

    // MARK: - Hostile lists

    @Test(arguments: ["array", "dict"])
    func `nesting is limited, in both formats`(element: String) throws {
        let start = element == "array" ? "<array>" : "<dict><key>a</key>"
        for depth in [129, 600, 200_000] {
            let deep =
                String(repeating: start, count: depth) + "<true/>" + String(repeating: "</\(element)>", count: depth)
            #expect(throws: (any Error).self) { try PropertyListValue(xml(deep)) }
        }
        var value = PropertyListValue.array([])
        for _ in 0..<200 { value = element == "array" ? .array([value]) : .dictionary(["a": value]) }
        let bytes = try value.bytes(.binary)
        #expect(throws: (any Error).self) { try PropertyListValue(bytes) }
        #expect(throws: (any Error).self) { try PropertyListValue(nestedArrays(100_000)) }
    }

    /// Arrays that each contain the next one, in the binary format.
    private func nestedArrays(_ count: Int) -> [UInt8] {
        var bytes = bytes("bplist00")
        var offsets: [Int] = []
        for index in 0...count {
            offsets.append(bytes.count)
            bytes += index == count ? [8] : [0xa1] + bigEndian(index + 1, 4)
        }
        let table = bytes.count
        for offset in offsets { bytes += bigEndian(offset, 4) }
        return bytes + [0, 0, 0, 0, 0, 0, 4, 4] + bigEndian(count + 1, 8) + bigEndian(0, 8) + bigEndian(table, 8)
    }

    private func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(number >> ($0 * 8) & 255) }
    }

    /// 60 arrays that each contain the next one twice: 2^60 values in 200 bytes.
    @Test func `the expansion of a binary list with shared objects is limited`() {
        var bytes = bytes("bplist00")
        var offsets: [UInt8] = []
        for index in UInt8(0)..<60 {
            offsets.append(UInt8(bytes.count))
            bytes += [0xa2, index + 1, index + 1]
        }
        offsets.append(UInt8(bytes.count))
        bytes.append(0x08)
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + bigEndian(61, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        #expect(throws: (any Error).self) { try PropertyListValue(bytes) }
    }

    /// PropertyListSerialization overflows its stack on a dictionary that contains itself.
    @Test(arguments: [[0xa1, 0] as [UInt8], [0xd1, 1, 0, 0x51, 0x61]])
    func `an object that contains itself is rejected`(object: [UInt8]) {
        let body = bytes("bplist00") + object
        let offsets: [UInt8] = object.count == 2 ? [8] : [8, 11]
        let trailer =
            [0, 0, 0, 0, 0, 0, 1, 1] + bigEndian(offsets.count, 8) + bigEndian(0, 8) + bigEndian(body.count, 8)
        #expect(throws: (any Error).self) { try PropertyListValue(body + offsets + trailer) }
    }

    @Test(arguments: PropertyListFormat.allCases)
    func `damaged lists are rejected without a trap`(format: PropertyListFormat) throws {
        var generator = SeededGenerator(seed: 9)
        var refused = 0
        for _ in 0..<1_000 {
            var bytes = try PropertyListValue.dictionary(["root": random(depth: 2, &generator)]).bytes(format)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 8..<bytes.count, using: &generator)
                bytes[index] = .random(in: .min ... .max, using: &generator)
            }
            if generator.oneIn(5) { bytes.removeLast(Int.random(in: 1...bytes.count / 2, using: &generator)) }
            if (try? PropertyListValue(bytes)) == nil { refused += 1 }
        }
        #expect(refused > 200)
    }

    @Test(arguments: PropertyListFormat.allCases)
    func `random lists are read back unchanged, and equal lists give equal bytes`(format: PropertyListFormat) throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let value = PropertyListValue.dictionary(["root": random(depth: 3, &generator)])
            let bytes = try value.bytes(format)
            #expect(try PropertyListValue(bytes) == value)
            #expect(try value.bytes(format) == bytes)
        }
    }

    private func random(depth: Int, _ generator: inout SeededGenerator) -> PropertyListValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
        case 0: return .bool(generator.oneIn(2))
        case 1: return .integer(generator.pick([0, 1, 255, 256, 65_536, -1, .min, .max, 1 << 40]))
        case 2: return .real(generator.pick([0.5, -1.25, 1e300, 3.141592653589793]))
        case 3:
            return .string(generator.pick(["", "a", "é😀", "a<&>\"'b", String(repeating: "x", count: 300), "\n\t "]))
        case 4: return .data(Data(generator.bytes(Int.random(in: 0...100, using: &generator))))
        case 5: return .date(Date(timeIntervalSince1970: Double(Int.random(in: 0...4_000_000_000, using: &generator))))
        case 6:
            let count = Int.random(in: 0...9, using: &generator)
            return .array((0..<count).map { _ in random(depth: depth - 1, &generator) })
        default:
            var members: [String: PropertyListValue] = [:]
            for _ in 0..<Int.random(in: 0...9, using: &generator) {
                members["k\(Int.random(in: 0...99, using: &generator))"] = random(depth: depth - 1, &generator)
            }
            return .dictionary(members)
        }
    }
}
