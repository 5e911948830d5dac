internal import ReachCore

/// Which hosts somebody means: `site=berlin-* and not (class=wwan or state=silent)`.
///
/// A comparison is `NAME=PATTERN`, `NAME!=PATTERN`, or `NAME` alone for a host that has such a label. In a pattern `*`
/// stands for any characters and `?` for one. The names `host`, `name`, `group`, `state`, `class` and `version` are not
/// labels; `label:NAME` is always one.
package struct HostQuery: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a text, and where.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The most bytes of a text, and the deepest nesting.
    package static let sizeLimit = 1024
    static let depthLimit = 16

    indirect enum Node: Hashable, Sendable {
        case all([Node])
        case any([Node])
        case not(Node)
        case compare(Field, Glob)
        case has(String)
    }

    enum Field: Hashable, Sendable {
        case host, name, group, state, linkClass, version
        case label(String)

        init(_ name: String) {
            switch name {
            case "host": self = .host
            case "name": self = .name
            case "group": self = .group
            case "state": self = .state
            case "class": self = .linkClass
            case "version": self = .version
            default: self = .label(name.after("label:").map(String.init) ?? name)
            }
        }
    }

    let node: Node
    /// As it was written.
    package let description: String

    /// All hosts.
    package static let all = HostQuery(node: .all([]), description: "host=*")

    private init(node: Node, description: String) {
        self.node = node
        self.description = description
    }

    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.sizeLimit else {
            throw Fault(description: "it is longer than \(Self.sizeLimit) bytes")
        }
        var reader = HostQueryReader(text)
        self.init(node: try reader.read(), description: text)
    }

    /// The hosts that both mean.
    package func and(_ other: HostQuery) -> HostQuery {
        guard node != .all([]) else { return other }
        guard other.node != .all([]) else { return self }
        return HostQuery(
            node: .all([node, other.node]), description: "(\(description)) and (\(other.description))")
    }

    package func includes(_ host: RosterHost, _ presence: HostPresence) -> Bool {
        Self.matches(node, host, presence)
    }

    private static func matches(_ node: Node, _ host: RosterHost, _ presence: HostPresence) -> Bool {
        switch node {
        case .all(let nodes): nodes.allSatisfy { matches($0, host, presence) }
        case .any(let nodes): nodes.contains { matches($0, host, presence) }
        case .not(let node): !matches(node, host, presence)
        case .has(let label): host.labels[label] != nil
        case .compare(let field, let pattern): values(of: field, host, presence).contains { pattern.matches($0) }
        }
    }

    private static func values(of field: Field, _ host: RosterHost, _ presence: HostPresence) -> [String] {
        switch field {
        case .host: [host.id]
        case .name: [host.report?.name].compactMap(\.self)
        case .group: host.groups
        // A host that is degraded is limited, too, as for programs.
        case .state: [presence.shown, presence.word.rawValue]
        case .linkClass: [host.report?.internet?.linkClass?.rawValue].compactMap(\.self)
        case .version: [host.report?.version].compactMap(\.self)
        case .label(let name): [host.labels[name]].compactMap(\.self)
        }
    }
}

/// Reads a query from left to right: `or` binds loosest, then `and`, then `not`.
private struct HostQueryReader {
    private enum Token: Hashable {
        case open, close, and, or, not
        case comparison(name: String, pattern: String?, isEqual: Bool)
    }

    private let text: [UInt8]
    private var position = 0
    private var depth = 0
    private var next: Token?

    init(_ text: String) { self.text = Array(text.utf8) }

    mutating func read() throws(HostQuery.Fault) -> HostQuery.Node {
        next = try token()
        let node = try alternatives()
        if let next { throw fault(next) }
        return node
    }

