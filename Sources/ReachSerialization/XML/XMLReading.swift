/// One document on its way into expat: chooses its encoding, and hands over pieces that are worth a look.
final class XMLReading {
    struct PlacedEvent: Sendable {
        var event: XMLEvent
        /// From 1 on; where a text ends.
        let line: Int
    }

    struct Result: Sendable {
        var events: [PlacedEvent] = []
        /// What is wrong after these events.
        var error: XMLError?
    }

    /// A declaration that names an encoding ends within this many bytes.
    private static let declarationBytes = 256

    private let characterSet: String?
    private let limits: XMLLimits
    private var parser: ExpatParser?
    private var transcoder = UTF8Transcoder(.utf8)
    /// What came before the encoding was known, then what expat has not seen.
    private var pending: [UInt8] = []
    /// A tag that was not all there is not looked at again before this much more came: otherwise a byte at a time would
    /// cost the square of its length.
    private var bytesWorthALook = 1

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
        guard let parser, isLast || pending.count >= bytesWorthALook else { return Result() }
        let bytes = pending
        pending = []
        // Half a character at the end is no end of a document that expat could judge.
        let isCut = isLast && transcoder.isIncomplete
        var result = parser.read(bytes, isLast: isLast && !isCut)
        if isCut, result.error == nil { result.error = parser.error(.badEncoding) }
        bytesWorthALook = parser.heldBytes < 4096 ? 1 : parser.heldBytes / 2
        return result
    }

    /// Whether enough is here to find the encoding: the declaration, or something else.
    private var hasDeclaration: Bool {
        if pending.count >= Self.declarationBytes { return true }
        guard pending.count >= 5 else { return false }
        // Marks and zeros name an encoding by themselves.
        return TextEncoding.detect(pending) != nil || !pending.starts(with: "<?xml".utf8)
            || pending.contains(UInt8(ascii: ">"))
    }

    private func chooseEncoding() throws(XMLError) -> ExpatParser {
        let detected = TextEncoding.detect(pending)
        let named = characterSet.flatMap(TextEncoding.init(named:))
        // "utf-16" names none of the two: a mark, or the zeros, must decide.
        if detected == nil, named == nil, let characterSet {
            throw XMLError(fault: .unknownEncoding(characterSet), offset: 0, line: 1)
        }
        let declared = declaredEncoding
        let encoding = detected?.encoding ?? named ?? declared.flatMap(TextEncoding.init(named:))
        // A declaration that can be read names no encoding of several bytes a character.
        let known = detected == nil && named == nil && encoding != .utf8 && encoding != .latin1 ? nil : encoding
        transcoder = UTF8Transcoder(known ?? .utf8)
        let held = pending[(detected?.mark ?? 0)...]
        pending = []
        transcoder.append(held, to: &pending)
        return ExpatParser(isUTF8: known != nil, declaredEncoding: declared, limits: limits)
    }

    /// What stands in quotes after `encoding` in the first tag. Whether the declaration is right is for expat to say.
    private var declaredEncoding: String? {
        guard pending.starts(with: "<?xml".utf8) else { return nil }
        let start = pending.prefix(Self.declarationBytes)
        let words = String(decoding: start.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
            .split { "=\"'".contains($0) || $0.isWhitespace }
        guard let name = words.firstIndex(of: "encoding"), name + 1 < words.count else { return nil }
        return String(words[name + 1])
    }
}
