/// Writes one JSON document into bytes, with no tree in between.
///
/// The stream writes a line for each change while the kernel waits for nobody, so this does no more than append.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() { bytes.reserveCapacity(1024) }

    /// Writes an object, whose members `body` adds with `field`.
    package mutating func object(_ body: (inout JSONWriter) -> Void) { enclose("{", "}", body) }

    /// Writes an array, whose elements `body` adds with `value`.
    package mutating func array(_ body: (inout JSONWriter) -> Void) { enclose("[", "]", body) }

    package mutating func field(_ name: String, object body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    package mutating func field(_ name: String, array body: (inout JSONWriter) -> Void) {
        key(name)
        array(body)
    }

    package mutating func field(_ name: String, _ text: String?) {
        key(name)
        value(text)
    }

    package mutating func field(_ name: String, _ flag: Bool) {
        key(name)
        separate()
        append(flag ? "true" : "false")
    }

    package mutating func field(_ name: String, _ number: (some BinaryInteger)?) {
        key(name)
        separate()
        append(number.map { String($0) } ?? "null")
    }

    package mutating func field(_ name: String, _ list: [String]) {
        key(name)
        array { for text in list { $0.value(text) } }
    }

    package mutating func value(_ text: String?) {
        separate()
        guard let text else { return append("null") }
        quote(text)
    }

    /// Ends the line, for streams of one document a line.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func enclose(_ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) -> Void) {
        separate()
        append(open)
        needsComma = false
        body(&self)
        append(close)
        needsComma = true
    }

    /// Begins a member whose value is written next.
    package mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7f:
                append("\\u00")
                bytes += [Self.hex[Int(byte >> 4)], Self.hex[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let hex = Array("0123456789abcdef".utf8)
}
