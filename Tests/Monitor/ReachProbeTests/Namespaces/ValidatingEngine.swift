internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
@testable import ReachProbe
internal import ReachTesting
internal import ReachTransfer
internal import Testing

/// An engine and a validator in a namespace, with a log of the engine's changes.
final class ValidatingEngine: Sendable {
    let changes: EventLog<ReachabilityChange>
    /// The times of the changes.
    private let times: EventLog<ContinuousClock.Instant>
    private let mailbox: Mailbox
    private let thread: Int32
    private let validator: ValidatorReference

    /// A reference to the validator. Unchecked, since only the loop's thread uses it.
    private final class ValidatorReference: @unchecked Sendable {
        var validator: Validator?
    }

    /// Starts an engine and a validator on a thread in the namespace of the machine, and waits for the initial state.
    static func start(
        _ target: Target = .internet, in small: SmallInternet,
        endpoints: [ConnectivityEndpoint] = [SmallInternet.plain, SmallInternet.secure].compactMap { .init($0) },
        timeout: Duration = .milliseconds(500), rhythm: ValidationOptions = ValidationOptions(),
        engineOptions: ReachabilityEngine.Options = ReachabilityEngine.Options(), leaseRoot: String = "/nonexistent/",
        nameServer: String = SmallInternet.nameServer, measuring interval: Duration? = nil
    ) async throws -> ValidatingEngine {
        let started = EventLog<(Mailbox, Int32, ValidatorReference)>()
        let (changes, times) = (EventLog<ReachabilityChange>(), EventLog<ContinuousClock.Instant>())
        let descriptor = small.machine.descriptor
        var transferOptions = TransferEngine.Options()
        transferOptions.certificatesPath = small.authorityPath
        transferOptions.resolver.configurationPath = try small.resolverConfiguration(nameServer)
        transferOptions.resolver.hostsPath = try small.hosts()
        var options = Validator.Options(endpoints: endpoints)
        options.timeout = timeout
        options.rhythm = rhythm
        options.leaseRoot = leaseRoot
        if let interval { (options.measuredLines, options.qualityInterval) = (.unmetered, interval) }
        let (given, wanted) = (transferOptions, options)
        BackgroundThread.start(named: "reach-test") {
            guard reach_enter_network_namespace(descriptor) == 0, let loop = try? EventLoop(),
                let transfers = try? TransferEngine(loop: loop, options: given)
            else { return }
            let engine = ReachabilityEngine(loop: loop, options: engineOptions)
            transfers.resolver.route = { [unowned engine] (server, bound) throws(SystemError) in
                try NameServerRoute(
                    to: server, boundTo: bound, isMetered: engine.isMetered(bound.name), routes: engine.routes
                ).interface()
            }
            let reference = ValidatorReference()
            let validator = Validator(
                loop: loop, options: wanted, transfers: transfers, resolverOptions: given.resolver
            ) { [unowned engine] survey in engine.setConnectivity(survey) }
            reference.validator = validator
            engine.setConnectivity(validator.survey)
            let network = engine.watchNetwork { [unowned validator] in validator.update(network: $0) }
            engine.start()
            _ = engine.watch(target) { event in
                guard case .change(let change) = event else { return }
                times.append(.now)
                changes.append(change)
            }
            started.append((loop.mailbox, reach_thread_id(), reference))
            loop.run()
            engine.unwatch(network)
            validator.stop()
            reference.validator = nil
        }
        let (mailbox, thread, reference) = try await started.wait(for: 1)[0]
        let validated = ValidatingEngine(mailbox, thread, reference, changes, times)
        try await changes.wait(for: 1)
        return validated
    }

    private init(
        _ mailbox: Mailbox, _ thread: Int32, _ validator: ValidatorReference, _ changes: EventLog<ReachabilityChange>,
        _ times: EventLog<ContinuousClock.Instant>
    ) {
        (self.mailbox, self.thread, self.validator) = (mailbox, thread, validator)
        (self.changes, self.times) = (changes, times)
    }

    deinit { mailbox.post { $0.stop() } }

    var state: ReachabilityState? { changes.values.last?.state }

    /// Makes the validator doubt its results, so that it checks at once.
    func doubt() { mailbox.post { [validator] _ in validator.validator?.doubt() } }

    /// How often silence was looked for and found.
    var silence: SilenceStatistics {
        get async throws { try await ask { $0.silenceStatistics ?? SilenceStatistics() } }
    }

    /// What the validator says, on its thread.
    func ask<Value: Sendable>(_ read: @escaping @Sendable (Validator) -> Value) async throws -> Value {
        let found = EventLog<Value>()
        mailbox.post { [validator] _ in
            if let validator = validator.validator { found.append(read(validator)) }
        }
        return try await found.wait(for: 1)[0]
    }

    /// The machine slept.
    func restart() { mailbox.post { [validator] _ in validator.validator?.restart() } }

    /// Reports an answer to the validator, so that it checks broken paths at once.
    func reportAnswer() { mailbox.post { [validator] _ in validator.validator?.heardAnswer(in: nil) } }

    /// Waits until the target has this connectivity.
    ///
    /// - Returns: The time of the change.
    @discardableResult
    func wait(
        for connectivity: Connectivity, within limit: Duration = .seconds(10)
    ) async throws -> ContinuousClock.Instant {
        try await changes.wait(within: limit) { $0.last?.state.connectivity == connectivity }
        return times.values.last ?? .now
    }

    /// The number of voluntary context switches of the engine's thread. Each wake-up ends with one.
    var switches: Int {
        let text = (try? ChildProcess.run(["cat", "/proc/\(getpid())/task/\(thread)/status"])) ?? ""
        return text.split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches") }
            .flatMap { $0.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } } ?? -1
    }
}
