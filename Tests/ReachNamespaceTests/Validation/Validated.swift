internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTesting
internal import ReachTransfer
internal import Testing

/// An engine and a validator inside a namespace, and a log of what the engine told.
final class Validated: Sendable {
    let changes: EventLog<ReachabilityChange>
    /// What was told, and when.
    private let times: EventLog<ContinuousClock.Instant>
    private let mailbox: Mailbox
    private let thread: Int32
    private let validator: Cell

    /// Opened on the loop's thread only.
    private final class Cell: @unchecked Sendable {
        var validator: Validator?
    }

    /// - Returns: Once the initial state was told.
    static func start(
        _ target: Target = .internet, in small: SmallInternet,
        endpoints: [ConnectivityEndpoint] = [SmallInternet.plain, SmallInternet.secure].compactMap { .init($0) },
        timeout: Duration = .milliseconds(500), rhythm: ValidationOptions = ValidationOptions(),
        engineOptions: EngineOptions = EngineOptions()
    ) async throws -> Validated {
        let started = EventLog<(Mailbox, Int32, Cell)>()
        let (changes, times) = (EventLog<ReachabilityChange>(), EventLog<ContinuousClock.Instant>())
        let descriptor = small.machine.descriptor
        var transferOptions = TransferEngine.Options()
        transferOptions.certificatesPath = small.authorityPath
        transferOptions.resolver.configurationPath = try small.resolverConfiguration()
        transferOptions.resolver.hostsPath = try small.hosts()
        var options = Validator.Options(endpoints: endpoints)
        options.timeout = timeout
        options.rhythm = rhythm
        let (given, wanted) = (transferOptions, options)
        BackgroundThread.start(named: "reach-test") {
            guard reach_enter_network_namespace(descriptor) == 0, let loop = try? EventLoop(),
                let transfers = try? TransferEngine(loop: loop, options: given)
            else { return }
            let engine = ReachabilityEngine(loop: loop, options: engineOptions)
            let cell = Cell()
            let validator = Validator(
                loop: loop, options: wanted, transfers: transfers, resolverOptions: given.resolver
            ) { [unowned engine] survey in engine.learn(survey) }
            cell.validator = validator
            engine.learn(validator.survey)
            engine.followUplinks { [unowned validator] in validator.take($0) }
            engine.start()
            _ = engine.watch(target) { event in
                guard case .change(let change) = event else { return }
                times.append(.now)
                changes.append(change)
            }
            started.append((loop.mailbox, reach_thread_id(), cell))
            loop.run()
            engine.followUplinks(nil)
            validator.stop()
            cell.validator = nil
        }
        let (mailbox, thread, cell) = try await started.wait(for: 1)[0]
        let validated = Validated(mailbox, thread, cell, changes, times)
        try await changes.wait(for: 1)
        return validated
    }

    private init(
        _ mailbox: Mailbox, _ thread: Int32, _ validator: Cell, _ changes: EventLog<ReachabilityChange>,
        _ times: EventLog<ContinuousClock.Instant>
    ) {
        (self.mailbox, self.thread, self.validator) = (mailbox, thread, validator)
        (self.changes, self.times) = (changes, times)
    }

    deinit { mailbox.post { $0.stop() } }

    var state: ReachabilityState? { changes.values.last?.state }

    /// Doubts what is believed, so that it is asked at once.
    func doubt() { mailbox.post { [validator] _ in validator.validator?.doubt() } }

    /// Somebody was answered, so that what does not work is asked at once.
    func hearAnswer() { mailbox.post { [validator] _ in validator.validator?.heardAnswer(in: nil) } }

    /// Waits until the target is connected so.
    ///
    /// - Returns: When that was told.
    @discardableResult
    func wait(
        for connectivity: Connectivity, within limit: Duration = .seconds(10)
    ) async throws -> ContinuousClock.Instant {
        try await changes.wait(within: limit) { $0.last?.state.connectivity == connectivity }
        return times.values.last ?? .now
    }

    /// How often the engine's thread has given up the processor by itself: each wake-up ends so.
    var switches: Int {
        let text = (try? ChildProcess.run(["cat", "/proc/\(getpid())/task/\(thread)/status"])) ?? ""
        return text.split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches") }
            .flatMap { $0.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } } ?? -1
    }
}
