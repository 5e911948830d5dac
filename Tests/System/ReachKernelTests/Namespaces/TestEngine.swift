internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

/// An engine that watches one target in a namespace, with a log of its events.
final class TestEngine: Sendable {
    /// A reported change, reduced to what tests compare.
    struct Change: Hashable, CustomStringConvertible {
        let status: ReachabilityStatus
        let reason: Reason?
        let cause: Cause
        let aspects: [ReachabilityChange.Aspect]

        init(
            _ status: ReachabilityStatus, _ reason: Reason? = nil, because cause: Cause,
            _ aspects: [ReachabilityChange.Aspect] = [.status]
        ) {
            self.status = status
            self.reason = reason
            self.cause = cause
            self.aspects = aspects
        }

        init(_ change: ReachabilityChange) {
            self.init(change.state.status, change.state.reason, because: change.cause, change.aspects)
        }

        var description: String {
            let reason = reason.map { "(\($0.rawValue))" } ?? ""
            return "\(status.rawValue)\(reason) by \(cause.rawValue) \(aspects.map(\.rawValue))"
        }
    }

    let changes: EventLog<ReachabilityChange>
    /// The other events, as text.
    let others: EventLog<String>
    private let mailbox: Mailbox
    private let box: Box

    /// Unchecked, since only the loop's thread uses the engine.
    private final class Box: @unchecked Sendable {
        var engine: ReachabilityEngine?
    }

    /// Calls `body` on the engine's thread.
    func perform(_ body: @escaping @Sendable (ReachabilityEngine) -> Void) {
        mailbox.post { [box] _ in if let engine = box.engine { body(engine) } }
    }

    /// Starts an engine on a thread in the namespace, and waits for the initial state.
    ///
    /// - Parameter interface: An interface to watch as well; its changes are logged in `interfaceChanges`.
    static func start(
        _ target: Target = .internet, in namespace: TestNamespace,
        options: ReachabilityEngine.Options = ReachabilityEngine.Options(),
        and interface: String? = nil, interfaceChanges: EventLog<ReachabilityChange> = EventLog(),
        networks: EventLog<NetworkSnapshot>? = nil
    ) async throws -> TestEngine {
        let mailboxes = EventLog<Mailbox>()
        let (changes, others) = (EventLog<ReachabilityChange>(), EventLog<String>())
        let descriptor = namespace.descriptor
        let link = try interface.map { try Target.interface($0) }
        let box = Box()
        BackgroundThread.start(named: "reach-test") {
            guard reach_enter_network_namespace(descriptor) == 0, let loop = try? EventLoop() else { return }
            let engine = ReachabilityEngine(loop: loop, options: options)
            engine.start()
            _ = engine.watch(target) { event in
                switch event {
                case .change(let change): changes.append(change)
                case .resync(_, let reason): others.append("resync: \(reason)")
                case .wake: others.append("wake")
                case .notice(_, let notice): others.append("\(notice)")
                case .probe: break
                }
            }
            if let networks { _ = engine.watchNetwork { if let network = $0 { networks.append(network) } } }
            if let link {
                _ = engine.watch(link) { event in
                    if case .change(let change) = event { interfaceChanges.append(change) }
                }
            }
            box.engine = engine
            mailboxes.append(loop.mailbox)
            loop.run()
            box.engine = nil
        }
        let engine = TestEngine(mailbox: try await mailboxes.wait(for: 1)[0], box, changes: changes, others: others)
        try await changes.wait(for: 1)
        return engine
    }

    private init(mailbox: Mailbox, _ box: Box, changes: EventLog<ReachabilityChange>, others: EventLog<String>) {
        (self.mailbox, self.box) = (mailbox, box)
        (self.changes, self.others) = (changes, others)
    }

    deinit { stop() }

    /// Stops the loop. No event follows.
    func stop() { mailbox.post { $0.stop() } }

    /// The state after the last reported change.
    var state: ReachabilityState? { changes.values.last?.state }

    /// Runs an action on the namespace, waits for the next change, and checks that it is the expected one.
    ///
    /// The next call detects a surplus change.
    func expect(
        _ expected: Change, after action: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let count = changes.values.count
        try action()
        let values = try await changes.wait(for: count + 1)
        #expect(Change(values[count]) == expected, sourceLocation: sourceLocation)
    }

    /// Runs an action that must cause no change, then one that must, and checks that only the second one did.
    func expectNothing(
        after action: () throws -> Void, butThen expected: Change, after sentinel: () throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let count = changes.values.count
        try action()
        try await drain()
        #expect(changes.values.count == count, sourceLocation: sourceLocation)
        try await expect(expected, after: sentinel, sourceLocation: sourceLocation)
    }

    /// Runs an action while the engine's thread is blocked, as on a busy machine.
    func whileStalled(_ action: () throws -> Void) throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        mailbox.post { _ in
            var byte: UInt8 = 0
            _ = read(reader, &byte, 1)
            close(reader)
        }
        defer { close(writer) }
        try action()
    }

    /// Waits until the engine has handled the notices that the kernel has queued.
    func drain() async throws {
        let done = EventLog<Bool>()
        // Two turns of the loop, since in the first turn the mailbox may come before the notices; then those that have
        // collected.
        let next: @Sendable (EventLoop) -> Void = { loop in loop.mailbox.post { _ in done.append(true) } }
        mailbox.post { loop in
            loop.mailbox.post { loop in
                _ = loop.schedule(at: SystemClock.boot + KernelObserver.collectingTime) { [unowned loop] in next(loop) }
            }
        }
        try await done.wait(for: 1)
    }
}
