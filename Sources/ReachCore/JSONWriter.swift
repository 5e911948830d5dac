/// Writes one JSON document into bytes, with no tree in between.
///
/// The stream writes a line for each change while the kernel waits for nobody, so this does no more than append.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() { bytes.reserveCapacity(2048) }

    /// Writes an object, whose members `body` adds with `field`.
    package mutating func object(_ body: (inout JSONWriter) -> Void) { enclose("{", "}", body) }

    /// Writes an array, whose elements `body` adds with `value`.
    package mutating func array(_ body: (inout JSONWriter) -> Void) { enclose("[", "]", body) }

    package mutating func field(_ name: StaticString, object body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    package mutating func field(_ name: StaticString, array body: (inout JSONWriter) -> Void) {
        key(name)
        array(body)
    }

    package mutating func field(_ name: StaticString, _ text: String?) {
        key(name)
        value(text)
    }

    package mutating func field(_ name: StaticString, _ flag: Bool) {
        key(name)
        value(flag)
    }

    package mutating func field(_ name: StaticString, _ number: Int64?) {
        key(name)
        if let number { value(number) } else { value(nil) }
    }

    package mutating func field(_ name: StaticString, _ time: Timestamp) {
        key(name)
        separate()
        bytes.append(UInt8(ascii: "\""))
        time.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func field(_ name: StaticString, _ address: IPAddress?) {
        key(name)
        separate()
        guard let address else { return append("null") }
        bytes.append(UInt8(ascii: "\""))
        address.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func field(_ name: StaticString, _ list: [String]) {
        key(name)
        array { for text in list { $0.value(text) } }
    }

    package mutating func value(_ text: String?) {
        separate()
        guard let text else { return append("null") }
        quote(text)
    }

    package mutating func value(_ flag: Bool) {
        separate()
        append(flag ? ("true" as StaticString) : "false")
    }

    package mutating func value(_ number: Int64) {
        separate()
        bytes.appendDigits(number)
    }

    /// JSON has no word for what is not finite; null stands for it.
    package mutating func value(_ number: Double) {
        separate()
        guard number.isFinite else { return append("null") }
        bytes.append(contentsOf: number.description.utf8)
    }

    /// A document that was written before.
    package mutating func value(written document: [UInt8]) {
        separate()
        bytes += document
    }

    /// Begins a member whose value somebody puts in later.
    ///
    /// - Returns: Where its first byte is to stand.
    package mutating func gap(_ name: StaticString) -> Int {
        key(name)
        separate()
        return bytes.count
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
    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Begins a member whose value is written next.
    package mutating func key(named name: String) {
        value(name)
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

    private mutating func quote(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            // Nearly always there is nothing to escape, and the whole is taken at once.
            var start = 0
            for (index, byte) in utf8.enumerated() where !Self.standsForItself(byte) {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
                escape(byte)
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            bytes += [UInt8(ascii: "\\"), byte]
        } else {
            append("\\u00")
            bytes += [Self.hex[Int(byte >> 4)], Self.hex[Int(byte & 15)]]
        }
    }

    private static let hex = Array("0123456789abcdef".utf8)
}
