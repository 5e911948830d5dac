internal import CReachLinux
internal import Glibc
package import ReachClient
internal import ReachCore
package import ReachKernel
internal import ReachLoop

/// A thread with an event loop and an engine, which other threads use by posting work; see ``LoopThread``.
package final class EngineThread: WatchThread {
    private let thread: LoopThread<LoopState>

    /// - Parameter namespace: A descriptor of the network namespace to watch; the process's own if `nil`. It is
    ///   duplicated at once.
    package init(options: ReachabilityEngine.Options = ReachabilityEngine.Options(), namespace: CInt? = nil) {
        let namespace = namespace.map(Namespace.init)
        thread = LoopThread(named: "reach-engine") {
            namespace?.enter()
        } makeResident: { loop in
            LoopState(ReachabilityEngine(loop: loop, options: options))
        }
    }

    package func watch(_ subject: WatchSubject, _ handler: @escaping @Sendable (StreamEvent) -> Void) -> UInt64 {
        let id = thread.nextID()
        thread.post { state in
            let watch = state.engine.watch(subject.target, where: subject.condition) { handler(.target($0)) }
            state.ids[id] = subject.seeksPath ? [watch, state.engine.askNeighbours()] : [watch]
        }
        return id
    }

    package func unwatch(_ id: UInt64) {
        thread.post { state in state.ids.removeValue(forKey: id)?.forEach(state.engine.unwatch) }
    }

    @discardableResult
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool { thread.post { _ in work() } }

    package func end() { thread.end() }

    /// A network namespace. Its descriptor is a duplicate, so that it stays open until the thread has entered the
    /// namespace.
    private final class Namespace: Sendable {
        private let descriptor: CInt

        init(_ descriptor: CInt) { self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

        deinit { close(descriptor) }

        func enter() {
            let result = reach_enter_network_namespace(descriptor)
            precondition(result == 0, "setns: \(SystemError.text(-result))")
        }
    }

    /// The thread's engine and watches, confined to the thread.
    private final class LoopState {
        let engine: ReachabilityEngine
        /// The engine's watch numbers by our own.
        var ids: [UInt64: [UInt64]] = [:]

        init(_ engine: ReachabilityEngine) {
            self.engine = engine
            engine.start()
        }
    }
}
