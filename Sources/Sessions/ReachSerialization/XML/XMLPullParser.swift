internal import Synchronization

/// Parses an XML 1.0 document incrementally, and returns its events on request. The document may be larger than memory.
///
///     var parser = XMLPullParser(body)
///     while let event = try parser.next() { ... }
///
/// expat does the parsing. It checks that the document is well-formed. It does not validate, does not resolve
/// namespaces (names keep their prefixes), and never fetches anything. UTF-8, UTF-16, UTF-32, US-ASCII and ISO 8859-1
/// are supported. ``XMLLimits`` bounds the cost of a document, so untrusted documents are safe to parse.
///
/// A copy of a parser with a whole document continues independently. Copies of a parser that receives pieces share one
/// reading, since no one keeps the pieces.
public struct XMLPullParser: Sendable {
    /// The size of the parts in which a whole document is parsed, so that its events are not all in memory at once.
    private static let partBytes = 64 * 1024

    private let characterSet: String?
    private let limits: XMLLimits
    /// The whole document, or the pieces appended since the last call of `next`.
    private var bytes: [UInt8] = []
    private let isWhole: Bool
    /// The number of bytes of `bytes` already parsed.
    private var readBytes = 0
    private var isFinished = false
    private var hasReadEnd = false
    private var reading: SharedReading?
    private var events: ArraySlice<XMLReading.PlacedEvent> = []
    private var error: XMLError?
    /// The line of the last event returned by `next`, from 1.
    private(set) var line = 1

    /// Creates a parser for a document that arrives in pieces: pass them to `append`, then call `finish`.
    ///
    /// - Parameters:
    ///   - characterSet: The encoding in the document's content type; it takes precedence over the declaration in the
    ///     document.
    ///   - limits: The limits on the document.
    public init(characterSet: String? = nil, limits: XMLLimits = XMLLimits()) {
        self.init([], isWhole: false, characterSet: characterSet, limits: limits)
    }

    /// Creates a parser for a whole document.
    public init(_ document: [UInt8], characterSet: String? = nil, limits: XMLLimits = XMLLimits()) {
        self.init(document, isWhole: true, characterSet: characterSet, limits: limits)
    }

    private init(_ bytes: [UInt8], isWhole: Bool, characterSet: String?, limits: XMLLimits) {
        self.bytes = bytes
        self.isWhole = isWhole
        self.characterSet = characterSet
        self.limits = limits
        isFinished = isWhole
    }

    /// Appends a piece of the document. Has no effect once the document is whole.
    public mutating func append(_ piece: [UInt8]) {
        if !isFinished { bytes += piece }
    }

    /// Marks the end of the document.
    public mutating func finish() { isFinished = true }

    /// Returns the next event of the document.
    ///
    /// - Returns: `nil` if more bytes are needed, and, after `finish`, at the end of the document.
    /// - Throws: The fault of the document; further calls throw it again.
    public mutating func next() throws(XMLError) -> XMLEvent? {
        while true {
            if let event = events.popFirst() {
                line = event.line
                return event.event
            }
            if let error {
                line = error.line
                throw error
            }
            guard readBytes < bytes.count || isFinished && !hasReadEnd else { return nil }
            readPart()
        }
    }

    private mutating func readPart() {
        let end = min(readBytes + Self.partBytes, bytes.count)
        let isLast = isFinished && end == bytes.count
        let result = ownReading().read(bytes[readBytes..<end], isLast: isLast)
        readBytes = end
        hasReadEnd = isLast
        events = result.events[...]
        error = result.error
        if !isWhole, readBytes == bytes.count {
            bytes = []
            readBytes = 0
        }
    }

    /// The reading that belongs to this copy of the parser. expat's state cannot be copied: if a copy shares it, it is
    /// rebuilt from the document.
    private mutating func ownReading() -> SharedReading {
        if reading != nil, !isWhole || isKnownUniquelyReferenced(&reading), let reading { return reading }
        let reading = SharedReading(characterSet: characterSet, limits: limits)
        for start in stride(from: 0, to: isWhole ? readBytes : 0, by: Self.partBytes) {
            _ = reading.read(bytes[start..<min(start + Self.partBytes, readBytes)], isLast: false)
        }
        self.reading = reading
        return reading
    }
}

/// A reading that copies of a parser on several threads can share.
private final class SharedReading: Sendable {
    private let reading: Mutex<XMLReading>

    init(characterSet: String?, limits: XMLLimits) {
        reading = Mutex(XMLReading(characterSet: characterSet, limits: limits))
    }

    func read(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> XMLReading.Result {
        reading.withLock { $0.read(bytes, isLast: isLast) }
    }
}
