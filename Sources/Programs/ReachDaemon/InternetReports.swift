internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// The state of the Internet after its last change, and what the log says of it: that it is lost and back, that it
/// flaps, and what becomes of its line and of its portal's session. Confined to the loop.
final class InternetReports {
    private let log: Logger
    private let loop: EventLoop
    private let records: EventRecords
    private(set) var state: ReachabilityState?
    private var outages = OutageNotices()
    /// A path that returned ends the outage after a while, even if no check proves or refutes it.
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in
        report(outages.timeReached(at: SystemClock.boot))
    }
    /// `nil` where outages are not tested.
    var tester: OutageTester?

    init(on loop: EventLoop, _ records: EventRecords, log: Logger) {
        (self.loop, self.records, self.log) = (loop, records, log)
    }

    /// Notes a change as it comes.
    func handle(_ change: ReachabilityChange) {
        state = change.state
        if change.previous?.interface != change.state.interface { records.sampleTraffic() }
        if change.aspects.contains(.portal) {
            report(change.state.portalSession, after: change.previous?.portalSession)
        }
        if change.aspects.contains(.quality) { report(change.state, after: change.previous?.quality) }
    }

    /// Reports loss and return as people hear of them.
    func handle(_ joined: JoinedChange) {
        if let gap = joined.gap { report(gap) }
        report(outages.observe(joined.change))
        timer.set(to: outages.deadline)
    }

    private func report(_ session: PortalSession?, after previous: PortalSession?) {
        guard let session, session.isEnding, previous?.isEnding != true else { return }
        let seconds = session.secondsRemaining(at: SystemClock.boot) ?? 0
        log.notice(
            "the session with the portal of \(session.interface) ends in \(DurationText.describe(.seconds(seconds)))",
            metadata: ["page": "\(session.userPortalURL ?? "")"])
    }

    private func report(_ state: ReachabilityState, after previous: LineQuality?) {
        guard let quality = state.quality, quality.word != .good || previous.map({ $0.word != .good }) == true else {
            return
        }
        log.notice("the line of \(state.interface ?? "") is \(quality.text)")
    }

    private func report(_ gap: JoinedChange.Gap) {
        log.notice(
            "the Internet flapped: \(gap.sentence)",
            metadata: LoggedEvent.internetFlapped.metadata(
                ["target": Target.internet.description, "cause": gap.cause.kind.rawValue],
                shown: ["root-cause": "\(gap.cause.kind.rawValue)"]))
    }

    private func report(_ notice: OutageNotices.Notice?) {
        switch notice {
        case .lost(let cause)?:
            tester?.begin()
            log.notice(
                "the Internet is lost: \(cause.sentence)",
                metadata: LoggedEvent.internetLost.metadata(
                    journalFields, shown: ["layer": "\(cause.layer.rawValue)", "evidence": "\(cause.evidence)"]))
        case .regained(let duration)?:
            tester?.end()
            let length = records.latestOutage(of: Target.internet.description)?.length ?? duration
            log.notice(
                "the Internet is back after \(DurationText.describe(length))",
                metadata: LoggedEvent.internetBack.metadata(
                    journalFields.merging(["duration-seconds": "\(length.components.seconds)"]) { $1 },
                    shown: [
                        "interface": "\(state?.interface ?? "")",
                        "connectivity": "\(state?.connectivity.rawValue ?? "")",
                    ]))
        case nil: break
        }
    }

    /// What the journal gets of the Internet's state.
    private var journalFields: [String: String?] {
        [
            "target": Target.internet.description, "status": state?.status.rawValue,
            "reason": (state?.reason ?? state?.connectivityReason)?.rawValue,
            "cause": state?.rootCause?.kind.rawValue, "interface": state?.rootCause?.interface ?? state?.interface,
            "connectivity": state?.connectivity.rawValue,
        ]
    }
}
