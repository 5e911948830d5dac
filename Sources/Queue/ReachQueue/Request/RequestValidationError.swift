/// Why a request cannot be queued as it was written: the client has to change it.
package struct RequestValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which part of the request is wrong.
    package struct Field: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        package init(stringLiteral name: String) { rawValue = name }

        package static let url: Field = "url"
        package static let method: Field = "method"
        package static let header: Field = "header"
        package static let body: Field = "body"
        package static let condition: Field = "when"
        package static let timeToLive: Field = "expires"
        package static let priority: Field = "priority"
        package static let orderKey: Field = "order"
        package static let uniqueness: Field = "key"
        package static let mode: Field = "mode"
        package static let maximumAttempts: Field = "max-attempts"
        package static let acceptedStatuses: Field = "accept"
        package static let timeouts: Field = "timeouts"
        package static let tag: Field = "tag"
        package static let interceptor: Field = "interceptor"
        package static let uploadProtocol: Field = "upload-protocol"
        package static let proxy: Field = "proxy"
    }

    package let field: Field
    /// A sentence for people, which names the text at fault.
    package let description: String

    package init(_ field: Field, _ description: String) {
        self.field = field
        self.description = description
    }
}
