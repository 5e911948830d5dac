/// Walks over one piece of markup that is all there.
struct XMLScanner {
    /// A fault and where it is in the bytes that were given.
    struct Failure: Error {
        let fault: XMLError.Fault
        let index: Int
    }

    let bytes: ArraySlice<UInt8>
    private(set) var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    var current: UInt8? { index < bytes.endIndex ? bytes[index] : nil }
    var isAtEnd: Bool { index == bytes.endIndex }

    func failure(_ fault: XMLError.Fault) -> Failure { Failure(fault: fault, index: index) }

    mutating func skip(_ count: Int) { index = min(index + count, bytes.endIndex) }

    @discardableResult
    mutating func skipSpace() -> Bool {
        let start = index
        while let byte = current, XMLCharacters.isSpace(byte) { index += 1 }
        return index > start
    }

    mutating func take(_ text: StaticString) -> Bool {
        let matches = text.withUTF8Buffer { bytes[index...].starts(with: $0) }
        if matches { index += text.utf8CodeUnitCount }
        return matches
    }

    mutating func expect(_ text: StaticString) throws(Failure) {
        guard take(text) else { throw failure(.expected("'\(text)'")) }
    }

    mutating func name() throws(Failure) -> String {
        let start = index
        var isASCII = true
        while let byte = current, XMLCharacters.isOfName(byte) {
            isASCII = isASCII && byte < 0x80
            index += 1
        }
        guard let name = String(validating: bytes[start..<index], as: UTF8.self) else {
            throw Failure(fault: .badEncoding, index: start)
        }
        // Of ASCII only the first letter is left to be looked at.
        guard XMLCharacters.isName(isASCII ? name.prefix(1) : name[...]) else {
            throw Failure(fault: .expected("a name"), index: start)
        }
        return name
    }

    /// What stands between two quotes of one kind, as it is.
    mutating func quoted() throws(Failure) -> ArraySlice<UInt8> {
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw failure(.expected("a quote"))
        }
        index += 1
        guard let end = bytes[index...].firstIndex(of: quote) else { throw failure(.expected("the closing quote")) }
        defer { index = end + 1 }
        return bytes[index..<end]
    }

    /// A name, `=`, and a value in quotes.
    mutating func assignment() throws(Failure) -> (name: String, value: ArraySlice<UInt8>) {
        let name = try name()
        skipSpace()
        try expect("=")
        skipSpace()
        return (name, try quoted())
    }

    /// What stands before `end`, which is passed.
    mutating func text(before end: StaticString) throws(Failure) -> ArraySlice<UInt8> {
        let start = index
        while !isAtEnd {
            let stop = index
            if take(end) { return bytes[start..<stop] }
            index += 1
        }
        throw failure(.expected("'\(end)'"))
    }
}
