internal import HTTPTypes
internal import ReachSerialization
internal import Synchronization

/// The headers of a session, which any thread may change.
final class SessionHeaders: Sendable {
    private let headers = Mutex(HTTPFields())

    var current: HTTPFields { headers.withLock { $0 } }

    func change<Failure: Error>(_ change: (inout HTTPFields) throws(Failure) -> Void) throws(Failure) {
        try headers.withLock { (headers) throws(Failure) in try change(&headers) }
    }
}

extension WebRequest {
    /// Adds a session's headers, in place of those of the same name.
    mutating func add(_ more: HTTPFields) { headerFields.replace(with: more) }

    /// Adds those of a session's headers that the request does not have.
    mutating func complete(_ more: HTTPFields) { headerFields.complete(from: more) }
}
