/// Checks a response and leaves its body as it is: AFHTTPResponseSerializer. There is always an object, also with an
/// error.
public struct DataResponseSerializer: ResponseSerializer {
    /// Any success, of any type, unless set.
    public var check = ResponseCheck()

    /// With the checks as they are by default.
    public init() {}

    /// The body, and what is wrong with the response.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        SerializedResponse(object: .bytes(body), error: response.flatMap { check.error($0, body: body) })
    }
}
