import Foundation
import ReachCore
import ReachLoop
import ReachTesting

@testable import ReachControl

/// A server on a thread of its own, in a directory of its own, with a service that tests control.
final class TestServer: @unchecked Sendable {
    /// The objects that are confined to the loop's thread.
    private final class Host {
        let loop: EventLoop
        let service: FakeService
        let queue = FakeQueue()
        let server: ControlServer

        init(_ limits: ControlLimits, _ authority: ControlAuthority, _ hasQueue: Bool) throws {
            loop = try EventLoop()
            service = FakeService()
            server = ControlServer(
                loop: loop, service: service,
                information: ServiceInformation(
                    vendor: "reach", product: "test", version: "1.2.3", url: "https://example.org/reach"),
                queue: hasQueue ? queue : nil, authority: authority, limits: limits)
        }
    }

    /// A box through which the loop's thread gives the host to the tests. They use it only in work posted to that
    /// thread, or while the thread waits for them.
    private final class HostBox: @unchecked Sendable {
        var host: Host?
        var failure: (any Error)?
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
    }

    private let temporary: TemporaryDirectory
    let path: String
    var directory: String { temporary.path }
    private let box = HostBox()
    private var mailbox: Mailbox?

    init(
        limits: ControlLimits = ControlLimits(), authority: ControlAuthority = ControlAuthority(user: getuid()),
        listens: Bool = true, hasQueue: Bool = false
    ) throws {
        temporary = try TemporaryDirectory()
        path = temporary.path + "/reach.sock"
        BackgroundThread.start(named: "test-server") { [box, path] in
            do {
                let host = try Host(limits, authority, hasQueue)
                if listens { try host.server.listen(at: path) }
                box.host = host
            } catch {
                box.failure = error
            }
            box.started.signal()
            box.host?.loop.run()
            box.host = nil
            box.ended.signal()
        }
        box.started.wait()
        if let failure = box.failure { throw failure }
        mailbox = box.host?.loop.mailbox
    }

    /// Ends the loop, and with it the server.
    func stop() {
        guard let mailbox else { return }
        mailbox.post { $0.stop() }
        box.ended.wait()
        self.mailbox = nil
    }

    deinit { stop() }

    /// Runs `body` on the loop's thread, and waits for it.
    @discardableResult
    func run<Result>(_ body: @escaping (FakeService, ControlServer) -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Result?
        nonisolated(unsafe) let body = body
        mailbox?.post { [box] _ in
            if let host = box.host { result = body(host.service, host.server) }
            done.signal()
        }
        done.wait()
        guard let result else { fatalError("the server has stopped") }
        return result
    }

    /// Runs `body` with the queue on the loop's thread, and waits for it.
    @discardableResult
    func queue<Result>(_ body: @escaping (FakeQueue) -> Result) -> Result {
        nonisolated(unsafe) var result: Result?
        let box = box
        run { _, _ in result = box.host.map { body($0.queue) } }
        guard let result else { fatalError("the server has stopped") }
        return result
    }

    /// The queue, in work that runs on the loop's thread.
    func queueOnLoop(_ body: (FakeQueue) -> Void) { box.host.map { body($0.queue) } }

    var statistics: ControlServer.Statistics { run { $1.statistics } }

    /// Waits until the server's statistics meet a condition.
    func wait(
        within limit: Duration = .seconds(10), until condition: @escaping (ControlServer.Statistics) -> Bool
    ) -> Bool {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if condition(statistics) { return true }
            usleep(2000)
        }
        return false
    }

    /// Leaves a stale socket at a path, as a killed process does.
    static func bindAndLeave(_ path: String) -> Bool {
        guard let address = UnixAddress(path), let socket = try? UnixAddress.socket(isBlocking: true) else {
            return false
        }
        defer { close(socket) }
        return (try? address.bind(socket)) != nil
    }
}
