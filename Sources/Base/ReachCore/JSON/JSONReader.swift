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

    /// Limits for documents that anybody may send: comparing long keys, and very many values, take long.
    package struct Limits: Sendable {
        /// The longest key in bytes.
        package var keyBytes = Int.max
        /// The most values, with those in arrays and objects.
        package var values = Int.max
        /// The deepest nesting of arrays and objects.
        package var depth = JSONReader.depthLimit

        package init(keyBytes: Int = .max, values: Int = .max, depth: Int = JSONReader.depthLimit) {
            self.keyBytes = keyBytes
            self.values = values
            self.depth = depth
        }
    }

    /// The deepest nesting where nothing else is said.
    package static let depthLimit = 64

    /// An object with more members looks for equal keys by a set.
    private static let fewMembers = 32

    private let bytes: [UInt8]
    private let strictness: Strictness
    private let limits: Limits
    private var position = 0
    private var depth = 0
    /// Keys without escapes are equal if and only if their bytes are. Texts beyond ASCII may be equal in other bytes.
    private var isASCII = false
    private var nodes: [JSONOutline.Node] = []
    private var texts: [String] = []

    private init(_ bytes: [UInt8], _ strictness: Strictness, _ limits: Limits) {
        self.bytes = bytes
        self.strictness = strictness
        self.limits = limits
        // A state of a host has 60 values in 800 bytes.
        nodes.reserveCapacity(min(bytes.count / 12, 100) + 1)
    }

    package static func read(
        _ bytes: [UInt8], _ strictness: Strictness = .strict, limits: Limits = Limits()
    ) throws(JSONError) -> JSONValue {
        try outline(bytes, strictness, limits: limits).value()
    }

    /// Reads a document of which only some values are wanted.
    package static func outline(
        _ bytes: [UInt8], _ strictness: Strictness = .strict, limits: Limits = Limits()
    ) throws(JSONError) -> JSONOutline {
        guard bytes.count < Int(UInt32.max) else { throw JSONError(.expected("a document of less than 4 GiB"), at: 0) }
        var reader = JSONReader(bytes, strictness, limits)
        do throws(UTF8.ValidationError) {
            var text = try UTF8Span(validating: bytes.span)
            reader.isASCII = text.checkForASCII()
        } catch {
            throw JSONError(.notUTF8, at: error.byteOffsets.lowerBound)
        }
        reader.skipSpace()
        try reader.value()
        reader.skipSpace()
        guard reader.current == nil else { throw reader.fault(.trailingBytes) }
        return JSONOutline(bytes, reader.nodes, reader.texts)
    }

    // MARK: - Values

    /// Reads a value into a node, and what is in it into the nodes after it.
    private mutating func value(_ key: Text = Text()) throws(JSONError) {
        guard let byte = current else { throw fault(.expected("a value")) }
        let index = nodes.count
        guard index < limits.values else { throw fault(.tooMany) }
        nodes.append(
            JSONOutline.Node(
                keyHasEscapes: key.hasEscapes, keyFirst: UInt32(key.first), keyEnd: UInt32(key.end), keyTag: tag(key)))
        switch byte {
        case UInt8(ascii: "{"):
            nodes[index].kind = .object
            try nested { reader throws(JSONError) in try reader.object(index) }
        case UInt8(ascii: "["):
            nodes[index].kind = .array
            try nested { reader throws(JSONError) in try reader.array() }
        case UInt8(ascii: "\""):
            let text = try string()
            nodes[index].kind = .string
            nodes[index].hasEscapes = text.hasEscapes
            nodes[index].content = Int64(text.first) << 32 | Int64(text.end)
        case UInt8(ascii: "t"): try word("true", .bool, 1, index)
        case UInt8(ascii: "f"): try word("false", .bool, 0, index)
        case UInt8(ascii: "n"): try word("null", .null, 0, index)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(index)
        default: throw fault(.expected("a value"))
        }
        nodes[index].next = UInt32(nodes.count)
    }

    private mutating func nested(_ body: (inout JSONReader) throws(JSONError) -> Void) throws(JSONError) {
        guard depth < limits.depth else { throw fault(.tooDeep(limits.depth)) }
        depth += 1
        position += 1
        skipSpace()
        try body(&self)
        depth -= 1
    }

    private mutating func object(_ node: Int) throws(JSONError) {
        if skip(UInt8(ascii: "}")) { return }
        var count = 0
        var names: Set<String> = []
        repeat {
            skipSpace()
            let start = position
            guard current == UInt8(ascii: "\"") else { throw fault(.expected("a key")) }
            let key = try string()
            guard position - start <= limits.keyBytes else { throw JSONError(.keyTooLong, at: start) }
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { throw fault(.expected("':'")) }
            skipSpace()
            let member = nodes.count
            try value(key)
            if strictness == .strict, isRepeated(member, of: node, count, &names) {
                throw JSONError(.duplicateKey(text(key)), at: start)
            }
            count += 1
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw fault(.expected("',' or '}'")) }
    }

    /// Whether one of the `count` members before has the same key.
    private func isRepeated(_ member: Int, of node: Int, _ count: Int, _ names: inout Set<String>) -> Bool {
        var other = node + 1
        guard count < Self.fewMembers else {
            while names.count < count {
                names.insert(text(key(nodes[other])))
                other = Int(nodes[other].next)
            }
            return !names.insert(text(key(nodes[member]))).inserted
        }
        let isPlain = isASCII && !nodes[member].keyHasEscapes
        while other < member {
            let differs = isPlain && !nodes[other].keyHasEscapes && nodes[other].keyTag != nodes[member].keyTag
            if !differs, isEqual(key(nodes[other]), key(nodes[member])) { return true }
            other = Int(nodes[other].next)
        }
        return false
    }

    private func tag(_ key: Text) -> UInt32 {
        guard !key.hasEscapes, key.end > key.first else { return 0 }
        return bytes.withUnsafeBufferPointer { JSONOutline.tag(UnsafeBufferPointer(rebasing: $0[key.first..<key.end])) }
    }

    private func isEqual(_ key: Text, _ other: Text) -> Bool {
        guard isASCII, !key.hasEscapes, !other.hasEscapes else { return text(key) == text(other) }
        guard key.end - key.first == other.end - other.first else { return false }
        for index in 0..<key.end - key.first where bytes[key.first + index] != bytes[other.first + index] {
            return false
        }
        return true
    }

    private mutating func array() throws(JSONError) {
        if skip(UInt8(ascii: "]")) { return }
        repeat {
            skipSpace()
            try value()
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw fault(.expected("',' or ']'")) }
    }

    private mutating func word(
        _ text: StaticString, _ kind: JSONOutline.Kind, _ content: Int64, _ node: Int
    ) throws(JSONError) {
        let matches = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard matches else { throw fault(.expected("a value")) }
        position += text.utf8CodeUnitCount
        (nodes[node].kind, nodes[node].content) = (kind, content)
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

    private mutating func number(_ node: Int) throws(JSONError) {
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
        if isWhole, let number = integer(start..<position) {
            (nodes[node].kind, nodes[node].content) = (.integer, number)
            return
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard !isWhole || strictness == .asFoundation, let number = Double(text), number.isFinite else {
            throw JSONError(.numberTooLarge, at: start)
        }
        (nodes[node].kind, nodes[node].content) = (.double, Int64(bitPattern: number.bitPattern))
    }

    /// `nil` if 64 bits cannot represent it.
    private func integer(_ range: Range<Int>) -> Int64? {
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        var number: Int64 = 0
        for byte in bytes[range].dropFirst(isNegative ? 1 : 0) {
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - 48)
            let (sum, overflow) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !isTooLarge, !overflow else { return nil }
            number = sum
        }
        return number
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = current, 48...57 ~= byte { position += 1 }
        guard position > start else { throw fault(.badNumber) }
    }

    // MARK: - Strings

    /// A text's place: in the bytes, or in `texts` if it had escapes.
    private struct Text {
        var first = 0
        var end = 0
        var hasEscapes = false
    }

    private func key(_ node: JSONOutline.Node) -> Text {
        Text(first: Int(node.keyFirst), end: Int(node.keyEnd), hasEscapes: node.keyHasEscapes)
    }

    private func text(_ text: Text) -> String {
        guard !text.hasEscapes else { return texts[text.first] }
        return String(decoding: bytes[text.first..<text.end], as: UTF8.self)
    }

    private mutating func string() throws(JSONError) -> Text {
        position += 1
        let start = position
        position = bytes.withUnsafeBytes { JSONStringScanner.firstSpecial(in: $0, from: start) }
        if current == UInt8(ascii: "\"") {
            position += 1
            return Text(first: start, end: position - 1)
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
        texts.append(String(decoding: text, as: UTF8.self))
        return Text(first: texts.count - 1, end: 0, hasEscapes: true)
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
            guard let scalar = numberedScalar() else { throw JSONError(.badEscape, at: start) }
            return scalar
        default: throw JSONError(.badEscape, at: start)
        }
    }

    private mutating func numberedScalar() -> Unicode.Scalar? {
        guard let unit = codeUnit() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // The first half of a surrogate pair; the second must follow.
        guard unit < 0xdc00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")), let low = codeUnit(),
            0xdc00...0xdfff ~= low
        else { return nil }
        return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
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
