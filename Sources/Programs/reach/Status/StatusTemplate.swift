internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// A line about a state in a form that the user gives: text with fields of the JSON status in braces, for status bars
/// and prompts.
struct StatusTemplate: Equatable {
    private enum Piece: Equatable {
        case text(String)
        case value(Field)
        /// The value as JSON, a text in quotation marks.
        case json(Field)
        case choice(Field, set: String, unset: String)
    }

    private enum Field: Equatable {
        /// A sign for the state and the class of its link.
        case icon
        /// The local time of the last change of the status.
        case since
        /// A member of the JSON status: names, from outside to inside.
        case member([String])
    }

    private let pieces: [Piece]

    /// Reads `{name}`, `{outer.inner}`, `{name:json}`, `{name?text}`, `{name?text|other}`, `{icon}` and `{since}`; `{{`
    /// and `}}` are braces. A terminal cannot be written to beyond the line: the values are made safe to print, the
    /// text between them is the caller's.
    ///
    /// - Throws: ``TemplateError``, which names the place.
    init(_ text: String) throws(TemplateError) {
        guard text.utf8.count <= Self.limit else {
            throw TemplateError(description: "a format has at most \(Self.limit) bytes")
        }
        var pieces: [Piece] = []
        var plain = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if (scalar == "{" || scalar == "}"), rest.first == scalar {
                plain.unicodeScalars.append(scalar)
                rest.removeFirst()
            } else if scalar == "}" {
                throw TemplateError(description: "a '}' without its '{' in the format; a brace itself is '}}'")
            } else if scalar == "{" {
                guard let end = rest.firstIndex(of: "}") else {
                    throw TemplateError(description: "a '{' without its '}' in the format; a brace itself is '{{'")
                }
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(try Self.piece(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            } else {
                plain.unicodeScalars.append(scalar)
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        self.pieces = pieces
    }

    /// The line, with its newline.
    func line(for state: ReachabilityState, from source: StatusSource) -> String {
        let status = Self.status(state, source)
        var line = ""
        for piece in pieces {
            switch piece {
            case .text(let text): line += text
            case .value(let field): line += Self.text(field, state, status)
            case .json(let field):
                var writer = JSONWriter()
                switch field {
                case .member(let names): writer.value(Self.member(names, of: status))
                case .icon, .since: writer.value(.string(Self.text(field, state, status)))
                }
                line += String(decoding: writer.bytes, as: UTF8.self)
            case .choice(let field, let set, let unset): line += Self.isSet(field, status) ? set : unset
            }
        }
        return line + "\n"
    }

    private static let limit = 4_096

    private static func piece(_ text: String) throws(TemplateError) -> Piece {
        if let mark = text.unicodeScalars.firstIndex(of: "?") {
            let field = try field(String(text[..<mark]))
            let words = String(text[text.unicodeScalars.index(after: mark)...])
                .split(scalar: "|", maxSplits: 1, omittingEmptySubsequences: false)
            return .choice(field, set: String(words[0]), unset: words.count > 1 ? String(words[1]) : "")
        }
        let suffix = ":json"
        guard text.hasUTF8Suffix(suffix) else { return .value(try field(text)) }
        return .json(try field(String(text.unicodeScalars.dropLast(suffix.unicodeScalars.count))))
    }

    private static func field(_ name: String) throws(TemplateError) -> Field {
        if name == "icon" { return .icon }
        if name == "since" { return .since }
        let names = name.split(scalar: ".", omittingEmptySubsequences: false).map(String.init)
        let schema = LineSchema()
        for (depth, part) in names.enumerated() {
            let keys = (schema.statusKeys(below: Array(names[..<depth])) ?? []) + (depth == 0 ? ["icon"] : [])
            guard keys.contains(part) else {
                let there = keys.isEmpty ? "" : "; there are " + keys.joined(separator: ", ")
                throw TemplateError(
                    description: "'{\(DisplayText.excerpt(name))}' is no field of the status"
                        + NearestWord.hint(for: part, among: keys) + there)
            }
        }
        return .member(names)
    }

    private static func status(_ state: ReachabilityState, _ source: StatusSource) -> JSONValue {
        var writer = JSONWriter()
        let now = SystemClock.now
        writer.status(state, source: source, at: now.wall, now.boot)
        return (try? JSONReader.read(writer.bytes)) ?? .null
    }

    private static func member(_ names: [String], of status: JSONValue) -> JSONValue {
        names.reduce(status) { $0[$1] ?? .null }
    }

    private static func isSet(_ field: Field, _ status: JSONValue) -> Bool {
        guard case .member(let names) = field else { return true }
        return switch member(names, of: status) {
        case .null, .bool(false), .integer(0), .string(""), .array([]): false
        case .bool, .integer, .double, .string, .array, .object: true
        }
    }

    private static func text(_ field: Field, _ state: ReachabilityState, _ status: JSONValue) -> String {
        switch field {
        case .icon: return icon(state)
        case .since: return LocalTimeText.short(state.since)
        case .member(let names):
            let value = member(names, of: status)
            if case .null = value { return "" }
            return DisplayText.sanitized(value.string ?? String(decoding: value.encoded, as: UTF8.self))
        }
    }

    private static func icon(_ state: ReachabilityState) -> String {
        switch state.status {
        case .unknown: return "❔"
        case .notReachable: return "❌"
        case .reachable: break
        }
        if state.proof == .notReachable { return state.connectivity == .portal ? "🚪" : "⚠️" }
        return switch state.linkClass {
        case .wifi: "📶"
        case .wwan, .bluetooth: "📱"
        case .tunnel: "🔒"
        default: "🌐"
        }
    }
}

/// A format that cannot be read.
struct TemplateError: Error, CustomStringConvertible { let description: String }
