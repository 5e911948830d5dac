internal import ReachCore

/// The types of an interface, read from its definition in Varlink's language (varlink.org/Interface-Definition).
///
/// Reads what the definitions of this project use. What methods return, and errors, are left out. A definition that it
/// cannot read has fewer types than it should; tests compare them with what is printed.
struct VarlinkDefinition: Sendable {
    /// A type with fields.
    struct Structure: Sendable {
        var fields: [Field]
        /// What the comment says about the type itself.
        var comment = ""
    }

    struct Field: Sendable {
        let name: String
        let type: Kind
        /// Whether it may be null or missing.
        let isOptional: Bool
        var comment = ""
    }

    indirect enum Kind: Sendable, Equatable {
        case bool
        case int
        case float
        case string
        /// An object with any keys.
        case object
        /// Any value.
        case any
        case array(Kind)
        /// An object with any keys, whose values have this type.
        case map(Kind)
        /// A type with this name.
        case named(String)
        /// A structure without a name: the names of its fields, and their types.
        case fields([String], [Kind])

        /// The name of the type, or of its elements' type.
        var named: String? {
            switch self {
            case .named(let name): name
            case .array(let element), .map(let element): element.named
            default: nil
            }
        }
    }

    /// The interface's name.
    private(set) var name = ""
    private(set) var types: [String: Structure] = [:]
    /// The parameters of each method.
    private(set) var methods: [String: [Field]] = [:]

    init(_ text: String) {
        var comment: [Substring] = []
        var lines = text.split(scalar: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.popFirst() {
            if line.hasUTF8Prefix("#") {
                comment.append(line.dropFirst())
                continue
            }
            let words = line.split(scalar: " ")
            if words.first == "interface", words.count == 2 { name = String(words[1]) }
            if words.first == "type", words.count == 3, words[2] == "(" {
                let body = lines.prefix { $0 != ")" }
                lines = lines.dropFirst(body.count + 1)
                var scanner = Scanner(body.joined(separator: " "))
                types[String(words[1])] = Self.documented(scanner.fields(), by: comment)
            }
            if words.first == "method", let name = line.dropFirst("method ".count).split(separator: "(").first {
                var body = line[name.endIndex...]
                while !body.unicodeScalars.contains(")"), let next = lines.popFirst() { body += " " + next }
                var scanner = Scanner(String(body.dropFirst().prefixScalars(while: { $0 != ")" })))
                methods[String(name)] = scanner.fields()
            }
            comment = []
        }
    }

    /// Divides a comment: a line such as `#   name  text` begins the text of a field, and further indented lines
    /// continue it.
    private static func documented(_ fields: [Field], by comment: [Substring]) -> Structure {
        var structure = Structure(fields: fields)
        var texts: [String: String] = [:]
        var current: String?
        for line in comment {
            let indent = line.prefixScalars { $0 == " " }.count
            let text = line.dropScalars { $0 == " " }
            if indent == 3, let separator = text.utf8Range(of: "  ") {
                current = String(text[..<separator.lowerBound])
                texts[current ?? ""] = String(text[separator.upperBound...].dropScalars { $0 == " " })
            } else if indent > 3, let current {
                texts[current]? += " " + text
            } else {
                current = nil
                structure.comment += (structure.comment.isEmpty ? "" : " ") + text
            }
        }
        for (names, text) in texts {
            for name in names.splitScalars(whereSeparator: { $0 == "," || $0 == " " }) {
                for index in structure.fields.indices where structure.fields[index].name == name {
                    structure.fields[index].comment = text
                }
            }
        }
        return structure
    }

    /// Reads `name: type, name: ?[]type, name: (name: type)`.
    private struct Scanner {
        private var rest: Substring

        init(_ text: String) { rest = text[...] }

        mutating func fields() -> [Field] {
            var fields: [Field] = []
            while let name = word() {
                guard skip(":") else { break }
                let isOptional = skip("?")
                guard let type = kind() else { break }
                fields.append(Field(name: name, type: type, isOptional: isOptional))
                guard skip(",") else { break }
            }
            return fields
        }

        private mutating func kind() -> Kind? {
            if skip("[]") { return kind().map { .array($0) } }
            if skip("[string]") { return kind().map { .map($0) } }
            if skip("(") {
                let inner = fields()
                return skip(")") ? .fields(inner.map(\.name), inner.map(\.type)) : nil
            }
            switch word() {
            case "bool": return .bool
            case "int": return .int
            case "float": return .float
            case "string": return .string
            case "object": return .object
            case "any": return .any
            case let name?: return .named(name)
            case nil: return nil
            }
        }

        private mutating func word() -> String? {
            rest = rest.dropScalars { $0 == " " }
            let word = rest.prefixScalars { $0.isLetter || $0.isDigit || $0 == "_" }
            rest = rest[word.endIndex...]
            return word.isEmpty ? nil : String(word)
        }

        private mutating func skip(_ mark: String) -> Bool {
            rest = rest.dropScalars { $0 == " " }
            guard let behind = rest.after(mark) else { return false }
            rest = behind
            return true
        }
    }
}
