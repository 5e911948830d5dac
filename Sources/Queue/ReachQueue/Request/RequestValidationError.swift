/// Why a request cannot be queued as it was written: the client has to change it.
package struct RequestValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which part of the request is wrong.
    package enum Field: String, Hashable, Sendable {
        case url
        case method
        case header
        case body
        case condition = "when"
        case timeToLive = "expires"
        case priority
        case orderKey = "order"
        case uniqueness = "key"
        case mode
        case maximumAttempts = "max-attempts"
        case acceptedStatuses = "accept"
        case timeouts
        case tag
        case interceptor
        case uploadProtocol = "upload-protocol"
        case proxy
    }

    package let field: Field
    /// A sentence for people, which names the text at fault.
    package let description: String

    package init(_ field: Field, _ description: String) {
        self.field = field
        self.description = description
    }
}
