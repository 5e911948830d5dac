internal import ReachCore

/// A response is not what was asked for. It carries the response, so that what the server said can still be read.
public struct ResponseError: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Fault: Hashable, Sendable {
        /// The server did not do what was asked: whether to try again depends on the status.
        case unacceptableStatus(Int)
        /// Something else answered, perhaps a portal: to try again is of no use while it does. `nil` for none named.
        case unacceptableContentType(String?)
        /// The body is not of the format that it should have; where and why.
        case undecodable(format: String, reason: String)
    }

    /// What is wrong.
    public let fault: Fault
    /// The head, if there was one.
    public let response: HTTPResponse?
    /// The whole body.
    public let body: [UInt8]
    /// What is wrong besides. A wrong content type stands behind a wrong status, and both behind an undecodable body.
    public var underlying: ResponseError? { chain.first }

    private let chain: [ResponseError]

    init(_ fault: Fault, response: HTTPResponse?, body: [UInt8], underlying: ResponseError? = nil) {
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

    /// A sentence for people, safe to show.
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

    /// Whether this fault, or one behind it, is the content type.
    var hasWrongContentType: Bool {
        if case .unacceptableContentType = fault { return true }
        return underlying?.hasWrongContentType ?? false
    }
}
