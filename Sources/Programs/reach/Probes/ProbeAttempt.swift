internal import ReachControl
internal import ReachCore

/// One attempt, which the daemon makes, or `reachd --probe` in its place.
enum ProbeAttempt {
    static func make(
        _ order: ProbeOrder, from source: DaemonOptions.Source
    ) throws(CommandError) -> ProbeAnswer {
        if case .daemon(let path, let wasNamed) = source {
            var answers = false
            do throws(ControlError) {
                // The daemon's own timeouts are at most 300 s.
                let patience = (order.timeout ?? .seconds(300)) + .seconds(5)
                var client = try ControlClient(path: path, patience: patience)
                try client.ping()
                answers = true
                // A daemon in another namespace would use another path; but only the daemon has the configured probes.
                var isAsked = wasNamed || !order.target.unicodeScalars.contains(":")
                if !isAsked { isAsked = try client.isInThisNamespace() }
                if isAsked { return try client.probe(order) }
            } catch {
                // A daemon that has not answered the ping has not made the attempt either.
                let mayContinue =
                    answers ? mayReplaceDaemon(after: error, order) : order.target.unicodeScalars.contains(":")
                guard !wasNamed, mayContinue else { throw failure(error, order.target) }
            }
        }
        guard order.target.unicodeScalars.contains(":") else { throw noProbe(order.target, status: .usage) }
        return try ProbeProgram.run(order)
    }

    /// Whether `reachd --probe` may make the attempt instead. Only the daemon has the configured probes.
    private static func mayReplaceDaemon(after error: ControlError, _ order: ProbeOrder) -> Bool {
        guard order.target.unicodeScalars.contains(":") else { return false }
        switch error {
        case .notRunning, .badPath, .failed: return true
        case .refused: if case .permissionDenied = error.monitorError { return true } else { return false }
        case .timedOut, .closed, .notUnderstood: return false
        }
    }

    /// - Parameter target: What was to be probed.
    private static func failure(_ error: ControlError, _ target: String) -> CommandError {
        if !target.unicodeScalars.contains(":"), case .notRunning = error {
            return noProbe(target, status: .cannotObserve)
        }
        if case .invalidTarget(let target, let reason) = error.monitorError {
            return CommandError(status: .usage, message: DisplayText.sanitized("\(target): \(reason)"))
        }
        return CommandError(status: .cannotObserve, message: DisplayText.sanitized(error.description))
    }

    /// The error that this is not a URL, and no daemon says whether a probe has that name.
    private static func noProbe(_ target: String, status: ExitStatus) -> CommandError {
        let name = DisplayText.sanitized(target)
        let what = status == .usage ? "is left out by --no-daemon" : "does not run"
        let hint = IPAddress(target) == nil ? "" : "; try icmp://\(name)"
        return CommandError(
            status: status,
            message: "'\(name)' is not a URL; reachd, which has the configured probes, \(what)\(hint)")
    }
}
