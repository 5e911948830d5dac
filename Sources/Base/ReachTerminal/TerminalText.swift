internal import ReachCore

/// A text from outside that comes in pieces and is written to a terminal: with its lines, but without escape sequences.
package struct TerminalText {
    /// The beginning of a character of which the rest has not come yet.
    private var tail: ArraySlice<UInt8> = []

    package init() {}

    /// Whether the bytes, which are the first of a text or all of it, are a text at all.
    package static func isText(_ bytes: [UInt8]) -> Bool {
        let complete = bytes.dropLast(unfinished(bytes[...]))
        return !complete.contains(0) && String(validating: complete, as: UTF8.self) != nil
    }

    /// The piece, with controls and marks of direction as `\u{...}`, except for tabs and the ends of lines.
    package mutating func escaped(_ bytes: [UInt8]) -> String {
        let all = tail + bytes
        let count = Self.unfinished(all)
        tail = all.suffix(count)
        return Self.shown(all.dropLast(count))
    }

    /// What is left at the end: the beginning of a character.
    package mutating func end() -> String {
        defer { tail = [] }
        return Self.shown(tail)
    }

    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).split(scalar: "\n", omittingEmptySubsequences: false).map { line in
            let (text, end) = line.before("\r").map { ($0, "\r") } ?? (line, "")
            return text.split(scalar: "\t", omittingEmptySubsequences: false)
                .map { DisplayText.sanitized(String($0)) }.joined(separator: "\t") + end
        }.joined(separator: "\n")
    }

    /// How many bytes at the end begin a character without ending it.
    private static func unfinished(_ bytes: ArraySlice<UInt8>) -> Int {
        for (count, byte) in bytes.reversed().prefix(3).enumerated() where byte & 0xc0 != 0x80 {
            let length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
            return length > count + 1 ? count + 1 : 0
        }
        return 0
    }
}
