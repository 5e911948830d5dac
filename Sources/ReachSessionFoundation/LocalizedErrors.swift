public import Foundation
public import ReachCore
public import ReachSerialization
public import ReachSession

// `localizedDescription` is the sentence that `description` has. It is in English.

extension RequestError: LocalizedError {
    public var errorDescription: String? { description }
}

extension ResponseError: LocalizedError {
    public var errorDescription: String? { description }
}

extension RequestSerializationError: LocalizedError {
    public var errorDescription: String? { description }
}

extension HTTPHeaderError: LocalizedError {
    public var errorDescription: String? { description }
}

extension BodyFileError: LocalizedError {
    public var errorDescription: String? { description }
}

extension XMLError: LocalizedError {
    public var errorDescription: String? { description }
}

extension WebAddressError: LocalizedError {
    public var errorDescription: String? { description }
}
