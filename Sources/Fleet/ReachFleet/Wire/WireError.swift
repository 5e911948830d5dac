internal import ReachCore

/// The reason why bytes from the engine are not a value of the fleet. Any host may have written them, so a reader
/// counts such a message and continues.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More bytes than such a value has.
    case tooLarge(limit: Int)
    /// Not one JSON object.
    case notAnObject(String)
    /// A key of the object is missing, or has another type or a value that it cannot have.
    case badKey(String)
    /// A header of the message is missing, or is not what it should be.
    case badHeader(String)
    /// A newer version of the format, of which nothing may be assumed.
    case unknownVersion

    package var description: String {
        switch self {
        case .tooLarge(let limit): "more than \(limit) bytes"
        case .notAnObject(let why): "not a JSON object: \(why)"
        case .badKey(let key): "'\(DisplayText.sanitized(key))' is missing or not as it should be"
        case .badHeader(let name): "the header '\(name)' is missing or not as it should be"
        case .unknownVersion: "the format is of a newer version"
        }
    }
}
