internal import ReachControl
package import ReachCore

/// A hook's input: an event as JSON on its standard input, and as environment variables.
package struct HookEvent: Hashable, Sendable {
    /// The event's target. A busy hook receives only the newest event of each target.
    package let target: String
    package let json: [UInt8]
    package let environment: [String: String]

    package init(target: String, json: [UInt8], environment: [String: String]) {
        self.target = target
        self.json = json
        self.environment = environment
    }

    package init(_ change: ReachabilityChange) {
        let state = change.state
        var line: [UInt8] = []
        EncodedEvent.change(change, source: .daemon).append(to: &line, numbered: change.sequenceNumber)
        line.append(UInt8(ascii: "\n"))
        self.init(
            target: state.target.description, json: line,
            environment: [
                "REACH_EVENT": change.isInitial ? "snapshot" : "change",
                "REACH_TIME": change.time.description,
                "REACH_TARGET": state.target.description,
                "REACH_STATUS": state.status.rawValue,
                "REACH_PREVIOUS_STATUS": change.previous?.status.rawValue ?? "",
                "REACH_REASON": state.reason?.rawValue ?? "",
                "REACH_ROOT_CAUSE": state.rootCause?.kind.rawValue ?? "",
                "REACH_ROOT_INTERFACE": state.rootCause?.interface ?? "",
                "REACH_CLASS": state.linkClass?.rawValue ?? "",
                "REACH_INTERFACE": state.interface ?? "",
                "REACH_METERED": state.isMetered ? "true" : "false",
                "REACH_CONNECTIVITY": state.connectivity.rawValue,
                "REACH_PORTAL": state.portal ?? "",
                "REACH_CAUSE": change.cause.rawValue,
                "REACH_CHANGED": change.aspects.map(\.rawValue).joined(separator: " "),
                "REACH_EPOCH": "\(state.epoch)",
            ])
    }
}
