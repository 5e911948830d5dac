internal import ReachCore
internal import ReachQueue
internal import ReachRecords

/// What the types of Swift know and Varlink's cannot express: which strings are times, and the words of others.
enum LineWords {
    /// Strings with these keys are times.
    static let times: Set = [
        "time", "since", "connectivity_since", "checked", "next", "certificate_until", "created", "deadline",
        "not_before", "over",
        "began", "until", "from", "to", "last_seen", "host_since", "host_time", "stored", "first", "first_by", "last",
        "first_back",
        "last_back", "retired", "renewed", "budget_renewed",
    ]

    /// - Parameter type: The type with its interface.
    static func words(of key: String, in type: String) -> [String]? {
        let name = type.split(scalar: ".").last.map(String.init) ?? type
        return byType[name + "." + key] ?? byKey[key].flatMap { withOtherWords.contains(name + "." + key) ? nil : $0 }
    }

    private static func all<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> [String]
    where Word.RawValue == String { Word.allCases.map(\.rawValue) }

    private static let byKey: [String: [String]] = [
        "status": all(ReachabilityStatus.self), "class": all(LinkClass.self), "carrier_class": all(LinkClass.self),
        "reason": all(Reason.self), "trouble": all(Reason.self), "root_cause": all(RootCause.Kind.self),
        "held_root_cause": all(RootCause.Kind.self),
        "connectivity": all(Connectivity.self), "connectivity_reason": [Reason.nameNotResolved.rawValue],
        "cause": all(Cause.self), "layer": all(OutageLayer.self),
        "source": all(StatusSource.self), "finding": all(StepFinding.self),
    ]

    private static let byType: [String: [String]] = [
        "Change.changed": all(ReachabilityChange.Aspect.self), "Step.subject": all(Explanation.Subject.self),
        "DiagnosisStep.subject": all(Diagnosis.Subject.self),
        "Diagnosis.subject": all(Diagnosis.Subject.self),
        "Diagnosis.outcome": all(Diagnosis.Outcome.self), "Diagnosis.party": all(Diagnosis.Party.self),
        "Diagnosis.between": all(Diagnosis.Party.self), "DiagnosisQuality.word": all(LineQuality.Word.self),
        "Quality.word": all(LineQuality.Word.self),
        "ProbeEvent.event": all(ProbeEvent.Kind.self), "ProbeReport.state": all(ProbeReport.State.self),
        "ProbeReport.paused": all(ProbePause.self),
        "ProbeResult.reason": all(ProbeFailure.self) + all(ProbeDoubt.self),
        "QueueEvent.event": all(QueueEvent.Kind.self) + ["watching", "progress"],
        "Request.state": all(QueuedRequestState.self), "Answer.state": all(QueuedRequestState.self),
        "Request.reason": all(DeathReason.self), "ReportDeaths.reason": all(DeathReason.self),
        "Request.blockers": Blocker.allWords, "QueueEvent.blockers": Blocker.allWords,
        "Reason.blocker": Blocker.allWords, "MeteredBudget.period": all(MeteredPeriod.self),
        "QueueEvent.budget_period": all(MeteredPeriod.self),
        // As in ReachFleet, which this room does not import.
        "FleetMember.word": hostWords, "FleetChange.previous": hostWords,
        "FleetSelf.state": [
            "connecting", "connected", "behind", "engine-down", "no-stream", "full", "store-full", "not-stored",
            "refused", "token-ended", "conflict", "untrusted", "portal", "clock", "metered", "no-daemon", "no-journal",
            "journal-refused", "tls-first", "wrong-host", "left",
        ],
        "FleetStream.outcome": ["created", "unchanged", "updated", "differs"],
        "FleetDifference.effect": ["tightens", "loosens", "fixed"],
        "FleetFinding.level": ["wrong", "warning", "note"],
        "FleetMember.state": ["online"] + hostWords.dropFirst(),
        "FleetAlert.event": ["down", "up", "flapping", "steady", "reminder", "escalation"],
        "FleetAction.action": [
            "hold", "release", "quiet", "acknowledge", "retire", "label", "setup", "enroll", "revoke",
        ],
    ]

    private static let hostWords = ["here", "limited", "silent", "left", "unseen"]

    /// Keys that mean something else there.
    private static let withOtherWords: Set = [
        "Path.source", "Resync.reason", "Disconnected.reason", "QueueEvent.reason", "Gap.reason", "FleetMember.reason",
        "FleetMember.source", "FleetDesired.reason",
    ]
}
