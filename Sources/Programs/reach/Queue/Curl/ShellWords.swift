internal import ReachCore

/// A byte as the scalar of its number: literals of ASCII can then be compared with it.
private typealias Byte = Unicode.Scalar

/// Splits a command line into words as a POSIX shell does (XCU 2.2), without expanding anything: for commands that
/// people copy from a browser or a manual. Words are bytes, since a body need not be UTF-8.
///
/// It knows quotes by `'`, `"` and `$'` (the form of Chromium's and Firefox's "Copy as cURL"), backslashes and
/// comments. A variable, a substitution, a pipe, a redirection or a second command in a line is refused, since it would
/// mean something else here.
struct ShellWords {
    private var rest: ArraySlice<Byte>

    /// - Returns: The words of each command; commands end with their line, unless a backslash continues it.
    /// - Throws: ``CommandError``, which names what a shell would do.
    static func commands(in text: [UInt8]) throws(CommandError) -> [[[UInt8]]] {
        var scanner = ShellWords(rest: withUnixLines(text).map { Byte($0) }[...])
        var commands: [[[UInt8]]] = []
        while !scanner.rest.isEmpty {
            let words = try scanner.line()
            if !words.isEmpty { commands.append(words) }
        }
        return commands
    }

    private mutating func line() throws(CommandError) -> [[UInt8]] {
        var words: [[UInt8]] = []
        while let next = rest.first {
            switch next {
            case "\n":
                rest.removeFirst()
                return words
            case " ", "\t": rest.removeFirst()
            case "#": rest = rest.drop { $0 != "\n" }
            case "\\" where rest.starts(with: "\\\n".unicodeScalars): rest.removeFirst(2)
            // What Chromium writes between commands when it copies several.
            case ";" where rest.dropFirst().first { $0 != " " && $0 != "\t" } ?? "\n" == "\n": rest.removeFirst()
            default: words.append(try word())
            }
        }
        return words
    }

    private mutating func word() throws(CommandError) -> [UInt8] {
        var word: [UInt8] = []
        while let next = rest.first, next != " ", next != "\t", next != "\n" {
            rest.removeFirst()
            switch next {
            case "'": word += try upToQuote()
            case "\"": word += try quoted()
            case "$" where rest.first == "'":
                rest.removeFirst()
                var escapes = ShellEscapes(rest: rest)
                word += try escapes.text()
                rest = escapes.rest
            case "\\":
                if let literal = rest.popFirst(), literal != "\n" { word.append(literal.byte) }
            case "^" where rest.first == "\"" || rest.first ?? "\n" == "\n":
                throw Self.refusal("the command is for Windows' cmd: copy it \"as cURL (bash)\", or \"(POSIX)\"")
            case "$", "`": throw Self.expansion(next)
            case "|", ";", "&", "<", ">", "(", ")":
                throw Self.refusal(
                    "'\(next)' is for a shell: put quotes around the URL, and give one command a line"
                )
            case "\0": throw Self.nul
            default: word.append(next.byte)
            }
        }
        return word
    }

    private mutating func upToQuote() throws(CommandError) -> [UInt8] {
        guard let index = rest.firstIndex(of: "'") else { throw Self.unclosed("'") }
        defer { rest = rest[(index + 1)...] }
        return rest[..<index].map(\.byte)
    }

    /// What `"` quotes.
    private mutating func quoted() throws(CommandError) -> [UInt8] {
        var text: [UInt8] = []
        while let next = rest.popFirst() {
            switch next {
            case "\"": return text
            case "$", "`": throw Self.expansion(next)
            case "\\":
                guard let literal = rest.popFirst() else { break }
                if literal == "\n" { continue }
                if !"\"\\$`".unicodeScalars.contains(literal) { text.append(UInt8(ascii: "\\")) }
                text.append(literal.byte)
            default: text.append(next.byte)
            }
        }
        throw Self.unclosed("\"")
    }

    private static func expansion(_ mark: Byte) -> CommandError {
        refusal("'\(mark)' would be expanded by a shell: write what it stands for")
    }

    fileprivate static func unclosed(_ mark: String) -> CommandError { refusal("a quote \(mark) is not closed") }

    fileprivate static var nul: CommandError { refusal("a byte 0 cannot be in a command: put the data into a file") }

