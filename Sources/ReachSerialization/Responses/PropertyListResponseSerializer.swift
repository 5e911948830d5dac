/// Reads property lists, XML or binary: AFPropertyListResponseSerializer.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// Successes of type application/x-plist, unless set.
    public var check = ResponseCheck(acceptableContentTypes: ["application/x-plist"])

    /// As it is by default.
    public init() {}

    /// The list, and what is wrong with it or the response.
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
