/// Asks one serializer after the other, and takes the first object: AFCompoundResponseSerializer.
///
/// Where none makes an object, the bytes are the object, and the error is what its own check finds, not what the others
/// found.
public struct CompoundResponseSerializer: ResponseSerializer {
    /// In the order in which they are asked.
    public var serializers: [any ResponseSerializer]
    /// For when none of them makes an object.
    public var check = ResponseCheck()

    /// - Parameter serializers: In the order in which they are asked.
    public init(_ serializers: [any ResponseSerializer]) { self.serializers = serializers }

    /// The first object that a serializer makes, with its error.
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
