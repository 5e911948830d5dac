internal import ReachSerialization
internal import Synchronization

/// The headers of a session, which any thread may change.
final class SessionHeaders: Sendable {
    private let headers = Mutex(HTTPHeaders())

    var current: HTTPHeaders { headers.withLock { $0 } }

    func change<Failure: Error>(_ change: (inout HTTPHeaders) throws(Failure) -> Void) throws(Failure) {
        try headers.withLock { (headers) throws(Failure) in try change(&headers) }
    }
}

extension HTTPRequest {
    /// Adds a session's headers, in place of those of the same name.
    mutating func add(_ more: HTTPHeaders) {
        var all = more
        all.complete(from: headers)
        headers = all
    }

    /// Adds those of a session's headers that the request does not have.
    mutating func complete(_ more: HTTPHeaders) { headers.complete(from: more) }
}
