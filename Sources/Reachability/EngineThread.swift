internal import CReachLinux
internal import Glibc
package import ReachCore
package import ReachEngine
internal import ReachLoop
internal import Synchronization

/// A thread with an event loop and an engine on it, which other threads hand their wishes.
///
/// Loop and engine are made on that thread and never leave it. It begins with the first wish and ends with ``end()``,
/// which closes its sockets soon after. Where the process has no thread or descriptor left, nothing is told until it
/// has: a lack of threads is looked at again with the next wish, one of descriptors every second.
package final class EngineThread: Sendable {
    package typealias Handler = @Sendable (EngineEvent) -> Void
    private typealias Wish = @Sendable (Desk) -> Void

    private struct State {
        var hasThread = false
        var isEnded = false
        /// Wishes from before the loop was there.
        var waiting: [Wish] = []
        var entrance: (mailbox: Mailbox, door: Door)?
        var lastID: UInt64 = 0
    }

    private let options: EngineOptions
    /// -1: the process's own.
    private let namespace: CInt
    private let state = Mutex(State())

    /// - Parameter namespace: A descriptor of the network namespace to watch; the process's own if `nil`. It is
    ///   duplicated at once.
    package init(options: EngineOptions = EngineOptions(), namespace: CInt? = nil) {
        self.options = options
        self.namespace = namespace.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
    }

    deinit { if namespace >= 0 { close(namespace) } }

    /// Has `handler` called on the thread with the target's state, once it is determined, and with every change.
    ///
    /// - Returns: A number for ``unwatch(_:)``.
    package func watch(_ target: Target, _ handler: @escaping Handler) -> UInt64 {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        post { desk in desk.ids[id] = desk.engine.watch(target, handler) }
        return id
    }

    /// The handler will not be called any more; a call that has begun, or is about to, still runs.
    package func unwatch(_ id: UInt64) {
        post { desk in desk.ids.removeValue(forKey: id).map(desk.engine.unwatch) }
    }

    /// Runs work on the thread, after all that was wished for before.
    ///
    /// - Returns: `false` after ``end()``.
    @discardableResult
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        post { _ in work() }
    }

    /// Ends the thread after all that was wished for before; does not wait for it.
    package func end() {
        let hadThread = state.withLock { state in
            guard !state.isEnded, state.hasThread else {
                state.isEnded = true
                return false
            }
            return true
        }
        guard hadThread else { return }
        post(isLast: true) { desk in desk.loop.stop() }
    }

    @discardableResult
    private func post(isLast: Bool = false, _ wish: @escaping Wish) -> Bool {
        let (isTaken, needsThread) = state.withLock { state in
            guard !state.isEnded else { return (false, false) }
            if let (mailbox, door) = state.entrance {
                mailbox.post { _ in door.desk.map(wish) }
            } else {
                state.waiting.append(wish)
            }
            if isLast {
                state.isEnded = true
                state.entrance = nil
            }
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        if needsThread, !BackgroundThread.startIfPossible(named: "reach-engine", { self.run() }) {
            state.withLock { $0.hasThread = false }
        }
        return isTaken
    }

    // MARK: - On the thread

    private func run() {
        if namespace >= 0 {
            let result = reach_enter_network_namespace(namespace)
            precondition(result == 0, "setns: \(SystemError.text(-result))")
        }
        while true {
            if let loop = try? EventLoop() { return serve(Desk(loop: loop, options: options)) }
            if state.withLock({ $0.isEnded }) { return }
            sleep(1)
        }
    }

    private func serve(_ desk: Desk) {
        desk.engine.start()
        state.withLock { state in
            let mailbox = desk.loop.mailbox
            let door = Door(desk)
            for wish in state.waiting { mailbox.post { _ in door.desk.map(wish) } }
            state.waiting = []
            if !state.isEnded { state.entrance = (mailbox, door) }
        }
        desk.loop.run()
        desk.loop.mailbox.seal()
    }

    /// What stands on the thread.
    private final class Desk {
        let loop: EventLoop
        let engine: ReachabilityEngine
        /// The engine's numbers by ours.
        var ids: [UInt64: UInt64] = [:]

        init(loop: EventLoop, options: EngineOptions) {
            self.loop = loop
            engine = ReachabilityEngine(loop: loop, options: options)
        }
    }

    /// Carries the desk's reference through other threads, which never open it: only its own loop does.
    private struct Door: @unchecked Sendable {
        private(set) weak var desk: Desk?

        init(_ desk: Desk) { self.desk = desk }
    }
}
