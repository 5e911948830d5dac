public import Foundation
public import ReachCore
public import ReachSerialization

extension JSONValue {
    /// The document with the types of `JSONSerialization`: `NSNumber`, `String`, `NSNull`, `[Any]` and `[String: Any]`.
    public var foundationObject: Any {
        switch self {
        case .null: NSNull()
        case .bool(let flag): NSNumber(value: flag)
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .string(let text): text
        case .array(let elements): elements.map(\.foundationObject)
        case .object(let members): members.mapValues(\.foundationObject)
        }
    }
}

// Foundation's classes in dictionaries of the type `[String: Any]`, as `JSONSerialization` returns them.

extension NSNumber: ParameterConvertible {
    /// The number or truth value.
    public func parameterValue() -> ParameterValue? {
        // A number from an Int8 has the type i on Linux, so that c is a truth value.
        switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): .bool(boolValue)
        case UInt8(ascii: "f"): .double(Double(floatValue.description) ?? doubleValue)
        case UInt8(ascii: "d"): .double(doubleValue)
        case UInt8(ascii: "Q"): ParameterValue(uint64Value)
        default: .integer(int64Value)
        }
    }
}

extension NSNull: ParameterConvertible {
    /// Null.
    public func parameterValue() -> ParameterValue? { .null }
}

extension NSString: ParameterConvertible {
    /// The text.
    public func parameterValue() -> ParameterValue? { .string(description) }
}

extension NSDate: ParameterConvertible {
    /// As for `Date`.
    public func parameterValue() -> ParameterValue? {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate).parameterValue()
    }
}

extension NSData: ParameterConvertible {
    /// The bytes.
    public func parameterValue() -> ParameterValue? { Data(referencing: self).parameterValue() }
}

extension NSURL: ParameterConvertible {
    /// The complete URL.
    public func parameterValue() -> ParameterValue? { .string(absoluteString) }
}

extension NSArray: ParameterConvertible {
    /// An array of its elements.
    public func parameterValue() throws -> ParameterValue? { try ParameterValue(of: map { $0 }) }
}

extension NSDictionary: ParameterConvertible {
    /// A dictionary of its members; keys that are not text are left out.
    public func parameterValue() throws -> ParameterValue? {
        var members: [String: Any] = [:]
        for (key, value) in self { if let name = key as? String { members[name] = value } }
        return try ParameterValue(of: members)
    }
}
