/// What becomes of a new request when others of the same name, and of the same user, are still on their way.
package enum RequestUniqueness: Hashable, Sendable {
    case none
    /// The name identifies one piece of work.
    case unique(name: String, mode: Mode)
    /// Only the newest state counts: those that have not started are cancelled, one that is running is finished first.
    case coalesce(key: String)

    /// The words are those of Android's WorkManager.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The one that is there stays, and is woken from its backoff; the new one is not taken.
        case keep
        /// Those that are there are cancelled.
        case replace
        /// The new one runs after those that are there.
        case append
        /// As `append`, but it never dies because one of those before it died.
        case appendOrReplace = "append-or-replace"
    }
}
