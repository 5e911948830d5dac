/// The encodings of text that servers send, and that forms may have.
public enum TextEncoding: Hashable, Sendable {
    /// UTF-8.
    case utf8
    /// UTF-16, the high byte first.
    case utf16BigEndian
    /// UTF-16, the low byte first.
    case utf16LittleEndian
    /// UTF-32, the high byte first.
    case utf32BigEndian
    /// UTF-32, the low byte first.
    case utf32LittleEndian
    /// ISO 8859-1, in which each byte is the code point of its character. US-ASCII is decoded as ISO 8859-1 too.
    case latin1

    /// Encodes a text, without a byte order mark.
    ///
    /// - Returns: `nil` for a text with characters that the encoding lacks.
    public func encode(_ text: String) -> [UInt8]? {
        switch self {
        case .utf8: Array(text.utf8)
        case .utf16BigEndian: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        case .utf16LittleEndian: text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        case .utf32BigEndian: text.unicodeScalars.flatMap { Self.bytes(of: $0) }
        case .utf32LittleEndian: text.unicodeScalars.flatMap { Self.bytes(of: $0).reversed() }
        case .latin1:
            text.unicodeScalars.allSatisfy { $0.value < 0x100 } ? text.unicodeScalars.map { UInt8($0.value) } : nil
        }
    }

    private static func bytes(of scalar: Unicode.Scalar) -> [UInt8] {
        withUnsafeBytes(of: scalar.value.bigEndian) { Array($0) }
    }

    /// The IANA name.
    public var name: String {
        switch self {
        case .utf8: "UTF-8"
        case .utf16BigEndian: "UTF-16BE"
        case .utf16LittleEndian: "UTF-16LE"
        case .utf32BigEndian: "UTF-32BE"
        case .utf32LittleEndian: "UTF-32LE"
        case .latin1: "ISO-8859-1"
        }
    }

    /// Finds an encoding by name.
    ///
    /// - Parameter name: The IANA name, in any case.
    /// - Returns: `nil` for other encodings. `utf-16` alone does not determine one without a byte order mark.
    package init?(named name: String) {
        switch name.lowercased() {
        case "utf-8", "utf8": self = .utf8
        case "us-ascii", "ascii", "iso-8859-1", "iso_8859-1", "latin1", "l1": self = .latin1
        case "utf-16be": self = .utf16BigEndian
        case "utf-16le": self = .utf16LittleEndian
        case "utf-32be": self = .utf32BigEndian
        case "utf-32le": self = .utf32LittleEndian
        default: return nil
        }
    }

    /// Detects an encoding from the first four bytes: by a byte order mark, or, since the first character of JSON and
    /// of XML is ASCII, by the positions of zeros (RFC 4627, section 3).
    ///
    /// - Returns: The encoding, and the length of the mark in bytes.
    package static func detect(_ start: some Collection<UInt8>) -> (encoding: TextEncoding, mark: Int)? {
        let first = Array(start.prefix(4))
        if first.starts(with: [0xef, 0xbb, 0xbf]) { return (.utf8, 3) }
        if first == [0, 0, 0xfe, 0xff] { return (.utf32BigEndian, 4) }
        if first == [0xff, 0xfe, 0, 0] { return (.utf32LittleEndian, 4) }
        if first.starts(with: [0xfe, 0xff]) { return (.utf16BigEndian, 2) }
        if first.starts(with: [0xff, 0xfe]) { return (.utf16LittleEndian, 2) }
        guard first.count == 4 else { return nil }
        switch first.map({ $0 == 0 }) {
        case [true, true, true, false]: return (.utf32BigEndian, 0)
        case [false, true, true, true]: return (.utf32LittleEndian, 0)
        case [true, false, true, false]: return (.utf16BigEndian, 0)
        case [false, true, false, true]: return (.utf16LittleEndian, 0)
        default: return nil
        }
    }
}

/// Converts text to UTF-8 incrementally.
package struct UTF8Transcoder: Sendable {
    package let encoding: TextEncoding
    /// The bytes of an incomplete character.
    private var pending: [UInt8] = []

    package init(_ encoding: TextEncoding) { self.encoding = encoding }

    /// Whether the input ends within a character.
    package var isIncomplete: Bool { !pending.isEmpty }

    /// Converts `bytes` and appends them. UTF-8 passes through unchanged and unchecked; unpaired surrogates and numbers
    /// beyond Unicode become U+FFFD.
    package mutating func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        switch encoding {
        case .utf8: text += bytes
        case .latin1:
            for byte in bytes {
                if byte < 0x80 { text.append(byte) } else { text += [0xc0 | byte >> 6, 0x80 | byte & 0x3f] }
            }
        case .utf16BigEndian, .utf16LittleEndian: for byte in bytes { appendUTF16(byte, to: &text) }
        case .utf32BigEndian, .utf32LittleEndian: for byte in bytes { appendUTF32(byte, to: &text) }
        }
    }

    private mutating func appendUTF16(_ byte: UInt8, to text: inout [UInt8]) {
        pending.append(byte)
        guard pending.count % 2 == 0 else { return }
        let first = unit(at: 0)
        let isHigh = 0xd800...0xdbff ~= first
        if pending.count == 2 {
            if isHigh { return }
            pending = []
            return append(first, to: &text)
        }
        let second = unit(at: 2)
        if 0xdc00...0xdfff ~= second {
            pending = []
            return append(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00), to: &text)
        }
        append(0xfffd, to: &text)
        pending.removeFirst(2)
        if 0xd800...0xdbff ~= second { return }
        pending = []
        append(second, to: &text)
    }

    private func unit(at index: Int) -> UInt32 {
        let (first, second) = (UInt32(pending[index]), UInt32(pending[index + 1]))
        return encoding == .utf16BigEndian ? first << 8 | second : second << 8 | first
    }

    private mutating func appendUTF32(_ byte: UInt8, to text: inout [UInt8]) {
        pending.append(byte)
        guard pending.count == 4 else { return }
        let ordered = encoding == .utf32BigEndian ? pending : pending.reversed()
        append(ordered.reduce(0) { $0 << 8 | UInt32($1) }, to: &text)
        pending = []
    }

    private func append(_ number: UInt32, to text: inout [UInt8]) {
        text += UTF8.encode(Unicode.Scalar(number) ?? "\u{fffd}") ?? UTF8.encodedReplacementCharacter
    }

    /// Converts a whole text to UTF-8, without its byte order mark.
    ///
    /// - Parameter encoding: The encoding, unless the first bytes indicate another one.
    package static func utf8(_ bytes: [UInt8], unlessMarked encoding: TextEncoding = .utf8) -> [UInt8] {
        let detected = TextEncoding.detect(bytes) ?? (encoding, 0)
        if detected.encoding == .utf8, detected.mark == 0 { return bytes }
        var transcoder = UTF8Transcoder(detected.encoding)
        var text: [UInt8] = []
        transcoder.append(bytes[detected.mark...], to: &text)
        if transcoder.isIncomplete { transcoder.append(0xfffd, to: &text) }
        return text
    }
}
