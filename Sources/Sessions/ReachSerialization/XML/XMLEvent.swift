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
