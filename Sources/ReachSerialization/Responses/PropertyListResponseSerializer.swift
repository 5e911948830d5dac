/// Decodes property lists, XML or binary: AFPropertyListResponseSerializer.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// The check; by default successes of type application/x-plist pass.
    public var check = ResponseCheck(acceptableContentTypes: ["application/x-plist"])

    /// Creates a serializer with the default check.
    public init() {}

    /// Returns the list, and its fault or the response's.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.serialize(response, body: body, format: "a property list") { body, _ throws(ResponseDecodingError) in
            do throws(PropertyListError) {
                return .propertyList(try PropertyListValue(body))
            } catch {
                throw ResponseDecodingError(description: error.description)
            }
        }
    }
}
