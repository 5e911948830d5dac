import Foundation
import ReachCore
import ReachSerialization
import ReachTesting
import Testing

@Suite struct PropertyListTests {
    private static let date = Timestamp(nanosecondsSince1970: 1_795_230_600_000_000_000)

    private func xml(_ body: String) -> [UInt8] { Array("<plist version=\"1.0\">\(body)</plist>".utf8) }

    @Test(
        arguments: [
            ("<true/>", .bool(true)), ("<false></false>", .bool(false)), ("<string/>", .string("")),
            ("<string>a&lt;&#38;<![CDATA[<b>]]>\n c</string>", .string("a<&<b>\n c")),
            ("<integer>-7</integer>", .integer(-7)),
            ("<integer> 0x1F </integer>", .integer(31)), ("<integer>+5</integer>", .integer(5)),
            ("<integer>-9223372036854775808</integer>", .integer(.min)), ("<real>1.5</real>", .real(1.5)),
            ("<real>-inf</real>", .real(-.infinity)), ("<data>\n AQ\n\tID\n</data>", .data([1, 2, 3])),
            ("<data/>", .data([])),
            ("<date>2026-11-21T03:10:00Z</date>", .date(Self.date)), ("<array/>", .array([])),
            ("<dict/>", .dictionary([:])),
            (
                "<array> <!-- x --> <true/><array><false/></array> </array>",
                .array([.bool(true), .array([.bool(false)])])
            ),
            ("<dict><key>a</key><real>1</real><key/><true/></dict>", .dictionary(["a": .real(1), "": .bool(true)])),
        ] as [(String, PropertyListValue)])
    func `XML elements are read as values`(body: String, value: PropertyListValue) throws {
        #expect(try PropertyListValue(xml(body)) == value)
        // Apple's reader also accepts a value without the plist element.
        #expect(try PropertyListValue(Array(body.utf8)) == value)
    }

    @Test(arguments: [
        "", "<string>a</string><string>b</string>", "text", "<integer></integer>", "<integer>1.5</integer>",
        "<integer>9223372036854775808</integer>", "<integer>0x</integer>", "<integer>--1</integer>", "<real>x</real>",
        "<real/>", "<real>0x10p1z</real>", "<date>yesterday</date>", "<data>****</data>", "<data>A</data>", "<other/>",
        "<true>x</true>", "<dict><true/></dict>", "<dict><key>a</key></dict>", "<array>text</array>",
        "<dict><key>a</key><true/><key>a</key><true/></dict>", "<string><b/></string>", "<dict><key><a/></key></dict>",
        "<key>a</key>",
    ])
    func `XML that is no property list is rejected, with the line`(body: String) throws {
        let error = #expect(throws: PropertyListError.self) { try PropertyListValue(xml("\n" + body)) }
        guard case .notAPropertyList(let what, let line) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(line == 2 && !what.isEmpty)
    }

    @Test func `nesting is limited in both formats`() {
        let deep = String(repeating: "<array>", count: 200) + String(repeating: "</array>", count: 200)
        #expect(throws: PropertyListError.limit("128 levels")) { try PropertyListValue(xml(deep)) }
        var value = PropertyListValue.array([])
        for _ in 0..<200 { value = .array([value]) }
        let bytes = value.bytes(.binary)
        #expect(throws: PropertyListError.limit("128 levels")) { try PropertyListValue(bytes) }
    }

    /// 60 arrays that each contain the next one twice: 2^60 values in 200 bytes.
    @Test func `the expansion of a binary list with shared objects is limited`() {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for index in UInt8(0)..<60 {
            offsets.append(UInt8(bytes.count))
            bytes += [0xa2, index + 1, index + 1]
        }
        offsets.append(UInt8(bytes.count))
        bytes.append(0x08)
        let table = UInt8(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 61]
        bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, table]
        let error = #expect(throws: PropertyListError.self) { try PropertyListValue(bytes) }
        guard case .limit = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func `an object that contains itself is rejected`() {
        var bytes = Array("bplist00".utf8)
        bytes += [0xa1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]
        bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(throws: PropertyListError.limit("128 levels")) { try PropertyListValue(bytes) }
    }

