internal import CReachLinux
internal import Glibc
package import ReachCore
package import ReachKernel
internal import ReachLoop

/// A thread with an event loop and an engine on it, which other threads hand their wishes; see ``LoopThread``.
package final class EngineThread: WatchThread {
    private let thread: LoopThread<Desk>

    /// - Parameter namespace: A descriptor of the network namespace to watch; the process's own if `nil`. It is
    ///   duplicated at once.
    package init(options: EngineOptions = EngineOptions(), namespace: CInt? = nil) {
        let namespace = namespace.map(Namespace.init)
        thread = LoopThread(named: "reach-engine") {
            namespace?.enter()
        } makeResident: { loop in
            Desk(ReachabilityEngine(loop: loop, options: options))
        }
    }

    package func watch(_ target: Target, _ handler: @escaping @Sendable (SourceEvent) -> Void) -> UInt64 {
        let id = thread.nextID()
        thread.post { desk in
            desk.ids[id] = desk.engine.watch(target) { event in
                if case .change(let change) = event { handler(.change(change)) }
            }
        }
        return id
    }

    package func unwatch(_ id: UInt64) {
        thread.post { desk in desk.ids.removeValue(forKey: id).map(desk.engine.unwatch) }
    }

    @discardableResult
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool { thread.post { _ in work() } }

    package func end() { thread.end() }

    /// A network namespace, which stays open until the thread has entered it, whatever becomes of others meanwhile.
    private final class Namespace: Sendable {
        private let descriptor: CInt

        init(_ descriptor: CInt) { self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

        deinit { close(descriptor) }

        func enter() {
            let result = reach_enter_network_namespace(descriptor)
            precondition(result == 0, "setns: \(SystemError.text(-result))")
        }
    }

    /// What stands on the thread.
    private final class Desk {
        let engine: ReachabilityEngine
        /// The engine's numbers by ours.
        var ids: [UInt64: UInt64] = [:]

        init(_ engine: ReachabilityEngine) {
            self.engine = engine
            engine.start()
        }
    }
}
