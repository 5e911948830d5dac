public import FoundationEssentials
public import ReachSerialization

/// A URL in any of its types: text, Foundation's `URL`, or a ``WebAddress``.
///
/// It may also be a reference, which a session resolves against its base URL.
public protocol URLConvertible {
    /// The URL as text.
    var urlText: String { get }
}

extension String: URLConvertible {
    /// The text itself.
    public var urlText: String { self }
}

extension Substring: URLConvertible {
    /// The text itself.
    public var urlText: String { String(self) }
}

extension URL: URLConvertible {
    /// The complete URL, if it has a base; else the URL or reference that it is.
    public var urlText: String { absoluteString }
}

extension WebAddress: URLConvertible {
    /// The complete URL.
    public var urlText: String { description }
}
