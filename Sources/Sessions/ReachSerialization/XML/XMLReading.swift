internal import ReachCore

/// Feeds one document to expat: determines its encoding, and passes on pieces that are worth parsing.
final class XMLReading {
    struct PlacedEvent: Sendable {
        var event: XMLEvent
        /// The line from 1; for text the line of its end.
        let line: Int
    }

    struct Result: Sendable {
        var events: [PlacedEvent] = []
        /// The fault after these events.
        var error: XMLError?
    }

    /// The number of bytes within which a declaration that names an encoding ends.
    private static let declarationBytes = 256

    private let characterSet: String?
    private let limits: XMLLimits
    private var parser: ExpatParser?
    private var transcoder = UTF8Transcoder(.utf8)
    /// The bytes received before the encoding was known; later those that expat has not received.
    private var pending: [UInt8] = []
    /// The number of pending bytes at which expat is called again. An incomplete tag is parsed again only after this
    /// much more has arrived; otherwise a document that arrives byte by byte would take quadratic time.
    private var parseThreshold = 1

    init(characterSet: String?, limits: XMLLimits) {
        self.characterSet = characterSet
        self.limits = limits
    }

    func read(_ piece: ArraySlice<UInt8>, isLast: Bool) -> Result {
        if parser == nil {
            pending += piece
            guard isLast || hasDeclaration else { return Result() }
            do throws(XMLError) {
                parser = try chooseEncoding()
            } catch {
                return Result(error: error)
            }
        } else {
            transcoder.append(piece, to: &pending)
        }
        guard let parser, isLast || pending.count >= parseThreshold else { return Result() }
        let bytes = pending
        pending = []
        // With half a character at the end expat could not judge the end of the document.
        let isCut = isLast && transcoder.isIncomplete
        var result = parser.read(bytes, isLast: isLast && !isCut)
        if isCut, result.error == nil { result.error = parser.error(.badEncoding) }
        parseThreshold = parser.heldBytes < 4096 ? 1 : parser.heldBytes / 2
        return result
    }

    /// Whether enough bytes have arrived to determine the encoding: the whole declaration, or something else.
    private var hasDeclaration: Bool {
        if pending.count >= Self.declarationBytes { return true }
        guard pending.count >= 5 else { return false }
        // Byte order marks and zeros indicate an encoding by themselves.
        return TextEncoding.detect(pending) != nil || !pending.starts(with: "<?xml".utf8)
            || pending.contains(UInt8(ascii: ">"))
    }

    private func chooseEncoding() throws(XMLError) -> ExpatParser {
        let detected = TextEncoding.detect(pending)
        let named = characterSet.flatMap(TextEncoding.init(named:))
        // "utf-16" does not name a byte order: a mark, or the zeros, must decide.
        if detected == nil, named == nil, let characterSet {
            throw XMLError(fault: .unknownEncoding(characterSet), offset: 0, line: 1)
        }
        let declared = declaredEncoding
        let encoding = detected?.encoding ?? named ?? declared.flatMap(TextEncoding.init(named:))
        // A declaration readable as ASCII cannot truly name an encoding with several bytes per character.
        let supported = detected == nil && named == nil && encoding != .utf8 && encoding != .latin1 ? nil : encoding
        transcoder = UTF8Transcoder(supported ?? .utf8)
        let held = pending[(detected?.mark ?? 0)...]
        pending = []
        transcoder.append(held, to: &pending)
        return ExpatParser(isUTF8: supported != nil, declaredEncoding: declared, limits: limits)
    }

    /// The value of `encoding` in the first tag. expat checks whether the declaration is valid.
    private var declaredEncoding: String? {
        guard pending.starts(with: "<?xml".utf8) else { return nil }
        let start = pending.prefix(Self.declarationBytes)
        let words = String(decoding: start.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
            .splitScalars { $0 == "=" || $0 == "\"" || $0 == "'" || $0.isBlank }
        guard let name = words.firstIndex(of: "encoding"), name + 1 < words.count else { return nil }
        return String(words[name + 1])
    }
}

/// An event of an XML document.
public enum XMLEvent: Hashable, Sendable {
    /// The start of an element. An empty element is followed by its end at once.
    case start(name: String, attributes: [XMLAttribute])
    /// The end of the element that began last.
    case end(name: String)
    /// Text of an element, with references resolved and CDATA sections included. Long text comes in several events.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
}

/// An attribute of an element. Names include their prefixes.
public struct XMLAttribute: Hashable, Sendable {
    /// The name, including its prefix.
    public let name: String
    /// The value, with references resolved, and line ends and tabs replaced by spaces.
    public let value: String

    /// Creates an attribute.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
