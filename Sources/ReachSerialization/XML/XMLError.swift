internal import ReachCore

/// Why bytes are no XML document, or none that is read here, and where.
public struct XMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Fault: Error, Hashable, Sendable {
        /// Something else is due here; in words.
        case expected(String)
        /// This may not stand here; in words.
        case unexpected(String)
        /// An end that does not fit what began last.
        case mismatchedEnd(of: String, found: String)
        /// An attribute twice in one element.
        case duplicateAttribute(String)
        /// A reference to what was not declared in the document itself.
        case unknownEntity(String)
        /// An entity from elsewhere: nothing is ever fetched.
        case externalEntity(String)
        /// An entity that stands for elements, or one that needs itself. Only entities of text are read.
        case refusedEntity(String)
        /// More than the limits allow; in words.
        case limit(String)
        /// Not in the encoding it should be in.
        case badEncoding
        /// An encoding that is not read here.
        case unknownEncoding(String)
    }

    /// What is wrong.
    public let fault: Fault
    /// Of the text as UTF-8: how many bytes come before what could not be read.
    public let offset: Int
    /// From 1 on.
    public let line: Int

    /// The place and a sentence, safe to show.
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

/// What an XML document may cost whoever reads it.
public struct XMLLimits: Hashable, Sendable {
    /// Elements within elements.
    public var depth = 256
    /// The bytes of a tag with its attributes, a comment, an instruction, or a document type with its declarations.
    public var markupBytes = 1 << 20
    /// Attributes of one element. Finding one that stands twice costs their number squared.
    public var attributes = 256
    /// What references to declared entities may come to in the whole document, in bytes.
    public var entityBytes = 1 << 16

    /// As they are by default.
    public init() {}
}
