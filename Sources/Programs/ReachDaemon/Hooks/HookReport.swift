internal import Logging
internal import ReachCore

/// An event in a hook's life, for the log.
package enum HookReport: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// A line of its output.
    case output(hook: String, line: String)
    case ended(hook: String, Ending, after: Duration, skipped: Int)
    /// It exceeded the time limit and is being terminated.
    case timedOut(hook: String, limit: Duration)
    /// It could not be started, for this reason.
    case failed(hook: String, String)
    /// A file or directory must not be run, for this reason. Reported once, and again after a change.
    case refused(path: String, String)
}

extension HookReport {
    /// The level the report is logged at.
    var level: Logger.Level {
        switch self {
        case .output, .ended(_, .exit(0), _, _): .info
        case .ended, .timedOut, .failed, .refused: .warning
        }
    }

    /// The report as a line of the log.
    var text: String {
        switch self {
        case .output(let hook, let line): "hook \(hook): \(line)"
        case .ended(let hook, let ending, let duration, let skipped):
            "hook \(hook) ended with \(Self.words(for: ending)) after \(DurationText.describe(duration))"
                + (skipped > 0 ? ", \(skipped) events skipped" : "")
        case .timedOut(let hook, let limit):
            "hook \(hook) runs longer than \(DurationText.describe(limit)) and is being terminated"
        case .failed(let hook, let reason): "hook \(hook) could not be started: \(reason)"
        case .refused(let path, let reason): "\(path) is not run as a hook: \(reason)"
        }
    }

    private static func words(for ending: Ending) -> String {
        switch ending {
        case .exit(let status): "status \(status)"
        case .signal(let number): "signal \(number)"
        }
    }
}
