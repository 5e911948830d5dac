/// Reads an XML 1.0 document as it comes, and tells what it says when asked: a document larger than memory is no problem.
///
///     var parser = XMLPullParser(body)
///     while let event = try parser.next() { ... }
///
/// It checks that the document is well-formed. It does not validate, does not resolve namespaces (names keep their prefixes), and
/// fetches nothing from anywhere. UTF-8, UTF-16, US-ASCII and ISO 8859-1 are read. What a document may cost is bounded by
/// ``XMLLimits``, so it may come from anybody.
public struct XMLPullParser: Sendable {
    private enum Stage {
        case prolog, content, epilog
    }

    private let limits: XMLLimits
    private let namedEncoding: String?
    private var transcoder: UTF8Transcoder?
    /// What came before the encoding was known.
    private var start: [UInt8] = []
    private var bytes: [UInt8] = []
    private var position = 0
    /// Of what was dropped from `bytes`.
    private var droppedBytes = 0
    private var droppedLines = 0
    private var isFinished = false
    private var isInCharacterData = false
    private var stage = Stage.prolog
    private var openElements: [String] = []
    private var pendingEnd: String?
    private var entities: XMLEntities
    private var hasDocumentType = false
    /// Markup that was not all there is not looked at again before there is this much: otherwise a byte at a time would
    /// cost the square of its length.
    private var bytesWorthALook = 0

    /// Reads a document that comes in pieces: give them to `append`, then call `finish`.
    ///
    /// - Parameters:
    ///   - characterSet: What the document's content type says of its encoding; it counts more than the document itself.
    ///   - limits: What the document may cost.
    public init(characterSet: String? = nil, limits: XMLLimits = XMLLimits()) {
        self.limits = limits
        namedEncoding = characterSet
        entities = XMLEntities(byteLimit: limits.entityBytes)
    }

    /// Reads a document that is all there.
    public init(_ document: [UInt8], characterSet: String? = nil, limits: XMLLimits = XMLLimits()) {
        self.init(characterSet: characterSet, limits: limits)
        append(document)
        finish()
    }

    /// More of the document.
    public mutating func append(_ piece: [UInt8]) {
        if transcoder != nil { return transcode(piece) }
        start += piece
        if start.count >= 4 { chooseEncoding() }
    }

    /// There is no more.
    public mutating func finish() {
        if transcoder == nil { chooseEncoding() }
        isFinished = true
    }

    /// The next thing that the document says.
    ///
    /// - Returns: `nil` where more bytes are needed, and, after `finish`, at the document's end.
    /// - Throws: An error once; after it nothing more can be read.
    public mutating func next() throws(XMLError) -> XMLEvent? {
        do throws(XMLScanner.Failure) {
            if let name = pendingEnd {
                pendingEnd = nil
                return .end(name: name)
            }
            while true {
                dropRead()
                switch try step() {
                case .event(let event): return event
                case .nothing: continue
                case .needsMore: return nil
                }
            }
        } catch {
            throw place(error)
        }
    }

    // MARK: - Bytes

    private mutating func chooseEncoding() {
        let detected = TextEncoding.detect(start)
        let encoding = detected?.encoding ?? namedEncoding.flatMap(TextEncoding.init(named:)) ?? .utf8
        transcoder = UTF8Transcoder(encoding)
        let held = start
        start = []
        transcode(detected.map { Array(held.dropFirst($0.mark)) } ?? held)
    }

    private mutating func transcode(_ piece: [UInt8]) {
        if bytes.isEmpty, transcoder?.encoding == .utf8 { bytes = piece } else { transcoder?.append(piece, to: &bytes) }
    }

    /// Frees what was read, once it is worth moving the rest.
    private mutating func dropRead() {
        guard position >= 64 * 1024, position > bytes.count / 2, !isFinished else { return }
        droppedLines += bytes[..<position].count { $0 == 0xa }
        droppedBytes += position
        bytes.removeFirst(position)
        position = 0
    }

    private func place(_ failure: XMLScanner.Failure) -> XMLError {
        let index = min(max(failure.index, 0), bytes.count)
        let line = droppedLines + bytes[..<index].count { $0 == 0xa } + 1
        return XMLError(fault: failure.fault, offset: droppedBytes + index, line: line)
    }

    /// The line of what comes next, from 1 on. Counts anew each time.
    var line: Int { droppedLines + bytes[..<position].count { $0 == 0xa } + 1 }

    private func failure(_ fault: XMLError.Fault) -> XMLScanner.Failure {
        XMLScanner.Failure(fault: fault, index: position)
    }

    // MARK: - Steps

    private enum Step {
        case event(XMLEvent)
        case nothing
        case needsMore
    }

    private mutating func step() throws(XMLScanner.Failure) -> Step {
        if position == bytes.count {
            if isFinished { try checkEnd() }
            return .needsMore
        }
        if isInCharacterData { return try characterData() }
        return bytes[position] == UInt8(ascii: "<") ? try markup() : try text()
    }

    private func checkEnd() throws(XMLScanner.Failure) {
        if transcoder?.isIncomplete == true { throw failure(.badEncoding) }
        if isInCharacterData { throw failure(.expected("']]>'")) }
        if let name = openElements.last { throw failure(.expected("the end of '\(name)'")) }
        if stage == .prolog { throw failure(.expected("an element")) }
    }

    // MARK: - Text

    private mutating func text() throws(XMLScanner.Failure) -> Step {
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

    private mutating func characterData() throws(XMLScanner.Failure) -> Step {
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

    // MARK: - Markup

    private mutating func markup() throws(XMLScanner.Failure) -> Step {
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

    private mutating func instruction(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> Step {
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
        // Names no other than what is read already, or one byte for a character: only then do the bytes after it change.
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

    // MARK: - Elements

    private mutating func startTag(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> XMLEvent {
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
            guard !attributes.contains(where: { $0.name == attribute }) else {
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

    private mutating func endTag(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> String {
        let name = try scanner.name()
        scanner.skipSpace()
        try scanner.expect(">")
        guard let open = openElements.popLast() else { throw failure(.unexpected("an end")) }
        guard open == name else { throw failure(.mismatchedEnd(of: open, found: name)) }
        if openElements.isEmpty { stage = .epilog }
        return name
    }
}
