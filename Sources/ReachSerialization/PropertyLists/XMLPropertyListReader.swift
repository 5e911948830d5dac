internal import ReachCore

/// Reads property lists in XML. As XML requires, line ends become line feeds. Apple's reader is no XML parser, and
/// keeps the carriage returns that its writer does not escape.
struct XMLPropertyListReader {
    private var parser: XMLPullParser
    private var depth = 0

    static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        var reader = XMLPropertyListReader(parser: XMLPullParser(bytes))
        return try reader.document()
    }

    private mutating func document() throws(PropertyListError) -> PropertyListValue {
        let root = try next()
        let value: PropertyListValue?
        if case .start("plist", _) = root {
            value = try element()
            if value != nil, try element() != nil { throw fault("a second value") }
        } else {
            value = try self.value(root)
        }
        guard try next() == nil else { throw fault("more after the end") }
        guard let value else { throw fault("there is no value") }
        return value
    }

    /// Returns the next event, except comments, instructions, and white space between elements.
    private mutating func next() throws(PropertyListError) -> XMLEvent? {
        while true {
            let event: XMLEvent?
            do throws(XMLError) {
                event = try parser.next()
            } catch {
                throw .xml(error)
            }
            switch event {
            case .comment, .instruction: continue
            case .text(let text) where text.utf8.allSatisfy(XMLCharacters.isSpace): continue
            default: return event
            }
        }
    }

    /// Reads the next value of a container; `nil` at the end of the container.
    private mutating func element() throws(PropertyListError) -> PropertyListValue? {
        let event = try next()
        if case .end = event { return nil }
        return try value(event)
    }

    private mutating func value(_ event: XMLEvent?) throws(PropertyListError) -> PropertyListValue {
        guard case .start(let name, _) = event else { throw fault("a value is expected") }
        switch name {
        case "true", "false":
            guard try text().isEmpty else { throw fault("text in <\(name)>") }
            return .bool(name == "true")
        case "string": return .string(try text())
        case "integer": return .integer(try integer(try text()))
        case "real": return .real(try real(try text()))
        case "data":
            // Base64 is broken into lines and indented.
            let digits = try text().utf8.filter { $0 != 0x20 && !(0x9...0xd ~= $0) }
            guard let bytes = Base64.decode(digits) else { throw fault("<data> is not Base64") }
            return .data(bytes)
        case "date":
            guard let time = Timestamp(try text()) else { throw fault("<date> is not like 2026-11-21T03:10:00Z") }
            return .date(time)
        case "array": return try nested { reader throws(PropertyListError) in try reader.array() }
        case "dict": return try nested { reader throws(PropertyListError) in try reader.dictionary() }
        default: throw fault("<\(name)> is nothing of a property list")
        }
    }

    private mutating func nested(
        _ body: (inout XMLPropertyListReader) throws(PropertyListError) -> PropertyListValue
    ) throws(PropertyListError) -> PropertyListValue {
        guard depth < PropertyListValue.depthLimit else { throw .limit("\(PropertyListValue.depthLimit) levels") }
        depth += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func array() throws(PropertyListError) -> PropertyListValue {
        var elements: [PropertyListValue] = []
        while let element = try element() { elements.append(element) }
        return .array(elements)
    }

    private mutating func dictionary() throws(PropertyListError) -> PropertyListValue {
        var members: [String: PropertyListValue] = [:]
        while true {
            let event = try next()
            if case .end = event { return .dictionary(members) }
            guard case .start("key", _) = event else { throw fault("a <key> is expected") }
            let name = try text()
            guard let member = try element() else { throw fault("the key '\(name)' has no value") }
            guard members.updateValue(member, forKey: name) == nil else {
                throw fault("the key '\(name)' a second time")
            }
        }
    }

    /// Reads the text up to the end of the current element.
    private mutating func text() throws(PropertyListError) -> String {
        var whole = ""
        while true {
            let event: XMLEvent?
            do throws(XMLError) {
                event = try parser.next()
            } catch {
                throw .xml(error)
            }
            switch event {
            case .text(let text): whole += text
            case .comment, .instruction: continue
            case .end: return whole
            case .start, nil: throw fault("an element where text is expected")
            }
        }
    }

    private func integer(_ text: String) throws(PropertyListError) -> Int64 {
        let text = text.filter { !$0.isWhitespace }
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let isHexadecimal = digits.lowercased().hasPrefix("0x")
        let magnitude = isHexadecimal ? digits.dropFirst(2) : digits
        guard magnitude.first?.isHexDigit == true,
            let number = Int64((isNegative ? "-" : "") + magnitude, radix: isHexadecimal ? 16 : 10)
        else { throw fault("<integer> is no whole number of 64 bits") }
        return number
    }

    private func real(_ text: String) throws(PropertyListError) -> Double {
        switch text.lowercased() {
        case "nan": return .nan
        case "inf", "+inf", "infinity", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: break
        }
        guard let number = Double(text), number.isFinite, text.utf8.contains(where: { 48...57 ~= $0 }) else {
            throw fault("<real> is no number")
        }
        return number
    }

    private func fault(_ what: String) -> PropertyListError { .notAPropertyList(what, line: parser.line) }
}
