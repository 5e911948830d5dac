import Foundation
import ReachCore
import ReachTesting
import Testing

@Suite struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        body(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func `a byte that needs an escape is found at every place of a text, and read back`() throws {
        let letters = Array("abcdefghijklmnopqrstuvwxyz".unicodeScalars)
        let special = ["\"", "\\", "\u{0}", "\u{1f}", "\u{7f}", "\u{80}", "\u{20}", "\u{ff}", "€", "😀"]
        for length in 0..<20 {
            for place in 0...length {
                for word in special {
                    var plain = String(String.UnicodeScalarView(letters.prefix(length)))
                    plain.insert(contentsOf: word, at: plain.index(plain.startIndex, offsetBy: place))
                    let written = text { $0.value(plain) }
                    let isEscaped = special.prefix(6).contains(word)
                    #expect(written.unicodeScalars.contains("\\") == isEscaped, "\(word) at \(place) of \(length)")
                    #expect(try JSONReader.read(Array(written.utf8)) == .string(plain))
                }
            }
        }
    }

    @Test(arguments: ["192.0.2.1", "255.255.255.255", "0.0.0.0", "2001:db8::1", "::", "fe80::1"])
    func `an address is written as its text, and none as null`(address: String) {
        #expect(text { json in json.object { $0.field("a", IPAddress(address)) } } == #"{"a":"\#(address)"}"#)
        #expect(text { json in json.object { $0.field("a", nil as IPAddress?) } } == #"{"a":null}"#)
    }

    @Test func `bytes are written in base64`() {
        for bytes in [[], [0], [0, 255], [1, 2, 3], Array(0...255)] as [[UInt8]] {
            #expect(text { $0.value(base64: bytes) } == #""\#(Base64.encode(bytes))""#)
        }
    }

    @Test func `values, names and commas are in place`() {
        let document = text { json in
            json.object { json in
                json.field("text", "a")
                json.field("none", String?.none)
                json.field("yes", true)
                json.field("no", false)
                json.field("number", -5)
                json.field("big", Int64.max)
                json.field("missing", Int64?.none)
                json.field("list", ["a", "b"])
                json.field("empty", [])
                json.field("object", object: { $0.field("inner", 1) })
                json.field("nothing", object: { _ in })
                json.field(
                    "array",
                    array: { json in
                        json.value("a")
                        json.object { $0.field("b", 1) }
                        json.array { _ in }
                        json.value(nil)
                    })
                json.key("last")
                json.value("z")
            }
            json.newline()
            json.object { _ in }
        }
        #expect(
            document == """
                {"text":"a","none":null,"yes":true,"no":false,"number":-5,"big":9223372036854775807,"missing":null,\
                "list":["a","b"],"empty":[],"object":{"inner":1},"nothing":{},"array":["a",{"b":1},[],null],"last":"z"}
                {}
                """)
    }

    @Test func `every control character, quote and backslash is escaped`() {
        for scalar in (0...0x1f).map({ UnicodeScalar(UInt8($0)) }) + ["\u{7f}"] {
            let hex = String(scalar.value, radix: 16)
            let escape = "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            #expect(text { $0.value(String(scalar)) } == "\"\(escape)\"")
        }
        #expect(text { $0.value("\"\\/") } == #""\"\\/""#)
    }

    @Test func `any text is read back unchanged`() throws {
        let every = String(String.UnicodeScalarView((0...0x1_2fff).compactMap { Unicode.Scalar(UInt32($0)) }))
        var random = SeededGenerator(seed: 5)
        let scalars = Array("\"\\/\0\u{7f}\u{2028}\u{fffd}🙂e\u{301}\r\n{}[],:".unicodeScalars)
        let mixtures = (0..<500).map { _ in
            String(String.UnicodeScalarView((0..<20).map { _ in random.pick(scalars) }))
        }
        for text in [every] + mixtures {
            var json = JSONWriter()
            json.object { $0.field("text", [text]) }
            let read = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: [String]]
            // Compared as bytes, because composed and decomposed strings are equal.
            #expect(read?.values.first?.first.map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test func `a name that is not UTF-8 still makes a valid document`() throws {
        let name = String(decoding: [0x65, 0xff, 0x1b, 0x30] as [UInt8], as: UTF8.self)
        let line = text { $0.object { $0.field("interface", name) } }
        #expect(line == "{\"interface\":\"e\u{fffd}\\u001b0\"}")
    }
}
