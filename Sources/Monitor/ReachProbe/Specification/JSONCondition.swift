package import ReachCore

/// What a JSON document must be: a value at a path, compared with a literal.
///
/// `$.status == "ok"`, `$.queue[0].age < 10`, `length($.servers) > 2`, `$.servers[*].error == ""`, `$.version`,
/// `!$.error`. Paths are those of RFC 9535 with names, indices and `[*]`, behind which everything must hold for each
/// element. Values are compared by their types, so that the text `"1"` does not equal the number 1.
package struct JSONCondition: Hashable, Sendable, CustomStringConvertible {
    /// The longest text in bytes.
    package static let longestText = 1024
    /// The most steps of a path.
    package static let mostSteps = 32

    enum Step: Hashable, Sendable {
        case member(String)
        /// A negative index counts from the end.
        case element(Int)
        case every
    }

    enum Test: Hashable, Sendable {
        case exists
        case isMissing
        case compares(Comparison, Literal)
    }

    enum Comparison: String, Hashable, Sendable, CaseIterable {
        // A sign that begins with another one comes first, since the first that fits is read.
        case equal = "=="
        case unequal = "!="
        case atMost = "<="
        case atLeast = ">="
        case less = "<"
        case greater = ">"
    }

    enum Literal: Hashable, Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        case double(Double)
        case text(String)
    }

    /// The condition as it was written.
    package let description: String
    let steps: [Step]
    /// Whether the length of the value is compared: the number of elements, members or characters.
    let isLength: Bool
    let test: Test

    /// - Throws: What is wrong with the text, and where.
    package init(_ text: String) throws(JSONConditionError) {
        var parser = JSONConditionParser(text)
        self = try parser.condition()
    }

    init(description: String, steps: [Step], isLength: Bool, test: Test) {
        (self.description, self.steps, self.isLength, self.test) = (description, steps, isLength, test)
    }
}

/// What is wrong with the text of a ``JSONCondition``, and at which of its bytes.
package struct JSONConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    package let problem: String
    /// The number of bytes before the fault.
    package let offset: Int

    package var description: String { "at byte \(offset): \(problem)" }
}

// MARK: - Evaluation

extension JSONCondition {
    /// Why a document does not fulfil the condition, as a sentence; `nil` if it does.
    package func fault(in document: JSONOutline) -> String? {
        fault(at: JSONOutline.root, steps[...], path: "$", document)
    }

    private func fault(
        at node: Int, _ rest: ArraySlice<Step>, path: String, _ document: JSONOutline
    ) -> String? {
        guard let step = rest.first else { return fault(of: node, path: path, document) }
        let rest = rest.dropFirst()
        let kind = document.kind(of: node)
        switch step {
        case .member(let name):
            // The last of equal keys counts, as for most readers.
            guard kind == .object,
                let child = document.children(of: node).last(where: {
                    document.key(of: $0).utf8.elementsEqual(name.utf8)
                })
            else { return missing(path + Self.text(name)) }
            return fault(at: child, rest, path: path + Self.text(name), document)
        case .element(let index):
            let children = kind == .array ? document.children(of: node) : []
            let place = index < 0 ? children.count + index : index
            guard children.indices.contains(place) else { return missing(path + "[\(index)]") }
            return fault(at: children[place], rest, path: path + "[\(index)]", document)
        case .every:
            guard kind == .array || kind == .object else { return missing(path + "[*]") }
            for (place, child) in document.children(of: node).enumerated() {
                let part = kind == .array ? "[\(place)]" : Self.text(document.key(of: child))
                if let fault = fault(at: child, rest, path: path + part, document) { return fault }
            }
            return nil
        }
    }

    private func missing(_ path: String) -> String? {
        test == .isMissing ? nil : "there is no \(DisplayText.excerpt(path, upTo: 128))"
    }

    private func fault(of node: Int, path: String, _ document: JSONOutline) -> String? {
        switch test {
        case .exists: return nil
        case .isMissing: return "there is \(DisplayText.excerpt(path, upTo: 128))"
        case .compares(let comparison, let wanted):
            let path = DisplayText.excerpt(isLength ? "length(\(path))" : path, upTo: 128)
            guard let found = isLength ? Literal(lengthOf: node, document) : Literal(node, document) else {
                let kind = document.kind(of: node)
                return "\(path): \(isLength ? "it is" : "it is compared, but is") \(kind.text)"
            }
            if comparison.holds(found, wanted) { return nil }
            let differs = found.typeName == wanted.typeName ? "" : ", \(found.typeName)"
            let expected = differs.isEmpty ? "" : ", \(wanted.typeName)"
            return "\(path) is \(found)\(differs); expected \(comparison.rawValue) \(wanted)\(expected)"
        }
    }

    /// A member of a path as it is written.
    private static func text(_ name: String) -> String {
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x5f || $0 == 0x2d }
        return isPlain ? "." + name : "[" + Literal.text(name).description + "]"
    }
}

extension JSONCondition.Comparison {
    /// Numbers and texts have an order; other values, and those of different types, are only equal or not.
    func holds(_ left: JSONCondition.Literal, _ right: JSONCondition.Literal) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): compare(left, right)
        case (.integer(let left), .double(let right)): compare(Double(left), right)
        case (.double(let left), .integer(let right)): compare(left, Double(right))
        case (.double(let left), .double(let right)): compare(left, right)
        case (.text(let left), .text(let right)): compare(Bytewise(left), Bytewise(right))
        default: self == .equal && left == right || self == .unequal && left != right
        }
    }

    private func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .unequal: left != right
        case .less: left < right
        case .atMost: left <= right
        case .greater: left > right
        case .atLeast: left >= right
        }
    }

    /// Texts by their bytes, and so by their scalars.
    private struct Bytewise: Comparable {
        let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }

        static func < (left: Bytewise, right: Bytewise) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
    }
}

extension JSONCondition.Literal: CustomStringConvertible {
    /// - Returns: `nil` for arrays and objects.
    fileprivate init?(_ node: Int, _ document: JSONOutline) {
        switch document.kind(of: node) {
        case .null: self = .null
        case .bool: self = .bool(document.bool(node) ?? false)
        case .integer: self = .integer(document.integer(node) ?? 0)
        case .double: self = .double(document.double(node) ?? 0)
        case .string: self = .text(document.string(node) ?? "")
        case .array, .object: return nil
        }
    }

    /// - Returns: `nil` for what has no length.
    fileprivate init?(lengthOf node: Int, _ document: JSONOutline) {
        switch document.kind(of: node) {
        case .array, .object: self = .integer(Int64(document.children(of: node).count))
        case .string: self = .integer(Int64((document.string(node) ?? "").unicodeScalars.count))
        case .null, .bool, .integer, .double: return nil
        }
    }

    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .double: "a number"
        case .text: "a text"
        }
    }

    /// The literal as JSON, of a long text only the beginning.
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .text(let text): String(decoding: JSONValue.string(DisplayText.excerpt(text)).encoded, as: UTF8.self)
        }
    }
}

extension JSONOutline.Kind {
    fileprivate var text: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .double: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
