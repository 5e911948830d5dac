internal import ReachCore

/// Parses the text of a ``JSONCondition``, byte by byte.
struct JSONConditionParser {
    private let text: String
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8.prefix(JSONCondition.longestText + 1))
    }

    mutating func condition() throws(JSONConditionError) -> JSONCondition {
        guard bytes.count <= JSONCondition.longestText else {
            throw JSONConditionError(problem: "it is longer than \(JSONCondition.longestText) bytes", offset: 0)
        }
        skipSpace()
        let isMissing = skip("!")
        skipSpace()
        let isLength = !isMissing && skip("length(")
        skipSpace()
        let steps = try path()
        skipSpace()
        if isLength {
            guard skip(")") else { throw fault("expected ')'") }
            skipSpace()
        }
        let test: JSONCondition.Test
        if position == bytes.count {
            guard !isLength else { throw fault("expected a comparison: ==, !=, <, <=, > or >=") }
            test = isMissing ? .isMissing : .exists
        } else if isMissing {
            throw fault("expected nothing more: what is missing cannot be compared")
        } else {
            test = try comparison(isLength: isLength)
        }
        return JSONCondition(description: text, steps: steps, isLength: isLength, test: test)
    }

    // MARK: - The path

    private mutating func path() throws(JSONConditionError) -> [JSONCondition.Step] {
        guard skip("$") else { throw fault("expected a path, such as $.status or length($.list)") }
        var steps: [JSONCondition.Step] = []
        while let byte = current, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "[") {
            guard steps.count < JSONCondition.mostSteps else {
                throw fault("the path has more than \(JSONCondition.mostSteps) steps")
            }
            position += 1
            steps.append(byte == UInt8(ascii: ".") ? try name() : try bracket())
        }
        return steps
    }

    private mutating func name() throws(JSONConditionError) -> JSONCondition.Step {
        let start = position
        while let byte = current, byte.isLetterOrDigit || byte == 0x5f || byte == 0x2d || byte >= 0x80 { position += 1 }
        guard position > start else { throw fault("expected a name of letters and digits; others as in $[\"a b\"]") }
        return .member(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func bracket() throws(JSONConditionError) -> JSONCondition.Step {
        skipSpace()
        let step: JSONCondition.Step
        if skip("*") {
            step = .every
        } else if current == UInt8(ascii: "\"") || current == UInt8(ascii: "'") {
            step = .member(try quoted())
        } else {
            let start = position
            guard case .integer(let number)? = try? number(), let index = Int(exactly: number) else {
                position = start
                throw fault("expected an index, a name in quotes, or *")
            }
            step = .element(index)
        }
        skipSpace()
        guard skip("]") else { throw fault("expected ']'") }
        return step
    }

    // MARK: - The comparison

    private mutating func comparison(isLength: Bool) throws(JSONConditionError) -> JSONCondition.Test {
        guard let sign = JSONCondition.Comparison.allCases.first(where: { skip($0.rawValue) }) else {
            throw fault("expected a comparison: ==, !=, <, <=, > or >=")
        }
        skipSpace()
        let start = position
        let literal = try literal()
        let (isNumber, hasOrder) =
            switch literal {
            case .integer, .double: (true, true)
            case .text: (false, true)
            case .null, .bool: (false, false)
            }
        guard isNumber || !isLength else { throw JSONConditionError(problem: "expected a number", offset: start) }
        guard hasOrder || sign == .equal || sign == .unequal else {
            throw JSONConditionError(problem: "expected a number or a text: only these have an order", offset: start)
        }
        skipSpace()
        guard position == bytes.count else { throw fault("expected nothing more") }
        return .compares(sign, literal)
    }

    private mutating func literal() throws(JSONConditionError) -> JSONCondition.Literal {
        if let byte = current {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return .text(try quoted()) }
            if byte == UInt8(ascii: "-") || 0x30...0x39 ~= byte { return try number() }
        }
        if skip("true") { return .bool(true) }
        if skip("false") { return .bool(false) }
        if skip("null") { return .null }
        throw fault("expected a number, a text in quotes, true, false or null")
    }

    private mutating func number() throws(JSONConditionError) -> JSONCondition.Literal {
        let start = position
        while let byte = current, byte.isLetterOrDigit || "+-.".utf8.contains(byte) { position += 1 }
        switch try? JSONReader.read(Array(bytes[start..<position])) {
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        default:
            position = start
            throw fault("expected a number as JSON has it")
        }
    }

    /// A text in either kind of quotes, with JSON's escapes and `\'`.
    private mutating func quoted() throws(JSONConditionError) -> String {
        let start = position
        let quote = bytes[position]
        position += 1
        // As a string of JSON, whose reader knows the escapes.
        var string: [UInt8] = [UInt8(ascii: "\"")]
        while let byte = current, byte != quote {
            position += 1
            if byte == UInt8(ascii: "\\"), let next = current {
                position += 1
                string += next == UInt8(ascii: "'") ? [next] : [byte, next]
            } else {
                string += byte == UInt8(ascii: "\"") ? [UInt8(ascii: "\\"), byte] : [byte]
            }
        }
        guard current == quote else { throw JSONConditionError(problem: "the text has no end", offset: start) }
        position += 1
        guard case .string(let text)? = try? JSONReader.read(string + [UInt8(ascii: "\"")]) else {
            throw JSONConditionError(problem: "it is no text as JSON has it", offset: start)
        }
        return text
    }

    // MARK: - Bytes

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips these bytes; `false` if something else comes next.
    private mutating func skip(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func skipSpace() { while let byte = current, byte == 0x20 || byte == 0x9 { position += 1 } }

    private func fault(_ problem: String) -> JSONConditionError {
        JSONConditionError(problem: problem, offset: position)
    }
}
