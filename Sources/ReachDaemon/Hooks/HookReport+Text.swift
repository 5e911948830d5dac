internal import Logging
internal import ReachCore

extension HookReport {
    /// How grave it is.
    var level: Logger.Level {
        switch self {
        case .output, .ended(_, .exit(0), _, _): .info
        case .ended, .timedOut, .failed, .refused: .warning
        }
    }

    /// A line for the log.
    var text: String {
        switch self {
        case .output(let hook, let line): "hook \(hook): \(line)"
        case .ended(let hook, let ending, let duration, let skipped):
            "hook \(hook) ended with \(Self.words(for: ending)) after \(DurationText.describe(duration))"
                + (skipped > 0 ? ", \(skipped) events skipped" : "")
        case .timedOut(let hook, let limit):
            "hook \(hook) is told to end: it took longer than \(DurationText.describe(limit))"
        case .failed(let hook, let reason): "hook \(hook) could not be started: \(reason)"
        case .refused(let path, let reason): "\(path) is not run: \(reason)"
        }
    }

    private static func words(for ending: Ending) -> String {
        switch ending {
        case .exit(let status): "status \(status)"
        case .signal(let number): "signal \(number)"
        }
    }
}
