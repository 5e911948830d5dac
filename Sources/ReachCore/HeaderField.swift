/// One header field of a request or a response, as a user wrote it or a server sent it: neither name nor value is checked
/// yet. ``RequestFieldFault`` finds what may not be sent.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Compares without regard to case, as HTTP does (RFC 9110, 5.1).
    package func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
}
