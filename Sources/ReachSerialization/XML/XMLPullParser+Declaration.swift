extension XMLPullParser {
    mutating func instruction(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> Step {
        let isFirst = droppedBytes == 0 && position == 0
        let target = try scanner.name()
        let hasSpace = scanner.skipSpace()
        let piece = try scanner.text(before: "?>")
        guard hasSpace || piece.isEmpty else { throw failure(.expected("a space")) }
        guard target.lowercased() == "xml" else {
            let data = try XMLText.read(piece, as: .characterData, entities: &entities)
            return .event(.instruction(target: target, data: data))
        }
        guard isFirst, target == "xml" else { throw failure(.unexpected("an XML declaration")) }
        let end = scanner.index
        try declaration(piece)
        // Names no other than what is read already, or one byte for a character: only then do the bytes after it
        // change.
        if transcoder?.encoding == .latin1 {
            let rest = Array(bytes[end...])
            bytes.removeSubrange(end...)
            if namedEncoding.flatMap(TextEncoding.init(named:)) == .latin1 { bytes += rest } else { transcode(rest) }
        }
        return .nothing
    }

    /// The XML declaration (section 2.8): version, encoding, standalone, in this order.
    private mutating func declaration(_ piece: ArraySlice<UInt8>) throws(XMLScanner.Failure) {
        var scanner = XMLScanner(piece)
        var expected = ["version", "encoding", "standalone"][...]
        while !scanner.isAtEnd {
            let (name, value) = try scanner.assignment()
            guard let place = expected.firstIndex(of: name), name == "version" || expected.first != "version" else {
                throw failure(.unexpected("'\(name)'"))
            }
            expected = expected[(place + 1)...]
            let text = String(decoding: value, as: UTF8.self)
            switch name {
            case "version": if !text.hasPrefix("1.") { throw failure(.unexpected("a version other than 1.0")) }
            case "standalone": if text != "yes", text != "no" { throw failure(.expected("'yes' or 'no'")) }
            default: try setEncoding(text)
            }
            guard scanner.skipSpace() || scanner.isAtEnd else { throw failure(.expected("a space")) }
        }
        if expected.first == "version" { throw failure(.expected("a version")) }
    }

    private mutating func setEncoding(_ name: String) throws(XMLScanner.Failure) {
        let isNamedElsewhere = namedEncoding.flatMap(TextEncoding.init(named:)) != nil
        guard transcoder?.encoding == .utf8, !isNamedElsewhere else { return }
        switch TextEncoding(named: name) {
        case .utf8: break
        case .latin1: transcoder = UTF8Transcoder(.latin1)
        default: throw failure(.unknownEncoding(name))
        }
    }
}
