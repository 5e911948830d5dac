internal import Foundation
public import HTTPTypes
internal import ReachCore
public import ReachSerialization

/// Decodes property lists, XML or binary: AFPropertyListResponseSerializer.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// The check; by default successes of type application/x-plist pass.
    public var check = ResponseCheck(acceptableContentTypes: ["application/x-plist"])

    /// Creates a serializer with the default check.
    public init() {}

    /// Returns the list, and its fault or the response's.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.serialize(response, body: body, format: "a property list") { body, _ throws(ResponseDecodingError) in
            do {
                return .custom(try PropertyListValue(body))
            } catch {
                throw ResponseDecodingError(description: DisplayText.sanitized(Self.reason(error)))
            }
        }
    }

    /// Foundation's sentence, which it wraps twice.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context):
            context.underlyingError.map(reason) ?? context.debugDescription
        case let error as CocoaError: error.userInfo[NSDebugDescriptionErrorKey] as? String ?? "\(error)"
        default: "\(error)"
        }
    }
}

extension ResponseObject {
    /// The property list, if it is one.
    public var propertyList: PropertyListValue? {
        guard case .custom(let value) = self else { return nil }
        return value as? PropertyListValue
    }
}
