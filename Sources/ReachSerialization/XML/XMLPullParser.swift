/// Reads an XML 1.0 document as it comes, and tells what it says when asked: a document larger than memory is no
/// problem.
///
///     var parser = XMLPullParser(body)
///     while let event = try parser.next() { ... }
///
/// It checks that the document is well-formed. It does not validate, does not resolve namespaces (names keep their
/// prefixes), and fetches nothing from anywhere. UTF-8, UTF-16, US-ASCII and ISO 8859-1 are read. What a document may
/// cost is bounded by ``XMLLimits``, so it may come from anybody.
public struct XMLPullParser: Sendable {
    enum Stage {
        case prolog, content, epilog
    }

    let limits: XMLLimits
    let namedEncoding: String?
    var transcoder: UTF8Transcoder?
    /// What came before the encoding was known.
    private var start: [UInt8] = []
    var bytes: [UInt8] = []
    var position = 0
    /// Of what was dropped from `bytes`.
    var droppedBytes = 0
    private var droppedLines = 0
    var isFinished = false
    var isInCharacterData = false
    var stage = Stage.prolog
    var openElements: [String] = []
    var pendingEnd: String?
    var entities: XMLEntities
    var hasDocumentType = false
    /// Markup that was not all there is not looked at again before there is this much: otherwise a byte at a time would
    /// cost the square of its length.
    var bytesWorthALook = 0
    private var error: XMLError?

    /// Reads a document that comes in pieces: give them to `append`, then call `finish`.
    ///
    /// - Parameters:
    ///   - characterSet: What the document's content type says of its encoding; it counts more than the document
    ///     itself.
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
    /// - Throws: What is wrong; the same again when asked again.
    public mutating func next() throws(XMLError) -> XMLEvent? {
        if let error { throw error }
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
            let placed = place(error)
            self.error = placed
            throw placed
        }
    }

    // MARK: - Bytes

    private mutating func chooseEncoding() {
        let detected = TextEncoding.detect(start)
        let named = namedEncoding.flatMap(TextEncoding.init(named:))
        // "utf-16" names none of the two: a mark, or the zeros, must tell.
        if detected == nil, named == nil, let name = namedEncoding {
            error = XMLError(fault: .unknownEncoding(name), offset: 0, line: 1)
        }
        let encoding = detected?.encoding ?? named ?? .utf8
        transcoder = UTF8Transcoder(encoding)
        let held = start
        start = []
        transcode(detected.map { Array(held.dropFirst($0.mark)) } ?? held)
    }

    mutating func transcode(_ piece: [UInt8]) {
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

    func failure(_ fault: XMLError.Fault) -> XMLScanner.Failure {
        XMLScanner.Failure(fault: fault, index: position)
    }

    // MARK: - Steps

    enum Step {
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
}
