public import HTTPTypes

/// Tries several serializers in order, and returns the first object: AFCompoundResponseSerializer.
///
/// If none returns an object, the bytes are the object, and the error is that of its own check, not of the serializers.
public struct CompoundResponseSerializer: ResponseSerializer {
    /// The serializers in the order in which they are tried.
    public var serializers: [any ResponseSerializer]
    /// The check that applies if none of them returns an object.
    public var check = ResponseCheck()

    /// Creates a compound serializer.
    ///
    /// - Parameter serializers: The serializers in the order in which they are tried.
    public init(_ serializers: [any ResponseSerializer]) { self.serializers = serializers }

    /// Returns the first object of a serializer, with its error.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        for serializer in serializers {
            let result = serializer.serialize(response, body: body)
            if result.object != nil { return result }
        }
        var plain = DataResponseSerializer()
        plain.check = check
        return plain.serialize(response, body: body)
    }
}
