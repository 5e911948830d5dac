public import HTTPTypes
internal import ReachCore

/// A response is not acceptable. The error contains the response, so that its content can still be read.
public struct ResponseError: Error, Sendable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Fault: Hashable, Sendable {
        /// The server did not do what was asked. The status says whether to try again.
        case unacceptableStatus(Int)
        /// Something else answered, perhaps a captive portal: trying again does not help until it is gone. `nil` if the
        /// response has no type.
        case unacceptableContentType(String?)
        /// The body is not of the expected format; the reason includes the position.
        case undecodable(format: String, reason: String)
    }

    /// The fault.
    public let fault: Fault
    /// The head of the response, if there was one.
    public let response: HTTPResponse?
    /// The whole body.
    public let body: [UInt8]
    /// A further fault. A wrong content type is the underlying error of a wrong status, and both are of an undecodable
    /// body.
    public var underlying: ResponseError? { chain.first }

    /// What the serializer's own code threw, such as a `DecodingError`.
    public let cause: (any Error)?

    private let chain: [ResponseError]

    /// Creates the error of a response, as a custom ``ResponseSerializer`` returns it.
    ///
    ///     ResponseError(.undecodable(format: "a bitmap", reason: "no header"), response: response, body: body)
    ///
    /// - Parameters:
    ///   - fault: The fault, from which the stable word follows.
    ///   - response: The head of the response, if there was one.
    ///   - body: The whole body.
    ///   - underlying: A further fault, such as that of ``ResponseCheck/error(_:body:)``.
    ///   - cause: What the serializer's own code threw.
    public init(
        _ fault: Fault, response: HTTPResponse?, body: [UInt8], underlying: ResponseError? = nil,
        cause: (any Error)? = nil
    ) {
        self.cause = cause
        self.fault = fault
        self.response = response
        self.body = body
        chain = underlying.map { [$0] } ?? []
    }

    /// A stable word for programs.
    public var word: String {
        switch fault {
        case .unacceptableStatus: "bad-status"
        case .unacceptableContentType: "bad-content-type"
        case .undecodable: "undecodable"
        }
    }

    /// A sentence for people, safe to display.
    public var description: String {
        switch fault {
        case .unacceptableStatus(let code):
            "the server answered \(StatusCodes.phrase(code).map { "\($0) " } ?? "")(\(code))"
        case .unacceptableContentType(let type?):
            "the server answered with content of type \(DisplayText.sanitized(type)), which was not asked for"
        case .unacceptableContentType(nil): "the server answered with content of no type"
        case .undecodable(let format, let reason): "the body is not \(format): \(reason)"
        }
    }

    /// Whether this fault, or an underlying one, is the content type.
    var hasWrongContentType: Bool {
        if case .unacceptableContentType = fault { return true }
        return underlying?.hasWrongContentType ?? false
    }
}
