/// Why the queue did not do what it was asked, sorted by what the caller does next.
package enum QueueServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request is wrong: change it (exit status 2).
    ///
    /// - Parameter field: Which part: `url`, `method`, `header`, `body`, `when`, `expires`, `order`, `key`,
    ///   `max-attempts`, `priority`, `id`, `state`, `reason`, `mode`, `upload`, `offset`.
    case invalid(field: String, reason: String)
    /// No room at the moment: try again later (exit status 75).
    ///
    /// - Parameters:
    ///   - reason: `queue-full`, `user-limit`, or `storage`.
    ///   - excess: The limit that it would pass, where that is known.
    case refused(reason: String, excess: QueueExcess? = nil)
    /// There is none, or none of the caller's, of that number (exit status 1).
    case notFound(Int64)
    /// It is over already: nothing was changed.
    case alreadyOver(Int64)
    /// Only a dead request can be sent again.
    case notDead(Int64)
    /// Another request carries its body, and it cannot be taken out of that one.
    case carried(Int64, by: Int64)
    /// It is not over, or nothing was answered to it, or what was is no longer kept.
    case noAnswer(Int64)
    /// The caller may not do that at all (exit status 77).
    case notPermitted(reason: String)
    /// This daemon keeps no queue (exit status 69).
    case notAvailable(reason: String)

    /// A sentence for people.
    package var description: String {
        switch self {
        case .invalid(_, let reason): reason
        case .refused(_, let excess?): excess.description
        case .refused("queue-full", nil): "the queue is full"
        case .refused("user-limit", nil): "the user has as many requests in the queue as are allowed"
        case .refused("storage", nil): "the queue's file cannot be written"
        case .refused(let reason, nil): "the queue takes nothing now: \(reason)"
        case .notFound(let id): "there is no request \(id)"
        case .alreadyOver(let id): "request \(id) is over"
        case .notDead(let id): "request \(id) is not dead, and cannot be sent again"
        case .carried(let id, let carrier): "request \(id) is sent with request \(carrier): cancel that one"
        case .noAnswer(let id): "there is no answer to request \(id)"
        case .notPermitted(let reason), .notAvailable(let reason): reason
        }
    }
}
