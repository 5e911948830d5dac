/// Reads one JSON document (RFC 8259) strictly, since any client may have sent it.
///
/// It guesses and repairs nothing. Nesting is limited, because it uses stack. Keys must differ (RFC 7493), because two
/// readers that disagree about a message are a security hole. An integer that 64 bits cannot represent is an error.
///
/// Answers of servers are read as Foundation's JSONSerialization reads them: the last of equal keys counts, and an
/// integer beyond 64 bits becomes a double.
package struct JSONReader {
    /// Whether equal keys and integers beyond 64 bits are errors.
    package enum Strictness {
        case strict
        case asFoundation
    }

    /// The deepest nesting of arrays and objects.
    package static let depthLimit = 64

    private let bytes: [UInt8]
    private let strictness: Strictness
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8], _ strictness: Strictness) {
        self.bytes = bytes
        self.strictness = strictness
    }

    package static func read(_ bytes: [UInt8], _ strictness: Strictness = .strict) throws(JSONError) -> JSONValue {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw JSONError(.notUTF8, at: error.byteOffsets.lowerBound)
        }
        var reader = JSONReader(bytes, strictness)
        reader.skipSpace()
        let value = try reader.value()
        reader.skipSpace()
        guard reader.current == nil else { throw reader.fault(.trailingBytes) }
        return value
    }

    // MARK: - Values

    private mutating func value() throws(JSONError) -> JSONValue {
        guard let byte = current else { throw fault(.expected("a value")) }
        switch byte {
        case UInt8(ascii: "{"): return .object(try nested { reader throws(JSONError) in try reader.object() })
        case UInt8(ascii: "["): return .array(try nested { reader throws(JSONError) in try reader.array() })
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw fault(.expected("a value"))
        }
    }

    private mutating func nested<Result>(
        _ body: (inout JSONReader) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        guard depth < Self.depthLimit else { throw fault(.tooDeep) }
        depth += 1
        position += 1
        skipSpace()
        let result = try body(&self)
        depth -= 1
        return result
    }

    private mutating func object() throws(JSONError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if skip(UInt8(ascii: "}")) { return members }
        repeat {
            skipSpace()
            let start = position
            guard current == UInt8(ascii: "\"") else { throw fault(.expected("a key")) }
            let key = try string()
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { throw fault(.expected("':'")) }
            skipSpace()
            let member = try value()
            guard members.updateValue(member, forKey: key) == nil || strictness == .asFoundation else {
                throw JSONError(.duplicateKey(key), at: start)
            }
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw fault(.expected("',' or '}'")) }
        return members
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        if skip(UInt8(ascii: "]")) { return elements }
        repeat {
            skipSpace()
            elements.append(try value())
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw fault(.expected("',' or ']'")) }
        return elements
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let matches = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard matches else { throw fault(.expected("a value")) }
        position += text.utf8CodeUnitCount
        return value
    }

    // MARK: - Bytes

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips this byte; `false` if something else comes next.
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || 0x9...0xa ~= byte || byte == 0xd { position += 1 }
    }

    private func fault(_ fault: JSONError.Fault) -> JSONError { JSONError(fault, at: position) }

    // MARK: - Numbers

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try digits() }
        var isWhole = true
        if skip(UInt8(ascii: ".")) {
            isWhole = false
            try digits()
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isWhole = false
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try digits()
        }
        // A digit here follows a leading zero.
        if let byte = current, 48...57 ~= byte { throw JSONError(.badNumber, at: start) }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        guard !isWhole || strictness == .asFoundation, let number = Double(text), number.isFinite else {
            throw JSONError(.numberTooLarge, at: start)
        }
        return .double(number)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = current, 48...57 ~= byte { position += 1 }
        guard position > start else { throw fault(.badNumber) }
    }

    // MARK: - Strings

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        position = bytes.withUnsafeBytes { JSONStringScanner.firstSpecial(in: $0, from: start) }
        if current == UInt8(ascii: "\"") {
            defer { position += 1 }
            return bytes.withUnsafeBufferPointer {
                String(decoding: UnsafeBufferPointer(rebasing: $0[start..<position]), as: UTF8.self)
            }
        }
        var text = Array(bytes[start..<position])
        while !skip(UInt8(ascii: "\"")) {
            guard let byte = current, byte >= 0x20 else { throw fault(.expected("the end of a string")) }
            if byte == UInt8(ascii: "\\") {
                text += UTF8.encode(try escape()) ?? UTF8.encodedReplacementCharacter
            } else {
                text.append(byte)
                position += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let letter = current else { throw fault(.expected("the end of a string")) }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = codeUnit()
            if let unit, let scalar = Unicode.Scalar(unit) { return scalar }
            // The first half of a surrogate pair; the second must follow.
            if let high = unit, high < 0xdc00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")),
                let low = codeUnit(), 0xdc00...0xdfff ~= low,
                let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
            {
                return scalar
            }
        default: break
        }
        throw JSONError(.badEscape, at: start)
    }

    private mutating func codeUnit() -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Self.hexDigit(byte) else { return nil }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    private static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
