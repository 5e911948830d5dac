extension XMLPullParser {
    mutating func markup() throws(XMLScanner.Failure) -> Step {
        let held = bytes.count - position
        if held < bytesWorthALook, !isFinished { return .needsMore }
        var scanner = XMLScanner(bytes[position...])
        // The longest beginning that tells what follows is "<![CDATA[".
        if held < 9, !isFinished, bytes[position...].dropFirst().first.map({ "!?".utf8.contains($0) }) ?? true {
            return .needsMore
        }
        if stage == .content, scanner.take("<![CDATA[") {
            position = scanner.index
            isInCharacterData = true
            return .nothing
        }
        guard let end = markupEnd() else {
            if held > limits.markupBytes { throw failure(.limit("\(limits.markupBytes) bytes of markup")) }
            if isFinished { throw failure(.expected("the end of the markup")) }
            bytesWorthALook = held < 4096 ? 0 : held + held / 2
            return .needsMore
        }
        bytesWorthALook = 0
        if end - position > limits.markupBytes { throw failure(.limit("\(limits.markupBytes) bytes of markup")) }
        let step = try read(bytes[position..<end])
        position = end
        return step
    }

    private func markupEnd() -> Int? {
        var scanner = XMLScanner(bytes[position...])
        if scanner.take("<!--") { return (try? scanner.text(before: "-->")) == nil ? nil : scanner.index }
        if scanner.take("<?") { return (try? scanner.text(before: "?>")) == nil ? nil : scanner.index }
        if scanner.take("<!") { return XMLDocumentType.end(of: bytes[position...]) }
        var quote: UInt8?
        for index in position..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return index + 1
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
        }
        return nil
    }

    private mutating func read(_ markup: ArraySlice<UInt8>) throws(XMLScanner.Failure) -> Step {
        var scanner = XMLScanner(markup)
        if scanner.take("<!--") { return .event(.comment(try comment(&scanner))) }
        if scanner.take("<?") { return try instruction(&scanner) }
        if scanner.take("<!") {
            guard stage == .prolog, !hasDocumentType else { throw failure(.unexpected("a declaration")) }
            hasDocumentType = true
            try XMLDocumentType.read(markup, into: &entities)
            return .nothing
        }
        if scanner.take("</") { return .event(.end(name: try endTag(&scanner))) }
        return .event(try startTag(&scanner))
    }

    private mutating func comment(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> String {
        let piece = try scanner.text(before: "-->")
        var inside = XMLScanner(piece)
        if (try? inside.text(before: "--")) != nil || piece.last == UInt8(ascii: "-") {
            throw failure(.unexpected("'--' in a comment"))
        }
        return try XMLText.read(piece, as: .characterData, entities: &entities)
    }
}
