internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

/// An engine that watches one target inside a namespace, and a log of what it told.
final class Watched: Sendable {
    /// A told change in the words that a test compares.
    struct Told: Hashable, CustomStringConvertible {
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
    /// What was told that is no change, in words.
    let others: EventLog<String>
    private let mailbox: Mailbox

    /// - Returns: Once the initial state was told.
    static func start(
        _ target: Target = .internet, in namespace: TestNamespace, options: EngineOptions = EngineOptions()
    ) async throws -> Watched {
        let doors = EventLog<Mailbox>()
        let (changes, others) = (EventLog<ReachabilityChange>(), EventLog<String>())
        let descriptor = namespace.descriptor
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
                }
            }
            doors.append(loop.mailbox)
            loop.run()
        }
        let watched = Watched(mailbox: try await doors.wait(for: 1)[0], changes: changes, others: others)
        try await changes.wait(for: 1)
        return watched
    }

    private init(mailbox: Mailbox, changes: EventLog<ReachabilityChange>, others: EventLog<String>) {
        self.mailbox = mailbox
        (self.changes, self.others) = (changes, others)
    }

    deinit { stop() }

    /// Nothing is told after this.
    func stop() { mailbox.post { $0.stop() } }

    /// What holds now, as far as it was told.
    var state: ReachabilityState? { changes.values.last?.state }

    /// Does something to the namespace, waits until the next change is told, and checks that it is this one.
    ///
    /// A change too many is noticed by the step after it, and at the end by ``expectNothingMore(_:)``.
    func expect(
        _ told: Told, after action: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let count = changes.values.count
        try action()
        let values = try await changes.wait(for: count + 1)
        #expect(Told(values[count]) == told, sourceLocation: sourceLocation)
    }

    /// Does something that must not be told of, then something that must, and checks that only that was.
    func expectNothing(
        after action: () throws -> Void, butThen told: Told, after sentinel: () throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let count = changes.values.count
        try action()
        try await drain()
        #expect(changes.values.count == count, sourceLocation: sourceLocation)
        try await expect(told, after: sentinel, sourceLocation: sourceLocation)
    }

    /// Does something while the engine's thread is held up, as on a machine that is busy with something else.
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

    /// Waits until the engine has been through what the kernel had queued for it.
    func drain() async throws {
        let done = EventLog<Bool>()
        // Twice round the loop: the first may come before the notices in the same turn.
        mailbox.post { loop in loop.mailbox.post { _ in done.append(true) } }
        try await done.wait(for: 1)
    }
}
