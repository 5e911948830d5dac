internal import Logging
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTransfer

/// Connects the engine, which knows the paths to the Internet, with the ``Validator``, which tests them. A new
/// configuration may replace either. Without endpoints there is no validator, and no cost.
final class ConnectivityController {
    private let loop: EventLoop
    private let transfers: SharedTransfers
    private let log: Logger
    private var options: Validator.Options?
    private var validator: Validator?
    private weak var engine: ReachabilityEngine?
    /// The engine's number of the watch that feeds the validator.
    private var networkWatch: UInt64?
    /// Receives each new result of the connectivity checks; `nil` without a validator.
    var onSurvey: (ConnectivitySurvey?) -> Void = { _ in }

    init(loop: EventLoop, transfers: SharedTransfers, log: Logger) {
        self.loop = loop
        self.transfers = transfers
        self.log = log
    }

    /// Validates with these options from now on; with `nil`, not at all. Earlier results are discarded if the options
    /// differ.
    func apply(_ fresh: Validator.Options?) {
        guard fresh != options else { return }
        options = fresh
        validator?.stop()
        validator = fresh.flatMap(makeValidator)
        connect()
    }

    /// Uses this engine from now on. Call it before the engine starts, so that earlier results apply from the start.
    func use(_ fresh: ReachabilityEngine) {
        disconnect()
        engine = fresh
        connect()
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

    /// How often silence was looked for and found; `nil` if it is not.
    var silenceStatistics: SilenceStatistics? { validator?.silenceStatistics }

    private func connect() {
        engine?.setConnectivity(validator?.survey)
        onSurvey(validator?.survey)
        disconnect()
        guard let validator else { return }
        networkWatch = engine?.watchNetwork { [weak validator] in validator?.update(network: $0) }
    }

    private func disconnect() {
        networkWatch.map { engine?.unwatch($0) }
        networkWatch = nil
    }

    private func makeValidator(_ options: Validator.Options) -> Validator? {
        do throws(TransferFailure) {
            let validator = Validator(loop: loop, options: options, transfers: try transfers.engine()) {
                [unowned self] survey in
                engine?.setConnectivity(survey)
                onSurvey(survey)
            }
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
                "TCP connections cannot be watched for silence: the kernel shows no sockets (sock_diag) or no counters; checks find silent paths later"
            )
        }
    }
}
