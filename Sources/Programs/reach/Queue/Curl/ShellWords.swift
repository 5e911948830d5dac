internal import ReachCore

/// Splits a command line into words as a POSIX shell does (XCU 2.2), without expanding anything: for commands that people
/// copy from a browser or a manual.
///
/// It knows quotes by `'`, `"` and `$'` (the form of Chromium's and Firefox's "Copy as cURL"), backslashes and comments. A
/// variable, a substitution, a pipe, a redirection or a second command is refused, since it would mean something else here.
struct ShellWords {
    private var rest: Substring.UnicodeScalarView

    /// - Returns: The words of each command; commands end with their line, unless a backslash continues it.
    /// - Throws: ``CommandError``, which names what a shell would do.
    static func commands(in text: String) throws(CommandError) -> [[String]] {
        var scanner = ShellWords(rest: Substring(text.withUnixLines).unicodeScalars)
        var commands: [[String]] = []
        while !scanner.rest.isEmpty {
            let words = try scanner.line()
            if !words.isEmpty { commands.append(words) }
        }
        return commands
    }

    private mutating func line() throws(CommandError) -> [String] {
        var words: [String] = []
        while let next = rest.first {
            switch next {
            case "\n":
                rest.removeFirst()
                return words
            case " ", "\t": rest.removeFirst()
            case "#": rest = rest.drop { $0 != "\n" }
            case "\\" where rest.dropFirst().first == "\n": rest.removeFirst(2)
            default: words.append(try word())
            }
        }
        return words
    }

    private mutating func word() throws(CommandError) -> String {
        var word = ""
        while let next = rest.first, next != " ", next != "\t", next != "\n" {
            rest.removeFirst()
            switch next {
            case "'": word += try upTo("'")
            case "\"": word += try quoted()
            case "$" where rest.first == "'":
                rest.removeFirst()
                word += try escaped()
            case "\\":
                if rest.first == "\n" {
                    rest.removeFirst()
                } else if let literal = rest.popFirst() {
                    word.unicodeScalars.append(literal)
                }
            case "$", "`": throw Self.refusal("'\(next)' would be expanded by a shell: write what it stands for")
            case "|", ";", "&", "<", ">", "(", ")":
                throw Self.refusal("'\(next)' is for a shell: put quotes around the URL, and give one command a line")
            default: word.unicodeScalars.append(next)
            }
        }
        return word
    }

    private mutating func upTo(_ end: Unicode.Scalar) throws(CommandError) -> String {
        guard let index = rest.firstIndex(of: end) else { throw Self.refusal("a quote \(end) is not closed") }
        defer { rest = rest[rest.index(after: index)...] }
        return String(rest[..<index])
    }

    /// What `"` quotes.
    private mutating func quoted() throws(CommandError) -> String {
        var text = ""
        while let next = rest.popFirst() {
            switch next {
            case "\"": return text
            case "$", "`": throw Self.refusal("'\(next)' would be expanded by a shell: write what it stands for")
            case "\\":
                guard let literal = rest.popFirst() else { break }
                if literal == "\n" { continue }
                if !"\"\\$`".unicodeScalars.contains(literal) { text.append("\\") }
                text.unicodeScalars.append(literal)
            default: text.unicodeScalars.append(next)
            }
        }
        throw Self.refusal("a quote \" is not closed")
    }

    /// What `$'` quotes: C's escapes, and `\uXXXX`.
    private mutating func escaped() throws(CommandError) -> String {
        var bytes: [UInt8] = []
        while let next = rest.popFirst() {
            guard next != "'" else { return String(decoding: bytes, as: UTF8.self) }
            guard next == "\\", let code = rest.popFirst() else {
                bytes += String(next).utf8
                continue
            }
            switch code {
            case "n": bytes.append(0x0a)
            case "r": bytes.append(0x0d)
            case "t": bytes.append(0x09)
            case "x": bytes.append(UInt8(truncatingIfNeeded: digits(2, radix: 16)?.value ?? 0x3f))
            case "u", "U":
                let number = digits(code == "u" ? 4 : 8, radix: 16)?.value ?? 0xfffd
                bytes += String(Character(Unicode.Scalar(number) ?? "\u{fffd}")).utf8
            case "0"..."7":
                let more = digits(2, radix: 8)
                let first = code.value - 48
                bytes.append(
                    UInt8(truncatingIfNeeded: more.map { first << (3 * UInt32($0.count)) + $0.value } ?? first))
            default: bytes += String(code).utf8
            }
        }
        throw Self.refusal("a quote ' is not closed")
    }

    private mutating func digits(_ limit: Int, radix: Int) -> (value: UInt32, count: Int)? {
        let text = String(rest.prefix(limit).prefix { Character($0).hexDigitValue.map { $0 < radix } ?? false })
        guard let value = UInt32(text, radix: radix) else { return nil }
        rest = rest.dropFirst(text.count)
        return (value, text.count)
    }

    private static func refusal(_ sentence: String) -> CommandError {
        CommandError(status: .usage, message: DisplayText.sanitized(sentence))
    }
}

extension String {
    /// The text with a newline for each pair of carriage return and newline.
    fileprivate var withUnixLines: String {
        let bytes = Array(utf8)
        let kept = bytes.indices.filter { bytes[$0] != 0x0d || $0 + 1 == bytes.count || bytes[$0 + 1] != 0x0a }
        return String(decoding: kept.map { bytes[$0] }, as: UTF8.self)
    }
}
