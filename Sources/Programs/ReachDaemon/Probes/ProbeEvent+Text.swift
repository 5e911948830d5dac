internal import Logging
internal import ReachCore

extension ProbeEvent {
    /// The level the event is logged at.
    var level: Logger.Level {
        switch kind {
        case .down: .warning
        case .up: .notice
        case .paused, .resumed: .info
        case .result: .debug
        }
    }

    var text: String {
        switch kind {
        case .up: "probe \(report.name) is up"
        case .down: "probe \(report.name) is down: \(reason)"
        case .paused: "probe \(report.name) is paused: \(report.pause?.rawValue ?? "")"
        case .resumed: "probe \(report.name) resumed"
        case .result: "probe \(report.name): \(report.last?.outcome.word ?? "") \(reason)"
        }
    }

    private var reason: String {
        guard let last = report.last else { return "" }
        return last.detail.isEmpty ? last.outcome.reason ?? "" : last.detail
    }
}

extension HistoryEntry.State {
    /// A probe's event as a state of the target `probe:NAME`, which is unknown while the probe is paused.
    ///
    /// - Returns: `nil` for a single result.
    init?(_ event: ProbeEvent) {
        let report = event.report
        let status: ReachabilityStatus
        switch (event.kind, report.state) {
        case (.result, _): return nil
        case (.paused, _), (_, .unknown): status = .unknown
        case (_, .up): status = .reachable
        case (_, .down): status = .notReachable
        }
        let reason = event.kind == .paused ? report.pause?.rawValue : report.last?.outcome.reason
        self.init(
            target: HistoryEntry.target(ofProbe: report.name), status: status, interface: report.last?.interface,
            reason: status == .reachable ? nil : reason, cause: "probe")
    }
}
