internal import ReachCore

extension SilenceMachine {
    struct Test: Equatable {
        /// Why the path is tested; `nil` if only to see whether the link's path in the other family is silent as well.
        var suspicion: SilenceJudge.Suspicion?
        var began: BootTime
    }

    struct Watch {
        enum Phase: Equatable {
            case idle
            case surveying(Ticket)
            case testing(Ticket, Test)
            /// The last look at the sockets, after a test without an answer.
            case confirming(Ticket, Test, handshakes: Int)
            /// Nothing answers, but that counts only if the path whose sockets were the reason is silent as well.
            case held(Test, SilenceEvidence)
            /// A connection by a silent path.
            case calling(Ticket)
        }

        var path: SilencePath
        var phase = Phase.idle
        var nextSurvey: BootTime
        var nextTest: BootTime
        /// When the path was found silent; `nil` while it works.
        var silentSince: BootTime?
    }
}

extension SilenceMachine.Watch.Phase {
    var ticket: SilenceCommand.Ticket? {
        switch self {
        case .idle, .held: nil
        case .surveying(let ticket), .calling(let ticket), .testing(let ticket, _), .confirming(let ticket, _, _):
            ticket
        }
    }
}

extension SilenceMachine.Watch {
    /// Whether a test can be made now.
    func isFree(at now: BootTime) -> Bool {
        switch phase {
        case .idle, .surveying: path.state == .working && !path.servers.isEmpty && now >= path.allowed
        default: false
        }
    }
}
