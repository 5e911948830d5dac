internal import ReachCore

/// The reason why bytes are no XML document, or an unsupported one, with the position.
public struct XMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Fault: Error, Hashable, Sendable {
        /// Something else is expected here; in words.
        case expected(String)
        /// Something is not allowed here; in words.
        case unexpected(String)
        /// An end tag that does not match the last start tag.
        case mismatchedEnd(of: String, found: String)
        /// A duplicate attribute in one element.
        case duplicateAttribute(String)
        /// A reference to an entity that the document itself does not declare.
        case unknownEntity(String)
        /// An external entity: nothing is ever fetched.
        case externalEntity(String)
        /// An entity that contains elements, or itself. Only entities with text are supported.
        case refusedEntity(String)
        /// A limit is exceeded; in words.
        case limit(String)
        /// The bytes are invalid in the document's encoding.
        case badEncoding
        /// The encoding is not supported.
        case unknownEncoding(String)
    }

    /// The fault.
    public let fault: Fault
    /// The offset of the fault in the text as UTF-8, in bytes.
    public let offset: Int
    /// The line, from 1.
    public let line: Int

    /// The position and a sentence, safe to display.
    public var description: String { "line \(line): \(sentence)" }

    private var sentence: String {
        switch fault {
        case .expected(let what): "\(what) expected"
        case .unexpected(let what): "\(what) cannot stand here"
        case .mismatchedEnd(let name, let found):
            "the end of '\(DisplayText.sanitized(name))' expected, not of '\(DisplayText.sanitized(found))'"
        case .duplicateAttribute(let name): "the attribute '\(DisplayText.sanitized(name))' a second time"
        case .unknownEntity(let name): "no entity '\(DisplayText.sanitized(name))' was declared"
        case .externalEntity(let name): "the entity '\(DisplayText.sanitized(name))' is in another document"
        case .refusedEntity(let name): "the entity '\(DisplayText.sanitized(name))' is not plain text"
        case .limit(let what): "more than \(what)"
        case .badEncoding: "not text in its encoding"
        case .unknownEncoding(let name): "the encoding '\(DisplayText.sanitized(name))' is not read"
        }
    }
}

/// The limits on an XML document.
public struct XMLLimits: Hashable, Sendable {
    /// The maximum depth of nested elements.
    public var depth = 256
    /// The maximum number of bytes of a tag with its attributes, a comment, an instruction, or a document type with its
    /// declarations.
    public var markupBytes = 1 << 20
    /// The maximum number of attributes of one element. The search for duplicates takes quadratic time.
    public var attributes = 256
    /// The maximum total size of expanded entities in the document, in bytes.
    public var entityBytes = 1 << 16

    /// The default limits.
    public init() {}
}
