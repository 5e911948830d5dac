package import ReachCore

/// One or more targets, written as one URL with ranges and lists: `icmp://192.0.2.[1-20]`,
/// `tcp://{mail,www}.example.net:443`.
///
/// A range counts from the first to the last number, with as many digits as the first has; a list has words between
/// commas. With more than one of them there is a target for each combination.
package struct ProbeTargets: Hashable, Sendable, CustomStringConvertible {
    package static let most = 1024

    /// The URL as it was written.
    package let description: String
    /// The targets, each with what stands in the ranges and lists, with hyphens between; that is empty without them.
    package let all: [Expansion]

    package struct Expansion: Hashable, Sendable {
        package let suffix: String
        package let target: ProbeTarget
    }

    /// - Throws: A sentence that says what is wrong with the text.
    package init(_ text: String) throws(TargetError) {
        description = text
        var texts: [(suffix: [String], text: String)] = [([], "")]
        for piece in try Self.pieces(text) {
            guard texts.count * piece.count <= Self.most else {
                throw TargetError(
                    description: "'\(DisplayText.excerpt(text))' stands for more than \(Self.most) targets")
            }
            let isVaried = piece.count > 1 || piece.first?.isVaried == true
            texts = texts.flatMap { made in
                piece.map { (made.suffix + (isVaried ? [$0.text] : []), made.text + $0.text) }
            }
        }
        var all: [Expansion] = []
        for (suffix, text) in texts {
            all.append(Expansion(suffix: suffix.joined(separator: "-"), target: try ProbeTarget(text)))
        }
        self.all = all
    }

    private struct Choice {
        let text: String
        let isVaried: Bool
    }

    /// The choices for each piece of the text.
    private static func pieces(_ text: String) throws(TargetError) -> [[Choice]] {
        // The text has a limit before it is multiplied.
        guard text.utf8.count <= Target.longestText else {
            throw TargetError(description: "it is longer than \(Target.longestText) bytes")
        }
        var pieces: [[Choice]] = []
        var rest = Substring(text)
        while let start = rest.unicodeScalars.firstIndex(where: { $0 == "[" || $0 == "{" }) {
            let isRange = rest.unicodeScalars[start] == "["
            let inner = rest.unicodeScalars.index(after: start)
            guard let end = rest[inner...].unicodeScalars.firstIndex(of: isRange ? "]" : "}") else { break }
            // That of an IPv6 address around it.
            if isRange, rest[inner..<end].unicodeScalars.contains("[") {
                pieces.append([Choice(text: String(rest[..<inner]), isVaried: false)])
                rest = rest[inner...]
                continue
            }
            let choices = try isRange ? range(rest[inner..<end], in: text) : list(rest[inner..<end], in: text)
            let after = rest.unicodeScalars.index(after: end)
            let plain = choices == nil ? rest[..<after] : rest[..<start]
            if !plain.isEmpty { pieces.append([Choice(text: String(plain), isVaried: false)]) }
            if let choices { pieces.append(choices.map { Choice(text: $0, isVaried: true) }) }
            rest = rest[after...]
        }
        pieces.append([Choice(text: String(rest), isVaried: false)])
        return pieces
    }

    /// - Returns: `nil` if it is no range of numbers, such as an IPv6 address.
    private static func range(_ text: Substring, in whole: String) throws(TargetError) -> [String]? {
        let ends = text.split(scalar: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ !$0.isEmpty && $0.unicodeScalars.allSatisfy(\.isDigit) }) else {
            return nil
        }
        guard let first = Int(ends[0]), let last = Int(ends[1]), first <= last, last <= 65_535 else {
            throw TargetError(
                description: "'[\(DisplayText.excerpt(String(text)))]' is no range: it counts up, to at most 65535")
        }
        guard last - first < most else {
            throw TargetError(description: "'\(DisplayText.excerpt(whole))' stands for more than \(most) targets")
        }
        return (first...last).map { number in
            let digits = String(number)
            return String(repeating: "0", count: max(0, ends[0].utf8.count - digits.utf8.count)) + digits
        }
    }

    /// - Returns: `nil` if it is no list, but a part of the URL.
    private static func list(_ text: Substring, in whole: String) throws(TargetError) -> [String]? {
        let words = text.split(scalar: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count > 1 else { return nil }
        guard words.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) } })
        else {
            throw TargetError(
                description:
                    "'{\(DisplayText.excerpt(String(text)))}' is no list: it has words of letters, digits, '-', '.' "
                    + "and '_', with commas between")
        }
        guard words.count <= most, Set(words).count == words.count else {
            throw TargetError(description: "'{\(DisplayText.excerpt(String(text)))}' names a word twice, or too many")
        }
        return words
    }
}
