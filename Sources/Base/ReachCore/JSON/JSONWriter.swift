/// Writes a JSON document directly as bytes, without building a tree.
///
/// The event stream writes a line for each change while further notices of the kernel arrive, so speed matters.
package struct JSONWriter: ~Copyable {
    private var output: ByteWriter
    private var needsComma = false

    /// - Parameter capacity: The bytes to reserve at first.
    package init(capacity: Int = 2048) { output = ByteWriter(capacity: capacity) }

    /// Bytes written so far.
    package var count: Int { output.count }

    /// A copy of the bytes written so far.
    package var bytes: [UInt8] { output.bytes }

    /// Writes an object; `body` adds its members with `field`.
    package mutating func object(_ body: (inout JSONWriter) -> Void) { enclose("{", "}", body) }

    /// Writes an array; `body` adds its elements with `value`.
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
        value(time)
    }

    package mutating func value(_ time: Timestamp) {
        separate()
        output.append(UInt8(ascii: "\""))
        time.append(to: &output)
        output.append(UInt8(ascii: "\""))
    }

    package mutating func field(_ name: StaticString, _ address: IPAddress?) {
        key(name)
        if let address { value(address: address) } else { value(nil) }
    }

    package mutating func value(address: IPAddress) {
        separate()
        output.append(UInt8(ascii: "\""))
        address.append(to: &output)
        output.append(UInt8(ascii: "\""))
    }

    package mutating func field(_ name: StaticString, _ list: [String]) {
        key(name)
        array { for text in list { $0.value(text) } }
    }

    /// Writes bytes as text in base64.
    package mutating func value(base64 bytes: [UInt8]) {
        separate()
        output.append(UInt8(ascii: "\""))
        output.append(base64: bytes)
        output.append(UInt8(ascii: "\""))
    }

    /// Writes a finished document as a value.
    package mutating func value(written document: [UInt8]) {
        separate()
        output.append(document)
    }

    package mutating func value(_ text: String?) {
        separate()
        guard let text else { return output.append("null" as StaticString) }
        quote(text)
    }

    package mutating func value(_ flag: Bool) {
        separate()
        output.append(flag ? ("true" as StaticString) : "false")
    }

    package mutating func value(_ number: Int64) {
        separate()
        output.appendDigits(number)
    }

    /// Writes a number; null for infinity and NaN, which JSON cannot express.
    package mutating func value(_ number: Double) {
        separate()
        guard number.isFinite else { return output.append("null" as StaticString) }
        output.append(number.description)
    }

    /// Begins a member whose value the caller inserts later.
    ///
    /// - Returns: The offset at which to insert it.
    package mutating func gap(_ name: StaticString) -> Int {
        key(name)
        separate()
        return output.count
    }

    /// Ends the line, for streams of one document a line.
    package mutating func newline() { end(with: UInt8(ascii: "\n")) }

    /// Ends the document with a byte, for streams of documents.
    package mutating func end(with byte: UInt8) {
        output.append(byte)
        needsComma = false
    }

    private mutating func enclose(_ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) -> Void) {
        separate()
        output.append(open)
        needsComma = false
        body(&self)
        output.append(close)
        needsComma = true
    }

    /// Writes a member's name; its value must be written next.
    package mutating func key(_ name: StaticString) {
        separate()
        output.append(UInt8(ascii: "\""), name, UInt8(ascii: "\""), UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member's name, escaped where necessary; its value must be written next.
    package mutating func key(named name: String) {
        value(name)
        output.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { output.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        var text = text
        output.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            // Appends the text between escapes at once; usually there is nothing to escape.
            guard let first = utf8.baseAddress else { return }
            let text = UnsafeRawBufferPointer(utf8)
            var start = 0
            while true {
                let end = JSONStringScanner.firstEscape(in: text, from: start)
                output.append(UnsafeBufferPointer(start: first + start, count: end - start))
                guard end < text.count else { return }
                start = end + escape(text, at: end)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Writes an escape for what is at `place`, and returns the number of bytes that it replaces.
    private mutating func escape(_ text: UnsafeRawBufferPointer, at place: Int) -> Int {
        let byte = text[place]
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            output.append(UInt8(ascii: "\\"))
            output.append(byte)
            return 1
        }
        let hidden = JSONStringScanner.hiddenScalar(in: text, at: place)
        let number = hidden?.number ?? UInt32(byte)
        output.append("\\u" as StaticString)
        for shift in [12, 8, 4, 0] { output.append(Self.hex[Int(number >> shift & 15)]) }
        return hidden?.length ?? 1
    }

    private static let hex = Array("0123456789abcdef".utf8)
}

extension JSONWriter {
    package mutating func times(_ time: Timestamp, _ boot: BootTime) {
        field("time", time)
        field("boottime_ns", boot.nanoseconds)
    }
}

extension BinaryInteger {
    /// The number for ``JSONWriter``, which takes one integer type, since generic code is slow across modules.
    package var wide: Int64 { Int64(truncatingIfNeeded: self) }
}
