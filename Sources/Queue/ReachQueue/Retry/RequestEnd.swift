/// Why a request died: it is kept for a while and can be sent again.
package enum DeathReason: String, Hashable, Sendable, CaseIterable {
    /// Its time to live is over.
    case expired
    /// It failed as often as its client allowed.
    case exhausted
    /// The server refused it for good: another status than those accepted and those worth a retry.
    case refused
    /// The server wants other credentials (401, 403, 407): to be sent again when they are put right.
    case authentication = "auth"
    /// The server's certificate is not trusted.
    case untrusted
    /// The server's key is not the pinned one.
    case pinMismatch = "pin"
    /// It cannot be sent as it is: URL, scheme, option.
    case invalid
    /// Too many redirects, or one that is not followed.
    case redirects
    /// The answer is larger than allowed, or encoded in a way that is not understood.
    case unreadable
    /// The answer does not fit into what its owner may keep.
    case quota
    /// A file it needs cannot be used: its body, its output, its certificate.
    case file
    /// It may not be sent twice, and whether it arrived is not known.
    case indeterminate
    /// It depends on one that died or was cancelled.
    case dependency
}

/// Why a request was cancelled.
package enum CancelReason: String, Hashable, Sendable {
    case byUser = "user"
    /// A newer one took its place.
    case superseded
}

/// How a request ended.
package enum RequestEnd: Hashable, Sendable {
    case done
    case dead(DeathReason)
    case cancelled(CancelReason)

    package var state: QueuedRequestState {
        switch self {
        case .done: .done
        case .dead: .dead
        case .cancelled: .cancelled
        }
    }

    /// A stable word; `nil` for ``done``.
    package var reason: String? {
        switch self {
        case .done: nil
        case .dead(let death): death.rawValue
        case .cancelled(let cause): cause.rawValue
        }
    }
}
