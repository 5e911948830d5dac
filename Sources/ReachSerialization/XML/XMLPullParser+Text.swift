extension XMLPullParser {
    mutating func text() throws(XMLScanner.Failure) -> Step {
        let end = bytes[position...].firstIndex(of: UInt8(ascii: "<"))
        guard let cut = end ?? (isFinished ? bytes.count : safeCut()) else { return .needsMore }
        let piece = bytes[position..<cut]
        guard stage == .content else {
            guard piece.allSatisfy(XMLCharacters.isSpace) else { throw failure(.unexpected("text outside the root")) }
            position = cut
            return .nothing
        }
        let text = try XMLText.read(piece, as: .content, entities: &entities)
        position = cut
        return .event(.text(text))
    }

    mutating func characterData() throws(XMLScanner.Failure) -> Step {
        var scanner = XMLScanner(bytes[position...])
        if let piece = try? scanner.text(before: "]]>") {
            let text = try XMLText.read(piece, as: .characterData, entities: &entities)
            position = scanner.index
            isInCharacterData = false
            return text.isEmpty ? .nothing : .event(.text(text))
        }
        if isFinished { throw failure(.expected("']]>'")) }
        guard let cut = safeCut() else { return .needsMore }
        let text = try XMLText.read(bytes[position..<cut], as: .characterData, entities: &entities)
        position = cut
        return .event(.text(text))
    }

    /// Where text can be cut whose end has not come: neither in a character nor in a line end, a reference, or "]]>".
    private func safeCut() -> Int? {
        var cut = bytes.count
        // References are short; an "&" farther back belongs to none, and is told as a fault later.
        if !isInCharacterData, let mark = bytes[position...].suffix(256).lastIndex(of: UInt8(ascii: "&")),
            !bytes[mark...].contains(UInt8(ascii: ";"))
        {
            cut = mark
        }
        while cut > position, bytes[cut - 1] == 0xd || bytes[cut - 1] == UInt8(ascii: "]") { cut -= 1 }
        let lead = bytes[position..<cut].suffix(4).lastIndex { $0 & 0xc0 != 0x80 }
        if let lead, bytes[lead] >= 0xc0 {
            let length = bytes[lead] >= 0xf0 ? 4 : bytes[lead] >= 0xe0 ? 3 : 2
            if cut - lead < length { cut = lead }
        }
        return cut > position ? cut : nil
    }
}
