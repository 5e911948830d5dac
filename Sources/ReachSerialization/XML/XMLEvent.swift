/// What an XML document says, piece by piece.
public enum XMLEvent: Hashable, Sendable {
    /// An element begins. One without content is told to end at once.
    case start(name: String, attributes: [XMLAttribute])
    /// The element that began last ends.
    case end(name: String)
    /// Text of an element, references resolved, CDATA sections included. Long text comes in several of these.
    case text(String)
    /// Meant for people.
    case comment(String)
    /// Meant for certain programs.
    case instruction(target: String, data: String)
}

/// An attribute of an element. Names are as they were written, prefixes included.
public struct XMLAttribute: Hashable, Sendable {
    /// With its prefix.
    public let name: String
    /// References resolved, and line ends and tabs made spaces.
    public let value: String

    /// A name and a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
