public import Foundation
public import ReachCore
public import ReachSerialization
public import ReachSession

// `localizedDescription` is the sentence that `description` has. It is in English.

extension RequestError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}

extension ResponseError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}

extension RequestSerializationError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}

extension HTTPHeaderError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}

extension BodyFileError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}

extension XMLError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}

extension WebAddressError: LocalizedError {
    /// The sentence for people.
    public var errorDescription: String? { description }
}
