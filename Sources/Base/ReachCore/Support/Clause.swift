/// A sentence without its capital letter and full stop, as it stands within another one.
///
/// It knows whether it begins with a word of its own or with what was put in, such as the name of a host or an
/// interface. A name keeps its letters where a sentence begins with it.
package struct Clause: Hashable, Sendable, CustomStringConvertible {
    package private(set) var text = ""
    private var beginsWithName = false

    package var description: String { text }

    /// As a whole sentence.
    package var sentence: String { start + "." }

    /// As the beginning of a sentence.
    package var start: String { beginsWithName ? text : text.prefix(1).uppercased() + text.dropFirst() }

    /// Text whose letters stay as they are.
    package init(name: String) {
        text = name
        beginsWithName = true
    }

    // Two that read the same are the same: a program that reads one does not know how it began.
    package static func == (left: Clause, right: Clause) -> Bool { left.text == right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Clause: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var clause = Clause(stringLiteral: "")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { append(literal, isName: false) }

        package mutating func appendInterpolation(_ clause: Clause) {
            append(clause.text, isName: clause.beginsWithName)
        }

        package mutating func appendInterpolation(_ name: some CustomStringConvertible) {
            append(name.description, isName: true)
        }

        private mutating func append(_ text: String, isName: Bool) {
            if clause.text.isEmpty { clause.beginsWithName = isName }
            clause.text += text
        }
    }

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.clause }
}

extension [String] {
    /// The elements as a list in a sentence: `a`, `a and b`, `a, b and c`.
    package var listed: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}
