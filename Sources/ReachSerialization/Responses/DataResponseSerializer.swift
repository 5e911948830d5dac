public import HTTPTypes

/// Checks a response and returns its body unchanged: AFHTTPResponseSerializer. There is always an object, even with an
/// error.
public struct DataResponseSerializer: ResponseSerializer {
    /// The check; by default any success of any type passes.
    public var check = ResponseCheck()

    /// Creates a serializer with the default check.
    public init() {}

    /// Returns the body, and the response's fault.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        SerializedResponse(object: .bytes(body), error: response.flatMap { check.error($0, body: body) })
    }
}