    private mutating func alternatives() throws(HostQuery.Fault) -> HostQuery.Node {
        var nodes = [try conditions()]
        while next == .or {
            next = try token()
            nodes.append(try conditions())
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private mutating func conditions() throws(HostQuery.Fault) -> HostQuery.Node {
        var nodes = [try condition()]
        while next == .and {
            next = try token()
            nodes.append(try condition())
        }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private mutating func condition() throws(HostQuery.Fault) -> HostQuery.Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= HostQuery.depthLimit else {
            throw HostQuery.Fault(description: "it is nested more than \(HostQuery.depthLimit) deep")
        }
        guard let first = next else { throw HostQuery.Fault(description: "a condition is missing at the end") }
        next = try token()
        switch first {
        case .not: return .not(try condition())
        case .open:
            let node = try alternatives()
            guard next == .close else { throw HostQuery.Fault(description: "')' is missing") }
            next = try token()
            return node
        case .comparison(let name, let pattern, let isEqual):
            let field = HostQuery.Field(name)
            guard let pattern else {
                guard case .label(let label) = field else {
                    throw HostQuery.Fault(description: "'\(name)' needs a value, as in \(name)=VALUE")
                }
                return .has(label)
            }
            let node = HostQuery.Node.compare(field, Glob(pattern))
            return isEqual ? node : .not(node)
        case .close, .and, .or: throw fault(first)
        }
    }

    private func fault(_ token: Token) -> HostQuery.Fault {
        let word =
            switch token {
            case .open: "("
            case .close: ")"
            case .and: "and"
            case .or: "or"
            case .not: "not"
            case .comparison(let name, _, _): name
            }
        return HostQuery.Fault(description: "'\(DisplayText.sanitized(word))' does not belong there")
    }

    // MARK: - Tokens

    private mutating func token() throws(HostQuery.Fault) -> Token? {
        skipSpaces()
        guard position < text.count else { return nil }
        if text[position] == UInt8(ascii: "(") { return advance(1, .open) }
        if text[position] == UInt8(ascii: ")") { return advance(1, .close) }
        switch word(at: position) {
        case "and": return advance(3, .and)
        case "or": return advance(2, .or)
        case "not": return advance(3, .not)
        default: return try comparison()
        }
    }

    private mutating func advance(_ count: Int, _ token: Token) -> Token {
        position += count
        return token
    }

    private mutating func comparison() throws(HostQuery.Fault) -> Token {
        let start = position
        while position < text.count, !Self.endsName(text[position]) { position += 1 }
        let name = String(decoding: text[start..<position], as: UTF8.self)
        guard !name.isEmpty else {
            throw HostQuery.Fault(description: "'\(DisplayText.sanitized(rest))' has no name before it")
        }
        skipSpaces()
        if text[position...].starts(with: "!=".utf8) {
            position += 2
            return .comparison(name: name, pattern: try value(), isEqual: false)
        }
        if position < text.count, text[position] == UInt8(ascii: "=") {
            position += 1
            return .comparison(name: name, pattern: try value(), isEqual: true)
        }
        return .comparison(name: name, pattern: nil, isEqual: true)
    }

    /// A value goes on to the next `and`, `or` or `)`, unless it is in quotes.
    private mutating func value() throws(HostQuery.Fault) -> String {
        skipSpaces()
        if position < text.count, text[position] == UInt8(ascii: "\"") {
            guard let end = text[(position + 1)...].firstIndex(of: UInt8(ascii: "\"")) else {
                throw HostQuery.Fault(description: "a quote is not closed")
            }
            defer { position = end + 1 }
            return String(decoding: text[(position + 1)..<end], as: UTF8.self)
        }
        let start = position
        var end = position
        while position < text.count, text[position] != UInt8(ascii: ")") {
            if text[position] == UInt8(ascii: " ") {
                skipSpaces()
                let word = word(at: position)
                if word == "and" || word == "or" { break }
                continue
            }
            position += 1
            end = position
        }
        return String(decoding: text[start..<end], as: UTF8.self)
    }

    private mutating func skipSpaces() {
        while position < text.count, text[position] == UInt8(ascii: " ") { position += 1 }
    }

    /// The letters from a place on, if a space, a bracket or the end follows them.
    private func word(at start: Int) -> String? {
        let word = text[start...].prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        guard word.endIndex == text.count || " ()".utf8.contains(text[word.endIndex]) else { return nil }
        return String(decoding: word, as: UTF8.self)
    }

    private var rest: String { String(decoding: text[position...].prefix(40), as: UTF8.self) }

    private static func endsName(_ byte: UInt8) -> Bool { " ()=!\"".utf8.contains(byte) }
}