    @Test(arguments: PropertyListFormat.allCases)
    func `random lists are read back unchanged, by our reader and by Foundation`(format: PropertyListFormat)
        throws
    {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let value = PropertyListValue.dictionary(["root": random(depth: 4, &generator)])
            let bytes = value.bytes(format)
            #expect(try PropertyListValue(bytes) == value)
            let read = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
            #expect(read as? NSDictionary == foundation(value) as? NSDictionary)
        }
    }

    /// Foundation does not escape carriage returns in XML, where they are read as line feeds: this test omits such
    /// texts.
    @Test(arguments: PropertyListFormat.allCases)
    func `lists written by Foundation are read as Foundation reads them`(format: PropertyListFormat) throws {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<200 {
            let value = PropertyListValue.dictionary(["root": random(depth: 4, lineEnd: "\n", &generator)])
            let data = try PropertyListSerialization.data(
                fromPropertyList: foundation(value), format: format == .xml ? .xml : .binary, options: 0)
            #expect(try PropertyListValue(Array(data)) == value)
        }
    }

    @Test func `equal lists give equal bytes, and data has the line breaks of Apple's writer`() throws {
        let data = PropertyListValue.dictionary(["a": .data(Array(0..<100)), "b": .array([.data(Array(0..<100))])])
        let expected = try PropertyListSerialization.data(
            fromPropertyList: foundation(data), format: .xml, options: 0)
        #expect(String(decoding: data.bytes(.xml), as: UTF8.self) == String(decoding: expected, as: UTF8.self))
    }

    @Test func `minus zero and not a number survive`() throws {
        for format in PropertyListFormat.allCases {
            let list = PropertyListValue.array([.real(0), .real(-0.0), .real(.nan), .real(.infinity)])
            guard case .array(let read) = try PropertyListValue(list.bytes(format)), read.count == 4,
                case .real(let minusZero) = read[1], case .real(let notANumber) = read[2]
            else {
                Issue.record("not the array")
                return
            }
            #expect(read[0] == .real(0) && minusZero.sign == .minus && notANumber.isNaN && read[3] == .real(.infinity))
        }
    }

    @Test func `damaged binary lists are rejected without a trap`() {
        var generator = SeededGenerator(seed: 9)
        var refused = 0
        for _ in 0..<3_000 {
            var bytes = PropertyListValue.dictionary(["root": random(depth: 3, &generator)]).bytes(.binary)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 8..<bytes.count, using: &generator)
                bytes[index] = .random(in: .min ... .max, using: &generator)
            }
            if generator.oneIn(5) { bytes.removeLast(Int.random(in: 1...bytes.count / 2, using: &generator)) }
            if (try? PropertyListValue(bytes)) == nil { refused += 1 }
        }
        #expect(refused > 1_000)
    }

    // MARK: - Random lists

    private func random(
        depth: Int, lineEnd: String = "\r\n", _ generator: inout SeededGenerator
    ) -> PropertyListValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
        case 0: return .bool(generator.oneIn(2))
        case 1: return .integer(generator.pick([0, 1, 255, 256, 65_536, -1, .min, .max, 1 << 40]))
        case 2: return .real(generator.pick([0.5, -1.25, 1e300, 3.141592653589793]))
        case 3:
            let long = String(repeating: "x", count: 300)
            return .string(generator.pick(["", "a", "é😀", "a<&>\"'b", long, lineEnd + "\t "]))
        case 4: return .data(generator.bytes(Int.random(in: 0...100, using: &generator)))
        case 5:
            let seconds = Int64.random(in: 0...4_000_000_000, using: &generator)
            return .date(Timestamp(nanosecondsSince1970: seconds * 1_000_000_000))
        case 6:
            let count = Int.random(in: 0...20, using: &generator)
            return .array((0..<count).map { _ in random(depth: depth - 1, lineEnd: lineEnd, &generator) })
        default:
            var members: [String: PropertyListValue] = [:]
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                members["k\(Int.random(in: 0...99, using: &generator))"] = random(
                    depth: depth - 1, lineEnd: lineEnd, &generator)
            }
            return .dictionary(members)
        }
    }

    private func foundation(_ value: PropertyListValue) -> Any {
        switch value {
        case .bool(let flag): NSNumber(value: flag)
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .string(let text): NSString(string: text)
        case .data(let bytes): NSData(data: Data(bytes))
        case .date(let time): NSDate(timeIntervalSince1970: Double(time.nanosecondsSince1970) / 1e9)
        case .array(let elements): NSArray(array: elements.map(foundation))
        case .dictionary(let members): NSDictionary(dictionary: members.mapValues(foundation))
        }
    }
}
