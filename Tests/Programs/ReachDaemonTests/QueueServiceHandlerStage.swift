import CReachLinux
import Glibc
import Logging
@testable import ReachControl
import ReachCore
import ReachKernel
import ReachLoop
import ReachQueue
import ReachTesting

@testable import ReachDaemon

/// A queue as the daemon has it, on a thread of its own, and the handler that clients ask.
final class QueueServiceHandlerStage: Sendable {
    struct Room {
        let loop: EventLoop
        let engine: ReachabilityEngine
        let handler: QueueServiceHandler
    }

    private final class Box: @unchecked Sendable {
        var room: Room?
        var watches: [QueueWatch] = []
    }

    let logged = EventLog<String>()

    /// What a reload does when the configuration names these networks.
    func reload(networks names: [String]) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            mailbox.post { [box] _ in
                box.room?.handler.networkNames = { names }
                box.room?.handler.reportUnknownNetworks(among: names)
                done.resume()
            }
        }
    }

    private let box = Box()
    private let mailbox: Mailbox
    private let ended = ThreadGate()

    /// - Parameter directory: The state directory; `nil` keeps no queue.
    init(
        in directory: String?, namespace: TestNamespace? = nil, retrying: Duration = .seconds(10),
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        var configuration = Configuration()
        change(&configuration)
        let (box, ready, ended, logged) = (box, ThreadGate(), ended, logged)
        BackgroundThread.start(named: "test-queue") { [configuration] in
            if let namespace { _ = reach_enter_network_namespace(namespace.descriptor) }
            if let loop = try? EventLoop() {
                let handler = QueueServiceHandler(
                    loop: loop, transfers: SharedTransfers(loop: loop),
                    log: Logger(label: "test") { _ in RecordingLogHandler(logged) })
                handler.opening.retryInterval = retrying
                let engine = ReachabilityEngine(loop: loop)
                engine.start()
                if let directory { handler.open(in: directory, configuration, version: "1", network: engine) }
                handler.networkNames = { configuration.networks.map(\.name) }
                handler.rootCause = { [unowned engine] in engine.rootCause(where: $0) }
                box.room = Room(loop: loop, engine: engine, handler: handler)
            }
            ready.open()
            box.room?.loop.run()
            box.watches = []
            box.room?.handler.close(patience: .seconds(2))
            box.room = nil
            ended.open()
        }
        ready.wait()
        guard let mailbox = box.room?.loop.mailbox else { throw CancellationError() }
        self.mailbox = mailbox
    }

    deinit {
        mailbox.post { $0.stop() }
        ended.wait()
    }

    static let root = Caller(user: 0, group: 0, process: 1)
    static let one = Caller(user: 4001, group: 4001, process: 1)
    static let other = Caller(user: 4002, group: 4002, process: 1)

    /// Asks on the loop's thread, and waits for the answer.
    func ask<Value: Sendable>(
        _ question:
            @escaping @Sendable (QueueServiceHandler, @escaping (Result<Value, QueueServiceError>) -> Void) -> Void
    ) async throws -> Value {
        let log = EventLog<Result<Value, QueueServiceError>>()
        mailbox.post { [box] _ in
            if let handler = box.room?.handler { question(handler) { log.append($0) } }
        }
        return try await log.wait(for: 1)[0].get()
    }

    func add(_ request: RequestSpecification, for caller: Caller = one) async throws -> Int64 {
        let receipt: QueueReceipt = try await ask { $0.add(request, for: caller, reply: $1) }
        return receipt.id
    }

    func show(_ id: Int64, for caller: Caller = one) async throws -> RequestReport {
        try await ask { $0.show(id, for: caller, reply: $1) }
    }

    func watch(_ id: Int64?, for caller: Caller = one) throws -> EventLog<QueueNotice> {
        let log = EventLog<QueueNotice>()
        mailbox.post { [box] _ in
            if let watch = try? box.room?.handler.watch(id, for: caller, sink: { log.append($0) }) {
                box.watches.append(watch)
            }
        }
        return log
    }
}

extension EventLog<QueueNotice> {
    @discardableResult
    func event(_ kind: QueueEvent.Kind, of id: Int64? = nil) async throws -> QueueEvent {
        let notice = try await wait { notice in
            if case .event(let event) = notice {
                event.kind == kind && (id == nil || event.request?.rawValue == id)
            } else {
                false
            }
        }
        guard case .event(let event) = notice else { throw CancellationError() }
        return event
    }
}

/// Keeps each message with its level.
private struct RecordingLogHandler: LogHandler {
    let messages: EventLog<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ messages: EventLog<String>) { self.messages = messages }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { messages.append("\(event.level) \(event.message)") }
}
