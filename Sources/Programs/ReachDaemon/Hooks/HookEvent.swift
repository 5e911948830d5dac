internal import ReachControl
package import ReachCore
internal import ReachLoop
package import ReachQueue
package import ReachRecords

/// A hook's input: an event as JSON on its standard input, and as environment variables.
package struct HookEvent: Hashable, Sendable {
    /// The event's target. A busy hook receives only the newest event of each target.
    package let target: String
    package let kind: Configuration.Hooks.Event
    package let json: [UInt8]
    package let environment: [String: String]

    /// Users can make many of these at once, each with a target of its own.
    var isOfRequest: Bool { kind == .requestDone || kind == .requestDead }

    package init(
        _ kind: Configuration.Hooks.Event = .change, target: String, json: [UInt8], environment: [String: String]
    ) {
        self.kind = kind
        self.target = target
        self.json = json
        self.environment = environment
    }

    package init(_ change: ReachabilityChange) { self.init(JoinedChange(change)) }

    /// - Parameters:
    ///   - outage: The latest outage of the target.
    ///   - works: Whether it can be used; `nil` if that is not known.
    package init(_ joined: JoinedChange, outage: OutageBook.Outage? = nil, works: Bool? = nil) {
        let change = joined.change
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
                "REACH_NAME": state.name ?? "",
                "REACH_WORKS": Self.word(works),
                "REACH_STATUS": state.status.rawValue,
                "REACH_PREVIOUS_STATUS": change.previous?.status.rawValue ?? "",
                "REACH_REASON": state.reason?.rawValue ?? "",
                "REACH_ROOT_CAUSE": state.rootCause?.kind.rawValue ?? "",
                "REACH_ROOT_INTERFACE": state.rootCause?.interface ?? "",
                "REACH_ROOT_TEXT": state.rootCause?.sentence ?? "",
                "REACH_CLASS": state.linkClass?.rawValue ?? "",
                "REACH_INTERFACE": state.interface ?? "",
                "REACH_METERED": state.isMetered ? "true" : "false",
                "REACH_METERED_REASON": state.meteredReason?.rawValue ?? "",
                "REACH_NETWORK": state.network ?? "",
                "REACH_TRUSTED": state.isTrusted ? "true" : "false",
                "REACH_PREVIOUS_CONNECTIVITY": change.previous?.connectivity.rawValue ?? "",
                "REACH_CONNECTIVITY": state.connectivity.rawValue,
                "REACH_CONNECTIVITY_REASON": state.connectivityReason?.rawValue ?? "",
                "REACH_PREVIOUS_QUALITY": change.previous?.quality?.word.rawValue ?? "",
                "REACH_QUALITY": state.quality?.word.rawValue ?? "",
                "REACH_QUALITY_TEXT": state.quality?.text ?? "",
                "REACH_PORTAL": state.portal ?? "",
                "REACH_PORTAL_SESSION": state.portalSession?.word ?? "",
                "REACH_PREVIOUS_PORTAL_SESSION": change.previous?.portalSession?.word ?? "",
                "REACH_PORTAL_PAGE": state.portalSession?.userPortalURL ?? "",
                "REACH_PORTAL_SECONDS": state.portalSession?.secondsRemaining(at: change.bootTime).map { "\($0)" }
                    ?? "",
                "REACH_CAUSE": change.cause.rawValue,
                "REACH_CHANGED": change.aspects.map(\.rawValue).joined(separator: " "),
                "REACH_EPOCH": "\(state.epoch)",
                "REACH_FLAP_MS": joined.gap.map { "\($0.length.milliseconds)" } ?? "",
                "REACH_FLAP_TEXT": joined.gap?.sentence ?? "",
            ].merging(Self.variables(of: outage)) { own, _ in own })
    }

    private static func word(_ works: Bool?) -> String { works.map { $0 ? "true" : "false" } ?? "" }

    /// What the history has of an outage, for a hook that runs late.
    private static func variables(of outage: OutageBook.Outage?) -> [String: String] {
        [
            "REACH_OUTAGE_SINCE": outage?.since.wall.description ?? "",
            "REACH_OUTAGE_MS": outage?.length.map { "\($0.milliseconds)" } ?? "",
            "REACH_OUTAGE_TEXT": outage?.length.map(DurationText.describe) ?? "",
        ]
    }

    /// A sample, which says that nothing has happened.
    static func test(of state: ReachabilityState?, at moment: Instant) -> HookEvent {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "test")
            json.field("time", moment.wall)
        }
        json.newline()
        var environment = [
            "REACH_EVENT": "test", "REACH_TIME": moment.wall.description, "REACH_TARGET": "internet",
            "REACH_STATUS": state?.status.rawValue ?? "unknown", "REACH_REASON": state?.reason?.rawValue ?? "",
            "REACH_CLASS": state?.linkClass?.rawValue ?? "", "REACH_INTERFACE": state?.interface ?? "",
            "REACH_METERED": state?.isMetered == true ? "true" : "false",
            "REACH_CONNECTIVITY": state?.connectivity.rawValue ?? "unknown", "REACH_NETWORK": state?.network ?? "",
        ]
        for name in [
            "WORKS", "CONNECTIVITY_REASON", "ROOT_CAUSE", "ROOT_INTERFACE", "ROOT_TEXT", "METERED_REASON", "PORTAL",
            "PORTAL_SESSION", "PORTAL_PAGE",
            "PORTAL_SECONDS", "QUALITY", "PREVIOUS_QUALITY", "QUALITY_TEXT",
            "CHANGED", "CAUSE", "FLAP_MS", "FLAP_TEXT", "OUTAGE_SINCE", "OUTAGE_MS", "OUTAGE_TEXT",
        ] { environment["REACH_" + name] = "" }
        return HookEvent(target: "internet", json: json.bytes, environment: environment)
    }

    /// - Parameters:
    ///   - outage: The latest outage of the probe's target.
    ///   - works: Whether it works; `nil` if that is not known.
    /// - Returns: `nil` for events that hooks are not run for.
    package init?(_ event: ProbeEvent, outage: OutageBook.Outage? = nil, works: Bool? = nil) {
        guard let state = HistoryEntry.State(event), event.kind == .up || event.kind == .down else { return nil }
        self.init(
            .probe, target: state.target, json: Self.line(.probe(event)),
            environment: [
                "REACH_EVENT": "probe",
                "REACH_TIME": event.moment.wall.description,
                "REACH_TARGET": state.target,
                "REACH_NAME": state.target,
                "REACH_PROBE": event.report.name,
                "REACH_PROBE_GROUP": event.report.group ?? "",
                "REACH_WORKS": Self.word(works),
                "REACH_STATUS": state.status.rawValue,
                "REACH_REASON": state.reason?.word ?? "",
                "REACH_REASON_TEXT": state.reason?.sentence ?? "",
                "REACH_INTERFACE": state.interface ?? "",
                "REACH_CAUSE": "probe",
                "REACH_CHANGED": "status",
            ].merging(Self.variables(of: outage)) { own, _ in own })
    }

    /// The end of a probe that was down, since the configuration no longer has it.
    init(removed name: String, at moment: Instant) {
        let target = HistoryEntry.target(ofProbe: name)
        let entry = HistoryEntry(.unwatched(target: target), at: moment, boot: BootIdentity.current)
        self.init(
            .probe, target: target, json: HistoryLine.json(entry) + [UInt8(ascii: "\n")],
            environment: [
                "REACH_EVENT": "probe", "REACH_TIME": moment.wall.description, "REACH_TARGET": target,
                "REACH_NAME": target, "REACH_PROBE": name, "REACH_STATUS": ReachabilityStatus.unknown.rawValue,
                "REACH_REASON": "unwatched", "REACH_CAUSE": "probe", "REACH_CHANGED": "status",
            ])
    }

    /// - Returns: `nil` for events that hooks are not run for.
    package init?(_ event: QueueEvent) {
        if let budget = event.budget {
            self.init(event, of: budget)
            return
        }
        guard let request = event.request, let kind = Configuration.Hooks.Event(event.kind), kind != .meteredBudget
        else {
            return nil
        }
        self.init(
            kind, target: "request:\(request)", json: Self.line(.queue(event)),
            environment: [
                "REACH_EVENT": kind.rawValue,
                "REACH_TIME": event.moment.wall.description,
                "REACH_TARGET": "request:\(request)",
                "REACH_REQUEST": "\(request)",
                "REACH_OWNER": event.owner.map { "\($0)" } ?? "",
                "REACH_REASON": event.reason ?? "",
                "REACH_HTTP_STATUS": event.status.map { "\($0)" } ?? "",
                "REACH_ATTEMPT": event.attempt.map { "\($0)" } ?? "",
                "REACH_INTERFACE": event.interface ?? "",
            ])
    }

    /// - Returns: `nil` for events that hooks are not run for.
    private init?(_ event: QueueEvent, of budget: MeteredReport) {
        guard Configuration.Hooks.Event(event.kind) == .meteredBudget else { return nil }
        let target = "budget:" + budget.scope.text
        self.init(
            .meteredBudget, target: target, json: Self.line(.queue(event)),
            environment: [
                "REACH_EVENT": Configuration.Hooks.Event.meteredBudget.rawValue,
                "REACH_TIME": event.moment.wall.description,
                "REACH_TARGET": target,
                "REACH_OWNER": event.owner.map { "\($0)" } ?? "",
                "REACH_BUDGET_PERCENT": event.kind == .meteredLow ? "80" : "100",
                "REACH_BUDGET_BYTES": "\(budget.budget.bytes)",
                "REACH_BUDGET_USED": "\(budget.used)",
                "REACH_BUDGET_RENEWED": budget.renewed?.description ?? "",
            ])
    }

    private static func line(_ event: EncodedEvent) -> [UInt8] {
        event.unnumbered + [UInt8(ascii: "\n")]
    }
}

extension Configuration.Hooks.Event {
    /// - Returns: `nil` for events that hooks are not run for.
    init?(_ kind: QueueEvent.Kind) {
        switch kind {
        case .done: self = .requestDone
        case .dead: self = .requestDead
        case .meteredLow, .meteredUsed: self = .meteredBudget
        default: return nil
        }
    }
}

extension PortalSession {
    /// What hooks distinguish.
    fileprivate var word: String { isCaptive ? "captive" : isEnding ? "ending" : "open" }
}
