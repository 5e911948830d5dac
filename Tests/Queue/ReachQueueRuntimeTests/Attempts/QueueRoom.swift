import CReachLinux
import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer

/// A queue on a thread of its own, in a namespace, with the kernel's news and real transfers.
final class QueueRoom: Sendable {
    struct Room {
        let loop: EventLoop
        let network: ReachabilityEngine
        let queue: QueueEngine
    }

    private final class Box: @unchecked Sendable {
        var room: Room?
        var failure: (any Error)?
    }

    struct Told: Sendable {
        let event: QueueEvent
        let at: ContinuousClock.Instant
    }

    let events = EventLog<Told>()
    let notices = EventLog<QueueDriver.Notice>()
    let progress = EventLog<AttemptProgress>()
    let resyncs = EventLog<String>()
    /// Of the Internet.
    let changes = EventLog<ReachabilityChange>()
    private let mailbox: Mailbox
    private let box: Box
    private let ended: ThreadGate

    init(
        in namespace: TestNamespace? = nil, links: LinkPolicy = TwoLinks.policy, directory: String? = nil,
        receiveBufferBytes: Int = NoticeSocket.defaultBufferBytes,
        paths: PlayedPaths? = nil,
        _ change: (inout QueueEngine.Options) -> Void = { _ in }
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        var options = QueueEngine.Options()
        change(&options)
        let (box, ready, ended) = (Box(), ThreadGate(), ThreadGate())
        let (events, notices, progress, resyncs, changes) = (events, notices, progress, resyncs, changes)
        BackgroundThread.start(named: "test-queue") { [options] in
            do {
                if let namespace { reach_enter_network_namespace(namespace.descriptor) }
                let loop = try EventLoop()
                var engineOptions = ReachabilityEngine.Options()
                engineOptions.observer.policy = links
                engineOptions.observer.receiveBufferBytes = receiveBufferBytes
                let network = ReachabilityEngine(loop: loop, options: engineOptions)
                network.start()
                _ = network.watch(.internet) { event in
                    if case .resync(_, let reason) = event { resyncs.append(reason) }
                    if case .change(let change) = event { changes.append(change) }
                }
                let queue = QueueEngine(
                    loop: loop, network: network, options: options, checker: paths?.checker(on: loop),
                    onEvent: { events.append(Told(event: $0, at: .now)) }, notify: { notices.append($0) })
                queue.onProgress = { progress.append($0) }
                if let directory {
                    try queue.open(try QueueDirectory(directory))
                } else {
                    queue.openInMemory()
                }
                box.room = Room(loop: loop, network: network, queue: queue)
            } catch {
                box.failure = error
            }
            ready.open()
            box.room?.loop.run()
            box.room?.queue.close(patience: .seconds(5))
            box.room = nil
            ended.open()
        }
        ready.wait()
        if let failure = box.failure { throw failure }
        guard let mailbox = box.room?.loop.mailbox else { throw CancellationError() }
        (self.mailbox, self.box, self.ended) = (mailbox, box, ended)
    }

    deinit { stop() }

    /// As the daemon stops. Again does no harm.
    func stop() {
        mailbox.post { $0.stop() }
        ended.wait()
    }

    func perform(_ work: @escaping @Sendable (Room) -> Void) {
        mailbox.post { [box] _ in if let room = box.room { work(room) } }
    }

