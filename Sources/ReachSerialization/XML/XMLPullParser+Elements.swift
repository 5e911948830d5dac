extension XMLPullParser {
    mutating func startTag(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> XMLEvent {
        try scanner.expect("<")
        if stage == .epilog { throw failure(.unexpected("a second root")) }
        guard openElements.count < limits.depth else { throw failure(.limit("\(limits.depth) levels")) }
        let name = try scanner.name()
        var attributes: [XMLAttribute] = []
        var hasSpace = scanner.skipSpace()
        while !scanner.take(">") {
            if scanner.take("/") {
                try scanner.expect(">")
                pendingEnd = name
                break
            }
            guard hasSpace else { throw scanner.failure(.expected("a space")) }
            let start = scanner
            let (attribute, value) = try scanner.assignment()
            guard !attributes.contains(where: { Self.isSame($0.name, attribute) }) else {
                throw start.failure(.duplicateAttribute(attribute))
            }
            guard attributes.count < limits.attributes else {
                throw start.failure(.limit("\(limits.attributes) attributes"))
            }
            let text = try XMLText.read(value, as: .attribute, entities: &entities)
            attributes.append(XMLAttribute(name: attribute, value: text))
            hasSpace = scanner.skipSpace()
        }
        if pendingEnd == nil { openElements.append(name) }
        stage = openElements.isEmpty ? .epilog : .content
        return .start(name: name, attributes: attributes)
    }

    mutating func endTag(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> String {
        let name = try scanner.name()
        scanner.skipSpace()
        try scanner.expect(">")
        guard let open = openElements.popLast() else { throw failure(.unexpected("an end")) }
        guard Self.isSame(open, name) else { throw failure(.mismatchedEnd(of: open, found: name)) }
        if openElements.isEmpty { stage = .epilog }
        return name
    }

    /// To Swift one letter and the same letter with its accent apart are equal; to XML they are not.
    private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
