internal import Synchronization

/// Reads an XML 1.0 document as it comes, and returns its events when asked: a document larger than memory is no
/// problem.
///
///     var parser = XMLPullParser(body)
///     while let event = try parser.next() { ... }
///
/// expat does the reading. It checks that the document is well-formed. It does not validate, does not resolve
/// namespaces (names keep their prefixes), and fetches nothing from anywhere. UTF-8, UTF-16, UTF-32, US-ASCII and ISO 8859-1 are
/// read. What a document may cost is bounded by ``XMLLimits``, so it may come from anybody.
///
/// A copy of a parser that has its whole document reads on by itself. Copies of a parser that is given pieces share one
/// reading, since no one keeps the pieces.
public struct XMLPullParser: Sendable {
    /// A whole document is read in parts of this many bytes, so that its events do not all stand in memory at once.
    private static let partBytes = 64 * 1024

    private let characterSet: String?
    private let limits: XMLLimits
    /// The whole document, or the pieces that came since the last call of `next`.
    private var bytes: [UInt8] = []
    private let isWhole: Bool
    /// How many of `bytes` were read.
    private var readBytes = 0
    private var isFinished = false
    private var hasReadEnd = false
    private var reading: SharedReading?
    private var events: ArraySlice<XMLReading.PlacedEvent> = []
    private var error: XMLError?
    /// The line of the event that `next` returned last, from 1 on.
    private(set) var line = 1

    /// Reads a document that comes in pieces: give them to `append`, then call `finish`.
    ///
    /// - Parameters:
    ///   - characterSet: The encoding that the document's content type names; it counts more than the document itself.
    ///   - limits: What the document may cost.
    public init(characterSet: String? = nil, limits: XMLLimits = XMLLimits()) {
        self.init([], isWhole: false, characterSet: characterSet, limits: limits)
    }

    /// Reads a document that is all there.
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

    /// More of the document. Does nothing once the document is whole.
    public mutating func append(_ piece: [UInt8]) {
        if !isFinished { bytes += piece }
    }

    /// There is no more.
    public mutating func finish() { isFinished = true }

    /// The next event of the document.
    ///
    /// - Returns: `nil` where more bytes are needed, and, after `finish`, at the document's end.
    /// - Throws: What is wrong; the same again when asked again.
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

    /// expat's state cannot be copied: where a copy of this parser uses it too, it is made again from the document.
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

/// Copies of a parser may be on several threads.
private final class SharedReading: Sendable {
    private let reading: Mutex<XMLReading>

    init(characterSet: String?, limits: XMLLimits) {
        reading = Mutex(XMLReading(characterSet: characterSet, limits: limits))
    }

    func read(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> XMLReading.Result {
        reading.withLock { $0.read(bytes, isLast: isLast) }
    }
}