    func ask<Answer: Sendable>(_ work: @escaping @Sendable (Room) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: work($0)) }
        }
    }

    struct Refused: Error {
        let reply: QueueReply
    }

    /// Queues a request and waits until it is safe.
    func add(
        _ url: String, method: String = "GET", when condition: String = "any", body: RequestBody = .none,
        by owner: UInt32 = 0, _ change: (inout RequestSpecification) -> Void = { _ in }
    ) async throws -> RequestID {
        var request = try QueuedRequest(
            RequestSpecification(method: method, url: url, body: body, condition: try NetworkCondition(condition)),
            owner: owner)
        change(&request.specification)
        return try await add([request])[0]
    }

    /// Queues requests in one turn of the loop, and waits until all are safe. However late a busy machine lets the test
    /// go on, none of them starts later than the others for it.
    ///
    /// - Parameter isReady: Looked at every 10 ms until they may be added.
    func add(
        _ requests: [QueuedRequest], when isReady: @escaping @Sendable (Room) -> Bool = { _ in true }
    ) async throws -> [RequestID] {
        let replies = EventLog<(place: Int, reply: QueueReply)>()
        perform { room in Self.add(requests, in: room, when: isReady) { replies.append(($0, $1)) } }
        return try await replies.wait(for: requests.count, within: .seconds(30)).sorted { $0.place < $1.place }.map {
            guard case .added(let id) = $0.reply else { throw Refused(reply: $0.reply) }
            return id
        }
    }

    private static func add(
        _ requests: [QueuedRequest], in room: Room, when isReady: @escaping @Sendable (Room) -> Bool,
        reply: @escaping (Int, QueueReply) -> Void
    ) {
        guard isReady(room) else {
            room.loop.schedule(at: SystemClock.boot + .milliseconds(10)) {
                add(requests, in: room, when: isReady, reply: reply)
            }
            return
        }
        for (place, request) in requests.enumerated() {
            do throws(RequestValidationError) {
                try room.queue.driver.add(request, makeKey: UniqueKey.make) { reply(place, $0) }
            } catch {
                reply(place, .notFound)
            }
        }
    }

    func holdQueue(_ isHeld: Bool) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            perform { room in
                room.queue.driver.ask({ isHeld ? .holdQueue(.root, $0) : .releaseQueue(.root, $0) }) { _ in
                    continuation.resume()
                }
            }
        }
    }

    @discardableResult
    func wait(
        for kind: QueueEvent.Kind, of id: RequestID? = nil, within limit: Duration = .seconds(20)
    ) async throws -> Told {
        try await events.wait(within: limit) { $0.event.kind == kind && (id == nil || $0.event.request == id) }
    }

    func kinds(of id: RequestID) -> [QueueEvent.Kind] {
        events.values.filter { $0.event.request == id }.map(\.event.kind)
    }

    func explain(_ id: RequestID) async -> QueueExplanation? { await ask { $0.queue.driver.explain(id) } }

    func record(_ id: RequestID) async throws -> RequestReport? {
        let log = EventLog<RequestReport?>()
        perform { $0.queue.driver.record(of: id) { log.append(try? $0.get()) } }
        return try await log.wait(for: 1)[0]
    }

    /// Measures how late the queue's loop is from now on.
    func watchLateness() -> LoopLateness {
        let lateness = LoopLateness()
        perform { lateness.measure(on: $0.loop) }
        return lateness
    }
}

/// Whether paths work, as a test has it, and which were asked about.
struct PlayedPaths: Sendable {
    let asked = EventLog<String>()
    let work: @Sendable () -> Bool

    init(work: @escaping @Sendable () -> Bool) { self.work = work }

    func checker(on loop: EventLoop) -> any PathChecker { Checker(loop, self) }

    private final class Checker: PathChecker {
        private let loop: EventLoop
        private let played: PlayedPaths

        init(_ loop: EventLoop, _ played: PlayedPaths) { (self.loop, self.played) = (loop, played) }

        func check(_ path: QueuePath, reply: @escaping (Bool?) -> Void) {
            played.asked.append(path.interface)
            let works = played.work()
            loop.afterEvents { reply(works) }
        }
    }
}

extension QueueRoom {
    /// A body in the queue's own files.
    func spool(_ bytes: [UInt8]) async throws -> String {
        // Opening it, the store removes files that no request names.
        try await notices.wait(for: 1)
        let log = EventLog<Bool>()
        perform { room in
            room.queue.spool?.append(bytes, to: "body-test") { result in
                if case .success = result { log.append(true) }
            }
        }
        try await log.wait(for: 1)
        return "body-test"
    }

    /// A file of the queue's.
    func read(_ name: String) async throws -> [UInt8] {
        let log = EventLog<Result<[UInt8], SystemError>>()
        perform { $0.queue.spool?.read(name, from: 0, 1 << 20) { log.append($0) } }
        return try await log.wait(for: 1)[0].get()
    }
}
