import Foundation
import ReachCore
import ReachTesting
import Testing

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws(JSONError) -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    @Test(arguments: [
        ("null", JSONValue.null), (" \t\r\ntrue \t\r\n", .bool(true)), ("false", .bool(false)), ("0", .integer(0)),
        ("-0", .integer(0)), ("7", .integer(7)), ("-12", .integer(-12)),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9007199254740993", .integer(9_007_199_254_740_993)), ("1.5", .double(1.5)), ("-0.25e2", .double(-25)),
        ("1e2", .double(100)), ("1E+2", .double(100)), ("5e-1", .double(0.5)),
        ("0.1", .double(0.1)), (#""""#, .string("")), (#""a""#, .string("a")), (#""é\u00e9😀""#, .string("éé😀")),
        (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{c}\n\r\t")), (#""\ud83d\uDE00\u0000""#, .string("😀\0")),
        ("\"\u{7f}\u{2028}\"", .string("\u{7f}\u{2028}")), ("[]", .array([])), ("[ ]", .array([])),
        ("[1,[2],{}]", .array([.integer(1), .array([.integer(2)]), .object([:])])), ("{}", .object([:])),
        (#"{ "a" : 1 , "b" : [ null ] }"#, .object(["a": .integer(1), "b": .array([.null])])),
        (#"{"":0}"#, .object(["": .integer(0)])),
    ])
    func `documents have their values`(text: String, value: JSONValue) throws {
        #expect(try read(text) == value)
    }

    @Test(arguments: [
        ("", 0, JSONError.Fault.expected("a value")), ("  ", 2, .expected("a value")), ("nul", 0, .expected("a value")),
        ("nullx", 4, .trailingBytes), ("True", 0, .expected("a value")), ("'a'", 0, .expected("a value")),
        ("1 2", 2, .trailingBytes), ("{}{}", 2, .trailingBytes), ("\u{feff}1", 0, .expected("a value")),
        ("+1", 0, .expected("a value")), (".5", 0, .expected("a value")), ("1.", 2, .badNumber), ("-", 1, .badNumber),
        ("01", 0, .badNumber), ("-01", 0, .badNumber), ("1e", 2, .badNumber), ("1e+", 3, .badNumber),
        ("1.e3", 2, .badNumber), ("0x10", 1, .trailingBytes), ("NaN", 0, .expected("a value")),
        ("Infinity", 0, .expected("a value")), ("-Infinity", 1, .badNumber), ("1_000", 1, .trailingBytes),
        ("9223372036854775808", 0, .numberTooLarge), ("[1,-9223372036854775809]", 3, .numberTooLarge),
        ("1e999", 0, .numberTooLarge), ("\"", 1, .expected("the end of a string")),
        ("\"a\nb\"", 2, .expected("the end of a string")), ("\"a\u{0}\"", 2, .expected("the end of a string")),
        (#""a\"#, 3, .expected("the end of a string")), (#""\x""#, 1, .badEscape), (#""ab\u12g4""#, 3, .badEscape),
        (#""\u123"#, 1, .badEscape), (#""\ud800""#, 1, .badEscape), (#""\udc00""#, 1, .badEscape),
        (#""\ud800\ud800""#, 1, .badEscape), (#""\ud800A""#, 1, .badEscape), (#""\ud83d\n""#, 1, .badEscape),
        ("[", 1, .expected("a value")), ("[1", 2, .expected("',' or ']'")), ("[1,]", 3, .expected("a value")),
        ("[,1]", 1, .expected("a value")), ("[1 2]", 3, .expected("',' or ']'")), ("]", 0, .expected("a value")),
        ("{", 1, .expected("a key")), (#"{"a"}"#, 4, .expected("':'")), (#"{"a":}"#, 5, .expected("a value")),
        (#"{"a":1,}"#, 7, .expected("a key")), ("{a:1}", 1, .expected("a key")), ("{1:1}", 1, .expected("a key")),
        (#"{"a":1 "b":2}"#, 7, .expected("',' or '}'")), (#"{"a":1,"b":2,"a":3}"#, 13, .duplicateKey("a")),
        (#"{"a":1,"\u0061":2}"#, 7, .duplicateKey("a")), ("/**/1", 0, .expected("a value")),
    ])
    func `anything else is refused with the fault and its offset`(text: String, offset: Int, fault: JSONError.Fault) {
        #expect(throws: JSONError(fault, at: offset)) { try read(text) }
    }

    @Test(arguments: [
        ([0x22, 0xff, 0x22], 1), ([0x22, 0x61, 0xc0, 0x80, 0x22], 2), ([0x22, 0xed, 0xa0, 0x80, 0x22], 1),
        ([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1), ([0x22, 0xe2, 0x82, 0x22], 1), ([0x31, 0x80], 1),
    ])
    func `invalid UTF-8 is refused anywhere`(bytes: [UInt8], offset: Int) {
        #expect(throws: JSONError(.notUTF8, at: offset)) { try JSONReader.read(bytes) }
    }

    @Test func `nesting is limited`() throws {
        let limit = JSONReader.depthLimit
        _ = try read(String(repeating: "[", count: limit) + String(repeating: "]", count: limit))
        #expect(throws: JSONError(.tooDeep(limit), at: limit)) { try read(String(repeating: "[", count: 1 << 20)) }
        #expect(throws: JSONError(.tooDeep(limit), at: limit * 5)) {
            try read(String(repeating: #"{"a":"#, count: 1 << 18))
        }
        // Siblings do not count as nesting.
        _ = try read("[" + Array(repeating: "[[]]", count: 1000).joined(separator: ",") + "]")
    }

    @Test func `a hundred thousand keys are read`() throws {
        let keys = (0..<100_000).map { "\"\($0)\":\($0)" }
        #expect(try read("{" + keys.joined(separator: ",") + "}").object?.count == 100_000)
    }

    @Test func `any written document is read back`() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            let value = random.json(depth: 4)
            var writer = JSONWriter()
            writer.value(value)
            #expect(try JSONReader.read(writer.bytes) == value)
        }
    }

    @Test func `Foundation accepts every document that is accepted here`() throws {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<3000 {
            var writer = JSONWriter()
            writer.value(random.json(depth: 3))
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: bytes.indices, using: &random)
                if random.oneIn(3) {
                    bytes.remove(at: place)
                } else {
                    bytes[place] = random.pick(Array("[]{}\",:0123456789.eE+-\\ untrfals".utf8))
                }
            }
            let mine = try? JSONReader.read(bytes)
            guard mine != nil else { continue }
            #expect(throws: Never.self, "\(String(decoding: bytes, as: UTF8.self))") {
                try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            }
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func json(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
        case 0: .null
        case 1: .bool(oneIn(2))
        case 2: .integer(Int64.random(in: .min ... .max, using: &self))
        case 3: .integer(Int64.random(in: -9...9, using: &self))
        case 4: .double(Double.random(in: -1e9...1e9, using: &self))
        case 5: .string(text())
        case 6: .array((0..<Int.random(in: 0...4, using: &self)).map { _ in json(depth: depth - 1) })
        default:
            .object(
                Dictionary((0..<Int.random(in: 0...4, using: &self)).map { _ in (text(), json(depth: depth - 1)) }) {
                    first, _ in first
                })
        }
    }

    private mutating func text() -> String {
        let scalars: [Unicode.Scalar] = ["a", "\"", "\\", "\0", "\n", "\u{7f}", "é", "\u{2028}", "😀", "{", ","]
        return String(String.UnicodeScalarView((0..<Int.random(in: 0...6, using: &self)).map { _ in pick(scalars) }))
    }
}
