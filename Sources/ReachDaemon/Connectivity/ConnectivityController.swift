internal import Logging
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTransfer

/// Stands between the engine, which knows the ways to the Internet, and the ``Validator``, which tries them: either may
/// be replaced by a new configuration. Without endpoints there is neither a validator nor a cost.
final class ConnectivityController {
    private let loop: EventLoop
    private let transfers: SharedTransfers
    private let log: Logger
    private var options: Validator.Options?
    private var validator: Validator?
    private weak var engine: ReachabilityEngine?
    /// Told what is proved, whenever that differs; `nil` where nothing is asked.
    var whenSurveyed: (ConnectivitySurvey?) -> Void = { _ in }

    init(loop: EventLoop, transfers: SharedTransfers, log: Logger) {
        self.loop = loop
        self.transfers = transfers
        self.log = log
    }

    /// Validates with these options from now on; with `nil`, not at all. What was proved is forgotten where they differ.
    func take(_ fresh: Validator.Options?) {
        guard fresh != options else { return }
        options = fresh
        validator?.stop()
        validator = fresh.flatMap(makeValidator)
        connect()
    }

    /// Uses this engine from now on. To be called before it is started, so that what was proved holds from the start.
    func use(_ fresh: ReachabilityEngine) {
        engine?.followUplinks(nil)
        engine = fresh
        connect()
    }

    /// What probes have proved about a target; `nil` if none run, and for targets that they do not concern.
    func report(on target: Target) -> ConnectivityReport? { validator?.survey.report(on: target) }

    /// The machine slept.
    func beginAnew() { validator?.beginAnew() }

    /// Something failed, and the Internet may not be there any more. Asks no more often than every five seconds.
    func doubt() { validator?.doubt() }

    /// Something was answered, in this family where it is known.
    func heardAnswer(in family: IPAddress.Family?) { validator?.heardAnswer(in: family) }

    private func connect() {
        engine?.setConnectivity(validator?.survey)
        whenSurveyed(validator?.survey)
        guard let validator else { return engine?.followUplinks(nil) ?? () }
        engine?.followUplinks { [weak validator] in validator?.take($0) }
    }

    private func makeValidator(_ options: Validator.Options) -> Validator? {
        do throws(TransferFailure) {
            return Validator(loop: loop, options: options, transfers: try transfers.engine()) { [unowned self] survey in
                engine?.setConnectivity(survey)
                whenSurveyed(survey)
            }
        } catch {
            log.error("the Internet cannot be validated: \(error)")
            return nil
        }
    }
}
