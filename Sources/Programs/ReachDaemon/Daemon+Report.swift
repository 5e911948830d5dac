internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachQueue

/// The state in the log, for an administrator who has nothing but signals and the log.
extension Daemon {
    /// Writes the state to the log, in one line for each part, whatever the log level is.
    package func logState() {
        var log = log
        log.logLevel = .notice
        for line in stateLines(at: SystemClock.now) { log.notice("state: \(line)") }
    }

    /// The lines name no request and no user, since more people read the log than may read the queue.
    private func stateLines(at now: Instant) -> [String] {
        var lines = ["reachd \(options.version), running for \(DurationText.describe(now.boot - started))"]
        if let error = registry.engine.observationError { lines.append("the kernel cannot be observed: \(error)") }
        for (name, state) in registry.namedStates { lines.append(Self.line(name, state, at: now)) }
        for report in probes?.reports ?? [] {
            let pause = report.pause.map { ", paused (\($0.rawValue))" } ?? ""
            lines.append("probe \(report.name) is \(report.state.rawValue) since \(report.since)\(pause)")
        }
        lines.append(queueLine)
        let control = controlStatistics
        lines.append(
            "\(control?.connections ?? 0) clients; \(control?.droppedEvents ?? 0) events were dropped for slow ones")
        if let journal = records.journal?.statistics {
            lines.append("journal: \(journal.bytes) bytes, \(journal.written) events written, \(journal.lost) lost")
        }
        return lines
    }

    private static func line(_ name: String, _ state: ReachabilityState, at now: Instant) -> String {
        let way = state.interface.map { " by \($0)" } ?? ""
        let cause = state.rootCause.map { ": \($0.sentence)" } ?? ""
        let why = state.connectivityReason.map { " (\($0.rawValue))" } ?? ""
        let proof = state.isValidated ? ", connectivity \(state.connectivity.rawValue)\(why)" : ""
        return "\(name) is \(state.status.rawValue)\(way) since \(state.since)\(cause)\(proof), \(state.flaps) flaps"
    }

    private var queueLine: String {
        guard let queue = queue.metrics?.statistics else { return "there is no queue" }
        let oldest = queue.oldest.map { ", the oldest for \(DurationText.describe($0))" } ?? ""
        let notes = (queue.isHeld ? ", held" : "") + (queue.isDegraded ? ", its file cannot be written" : "")
        return
            "queue: \(queue.waiting) waiting, \(queue.held) held, \(queue.running) running, \(queue.dead) "
            + "dead\(oldest); \(queue.bytes) of \(queue.bytesAllowed) bytes, \(queue.openBreakers) open "
            + "breakers\(notes)"
    }
}
