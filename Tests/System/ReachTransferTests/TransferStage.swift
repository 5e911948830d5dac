import CReachLinux
import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import ReachTransfer
import Synchronization

/// A transfer engine on its own thread, in the namespace of a test, and the events of its transfers.
final class TransferStage: Sendable {
    /// The loop and the engine, for work that runs on the loop's thread.
    struct Room {
        let loop: EventLoop
        let engine: TransferEngine
    }

    private final class Box: @unchecked Sendable {
        var room: Room?
        var failure: (any Error)?
    }

    private let mailbox: Mailbox
    private let box: Box
    private let ended: ThreadGate

    /// - Parameter namespace: The namespace of its sockets; `nil` for the test's own.
    init(in namespace: TestNamespace? = nil, options: TransferEngine.Options = .init()) throws {
        signal(SIGPIPE, SIG_IGN)
        let (box, ready, ended) = (Box(), ThreadGate(), ThreadGate())
        BackgroundThread.start(named: "test-engine") {
            do {
                if let namespace { reach_enter_network_namespace(namespace.descriptor) }
                let loop = try EventLoop()
                box.room = Room(loop: loop, engine: try TransferEngine(loop: loop, options: options))
            } catch {
                box.failure = error
            }
            ready.open()
            box.room?.loop.run()
            box.room = nil
            ended.open()
        }
        ready.wait()
        if let failure = box.failure { throw failure }
        guard let mailbox = box.room?.loop.mailbox else { throw CancellationError() }
        (self.mailbox, self.box, self.ended) = (mailbox, box, ended)
    }

    deinit {
        mailbox.post { $0.stop() }
        ended.wait()
    }

    /// Runs work on the loop's thread.
    func perform(_ work: @escaping @Sendable (Room) -> Void) {
        mailbox.post { [box] _ in if let room = box.room { work(room) } }
    }

    /// Measures how late the loop is from now on.
    func watchLateness() -> LoopLateness {
        let lateness = LoopLateness()
        perform { lateness.measure(on: $0.loop) }
        return lateness
    }

    /// Runs work on the loop's thread and waits for what it returns.
    func ask<Answer: Sendable>(_ work: @escaping @Sendable (Room) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: work($0)) }
        }
    }

    /// Starts a transfer.
    func start(
        _ request: TransferRequest, allowsRedirect: @escaping @Sendable (Redirect) -> Bool = { _ in true }
    ) -> EventLog<TransferEvent> {
        let log = EventLog<TransferEvent>()
        perform { room in
            _ = room.engine.start(
                request, handler: TransferHandler(allowsRedirect: allowsRedirect) { log.append($0) })
        }
        return log
    }

    /// Starts a transfer and waits for its end.
    func run(
        _ request: TransferRequest, within limit: Duration = .seconds(20),
        allowsRedirect: @escaping @Sendable (Redirect) -> Bool = { _ in true }
    ) async throws -> TransferReport {
        try await start(request, allowsRedirect: allowsRedirect).report(within: limit)
    }
}

extension EventLog<TransferEvent> {
    func report(within limit: Duration = .seconds(20)) async throws -> TransferReport {
        let last = try await wait(within: limit) { if case .finished = $0 { true } else { false } }
        guard case .finished(let report) = last else { throw CancellationError() }
        return report
    }

    var heads: [ResponseHead] { values.compactMap { if case .head(let head) = $0 { head } else { nil } } }
    var bodies: [[UInt8]] { values.compactMap { if case .body(let bytes) = $0 { bytes } else { nil } } }
    var progress: [ByteProgress] {
        values.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
    }
}

extension TransferRequest {
    /// A request to a server of the test.
    init(_ method: String = "GET", port: UInt16, _ path: String = "/", scheme: String = "http") throws {
        self.init(method, url: try TransferURL("\(scheme)://127.0.0.1:\(port)\(path)"))
    }
}

extension TransferPhases {
    /// The phases that happened, in their proper order.
    var inOrder: [BootTime] {
        [started, resolved, connected, secured, requestStarted, requestSent, firstByte, finished].compactMap { $0 }
    }

    var isMonotone: Bool { inOrder == inOrder.sorted() }
}

/// The shortest time of several rounds; the rounds end with the first one within `limit`.
///
/// The machine that runs tests is busy; a delay of our own code shows in every round.
func shortest(
    within limit: Duration, rounds: Int = 8, _ measure: () async throws -> Duration
) async throws -> Duration {
    var best = try await measure()
    for _ in 1..<rounds where best > limit { best = min(best, try await measure()) }
    return best
}