    fileprivate static func refusal(_ sentence: String) -> CommandError {
        CommandError(status: .usage, message: DisplayText.sanitized(sentence))
    }

    /// The text with a newline for each pair of carriage return and newline.
    private static func withUnixLines(_ bytes: [UInt8]) -> [UInt8] {
        let kept = bytes.indices.filter { bytes[$0] != 0x0d || $0 + 1 == bytes.count || bytes[$0 + 1] != 0x0a }
        return kept.map { bytes[$0] }
    }
}

/// What `$'` quotes: C's escapes and `\uXXXX`, as bash reads them (bash(1), QUOTING).
private struct ShellEscapes {
    var rest: ArraySlice<Byte>

    /// The text up to the closing quote.
    mutating func text() throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let next = rest.popFirst() {
            guard next != "'" else { return bytes }
            guard next == "\\", let code = rest.popFirst() else {
                bytes.append(next.byte)
                continue
            }
            let escaped = escape(code)
            // bash ends the word there.
            if escaped.contains(0) { throw ShellWords.nul }
            bytes += escaped
        }
        throw ShellWords.unclosed("'")
    }

    private mutating func escape(_ code: Byte) -> [UInt8] {
        switch code {
        case "a": [0x07]
        case "b": [0x08]
        case "e", "E": [0x1b]
        case "f": [0x0c]
        case "n": [0x0a]
        case "r": [0x0d]
        case "t": [0x09]
        case "v": [0x0b]
        case "\\", "'", "\"", "?": [code.byte]
        case "c": rest.popFirst().map { [$0 == "?" ? 0x7f : $0.byte & 0x1f] } ?? Array("\\c".utf8)
        case "x": number(digits: 2, radix: 16).map { [UInt8(truncatingIfNeeded: $0)] } ?? Array("\\x".utf8)
        case "u": number(digits: 4, radix: 16).map { character($0) } ?? Array("\\u".utf8)
        case "U": number(digits: 8, radix: 16).map { Self.utf8($0) } ?? Array("\\U".utf8)
        case "0"..."7":
            [octal(code.value - 48)]
        default: [UInt8(ascii: "\\"), code.byte]
        }
    }

    /// Up to two digits may follow the first one.
    private mutating func octal(_ first: UInt32) -> UInt8 {
        let before = rest.count
        let more = number(digits: 2, radix: 8) ?? 0
        return UInt8(truncatingIfNeeded: first << UInt32(3 * (before - rest.count)) | more)
    }

    /// A character of JavaScript's 16-bit units. Two halves are one character; a half alone is written as bash writes
    /// it.
    private mutating func character(_ unit: UInt32) -> [UInt8] {
        guard 0xd800..<0xdc00 ~= unit, rest.starts(with: "\\u".unicodeScalars) else { return Self.utf8(unit) }
        let before = rest
        rest = rest.dropFirst(2)
        guard let low = number(digits: 4, radix: 16), 0xdc00..<0xe000 ~= low else {
            rest = before
            return Self.utf8(unit)
        }
        return Self.utf8(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
    }

    /// UTF-8 of any number, also of halves, for which `Unicode.Scalar` has none.
    private static func utf8(_ number: UInt32) -> [UInt8] {
        let last = { (shift: UInt32) in UInt8(0x80 | number >> shift & 0x3f) }
        return switch number {
        case ..<0x80: [UInt8(number)]
        case ..<0x800: [UInt8(0xc0 | number >> 6), last(0)]
        case ..<0x10000: [UInt8(0xe0 | number >> 12), last(6), last(0)]
        case ..<0x110000: [UInt8(0xf0 | number >> 18), last(12), last(6), last(0)]
        default: Array("\\U\(String(number, radix: 16))".utf8)
        }
    }

    private mutating func number(digits limit: Int, radix: Int) -> UInt32? {
        let digits = rest.prefix(limit).prefix { $0.hexDigit.map { $0 < radix } ?? false }
        rest = rest.dropFirst(digits.count)
        return UInt32(String(String.UnicodeScalarView(digits)), radix: radix)
    }
}

extension Byte {
    fileprivate var byte: UInt8 { UInt8(truncatingIfNeeded: value) }
}
