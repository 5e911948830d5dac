/// What became of a hook, for the log.
package enum HookReport: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// A line that it wrote.
    case output(hook: String, line: String)
    case ended(hook: String, Ending, after: Duration, skipped: Int)
    /// It ran into the time limit and was told to end.
    case timedOut(hook: String, limit: Duration)
    /// It could not be started.
    case failed(hook: String, String)
    /// A file or directory that must not be run, and why. Told when it is found, and again only after a change.
    case refused(path: String, String)
}
