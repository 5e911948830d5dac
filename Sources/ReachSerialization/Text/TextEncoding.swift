/// The encodings of texts that servers send.
package enum TextEncoding: Hashable, Sendable {
    case utf8, utf16BigEndian, utf16LittleEndian, utf32BigEndian, utf32LittleEndian
    /// ISO 8859-1, in which each byte is the character of its number. US-ASCII is read as it too.
    case latin1

    /// - Parameter name: As IANA has it, in any case.
    /// - Returns: `nil` for others. `utf-16` alone says nothing without a mark at the text's beginning.
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

    /// What a text's first four bytes say: a byte order mark, or, since the first character of JSON and of XML is
    /// ASCII, where the zeros stand (RFC 4627, section 3).
    ///
    /// - Returns: The encoding, and how many bytes the mark has.
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

/// Turns bytes of an encoding into UTF-8, as they come.
package struct UTF8Transcoder: Sendable {
    package let encoding: TextEncoding
    /// Bytes of a character that is not complete.
    private var pending: [UInt8] = []

    package init(_ encoding: TextEncoding) { self.encoding = encoding }

    /// Whether a character was begun and not ended.
    package var isIncomplete: Bool { !pending.isEmpty }

    /// Appends what `bytes` say. UTF-8 goes through as it is, and is not checked; halves of pairs and numbers beyond
    /// Unicode become U+FFFD.
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

    /// A whole text as UTF-8, without its byte order mark.
    ///
    /// - Parameter encoding: What it is unless its first bytes say otherwise.
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
