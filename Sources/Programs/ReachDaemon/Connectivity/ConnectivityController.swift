internal import Logging
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachRecords
internal import ReachTransfer

/// Connects the engine, which knows the paths to the Internet, with the ``Validator``, which tests them and which a new
/// configuration may replace. Without endpoints there is no validator, and no cost.
final class ConnectivityController {
    private let loop: EventLoop
    private let transfers: SharedTransfers
    private let log: Logger
    private var options: Validator.Options?
    private var validator: Validator?
    private let engine: ReachabilityEngine
    /// The engine's number of the watch that feeds the validator.
    private var networkWatch: UInt64?
    /// The engine's number for having gateways asked that do not answer: what checks prove depends on them.
    private var seeking: UInt64?
    private var surveyHandlers: [(ConnectivitySurvey?) -> Void] = []
    /// Called when a check of a path has ended, whatever it found.
    var onCheck: () -> Void = {}
    /// Receives what some minutes showed of a line.
    var onQuality: (QualityPeriod) -> Void = { _ in }

    init(loop: EventLoop, transfers: SharedTransfers, engine: ReachabilityEngine, log: Logger) {
        self.loop = loop
        self.transfers = transfers
        self.engine = engine
        self.log = log
    }

    /// Validates with these options from now on; with `nil`, not at all. Earlier results are discarded if the options
    /// differ.
    func apply(_ options: Validator.Options?) {
        guard options != self.options else { return }
        self.options = options
        validator?.stop()
        validator = options.flatMap(makeValidator)
        connect()
    }

    /// Calls `handler` with the present result of the connectivity checks and with each new one; `nil` without a
    /// validator.
    func followSurvey(_ handler: @escaping (ConnectivitySurvey?) -> Void) {
        surveyHandlers.append(handler)
        handler(validator?.survey)
    }

    private func publish(_ survey: ConnectivitySurvey?) { surveyHandlers.forEach { $0(survey) } }

    /// What is proved of the Internet over each interface with a default route.
    func linkProofs(internet: ReachabilityState?) -> [String: LinkReport.Proof] {
        validator?.linkProofs(internet: internet) ?? [:]
    }

    /// Whether a check decides soon if the Internet still answers over an interface, where something failed at a time.
    func isUnsettled(_ interface: String, _ family: IPAddress.Family?, since time: BootTime) -> Bool {
        validator?.isUnsettled(interface, family, since: time) ?? false
    }

    /// The longest time that such a check takes to decide.
    var longestDecision: Duration { validator?.longestDecision ?? .zero }

    /// How long a check over an interface may take; `nil` without any checks.
    func checkLimit(over interface: String, _ family: IPAddress.Family) -> Duration? {
        validator?.checkLimit(over: interface, family)
    }

    /// What probes have proved about a target; `nil` if none run, and for targets that they do not concern.
    func report(on target: Target) -> ConnectivityReport? { validator?.survey.report(on: target) }

    /// The last check of the path to a target, in each family that has one.
    func lastChecks(of target: Target) -> [IPAddress.Family: ConnectivityCheck] {
        validator?.lastChecks(of: target) ?? [:]
    }

    /// Checks every path again, after the machine slept.
    func restart() { validator?.restart() }

    /// A transfer failed: checks whether the Internet is still reachable, at most every five seconds.
    func noteFailure() { validator?.doubt() }

    /// A transfer was answered, in this address family if it is known.
    func noteAnswer(in family: IPAddress.Family?) { validator?.heardAnswer(in: family) }

    /// A probe by address was answered by the kernel's path.
    func noteWitness(in family: IPAddress.Family) { validator?.heardWitness(in: family) }

    /// How often silence was looked for and found; `nil` if it is not.
    var silenceStatistics: SilenceStatistics? { validator?.silenceStatistics }

    private func connect() {
        engine.setConnectivity(validator?.survey)
        publish(validator?.survey)
        [networkWatch, seeking].compactMap(\.self).forEach(engine.unwatch)
        (networkWatch, seeking) = (nil, nil)
        guard let validator else { return }
        seeking = engine.askNeighbours()
        networkWatch = engine.watchNetwork { [weak validator] in validator?.update(network: $0) }
    }

    private func makeValidator(_ options: Validator.Options) -> Validator? {
        do throws(TransferFailure) {
            let validator = Validator(loop: loop, options: options, transfers: try transfers.engine()) {
                [unowned self] survey in
                engine.setConnectivity(survey)
                publish(survey)
            }
            validator.onCheck = { [unowned self] in onCheck() }
            validator.onQuality = { [unowned self] in onQuality($0) }
            validator.onSilence = { [log] in log.report($0) }
            return validator
        } catch {
            log.error("the Internet cannot be validated: \(error)")
            return nil
        }
    }
}

extension Logger {
    fileprivate func report(_ notice: SilenceNotice) {
        switch notice {
        case .silent(let interface, let family, let evidence):
            self.notice(
                "\(interface) is silent: \(evidence.text)",
                metadata: ["interface": "\(interface)", "family": "\(family == .ipv4 ? "ipv4" : "ipv6")"])
        case .notAvailable:
            warning(
                """
                TCP connections cannot be watched for silence: the kernel shows no sockets (sock_diag) or no counters; \
                checks find silent paths later
                """
            )
        }
    }
}
