internal import CReachLinux
internal import Dispatch
package import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import Synchronization

/// The engines of a process: one thread for all monitors with equal settings, from the first start to the last stop.
package final class EnginePool: ChangeSource {
    /// The pool for the process's own network namespace.
    package static let shared = EnginePool()

    private let namespace: CInt?
    private let threads: SharedThreads<EngineSettings, EngineThread>

    /// - Parameter namespace: A descriptor of the network namespace to watch, open as long as the pool is used; `nil`
    ///   means the process's own.
    package init(namespace: CInt? = nil) {
        self.namespace = namespace
        threads = SharedThreads { EngineThread(options: $0.engineOptions, namespace: namespace) }
    }

    package func prepare(_ subject: WatchSubject, _ settings: EngineSettings) -> any ChangeWatch {
        threads.prepare(subject, for: settings)
    }

    package func currentState(of subject: WatchSubject, _ settings: EngineSettings) -> ReachabilityState {
        guard let namespace else { return Self.query(subject, settings) }
        // Only a thread of its own can enter another namespace and end there.
        let result = Mutex(subject.unobservable)
        let done = DispatchSemaphore(value: 0)
        let isStarted = BackgroundThread.startIfPossible(named: "reach-query") {
            if reach_enter_network_namespace(namespace) == 0 {
                let state = Self.query(subject, settings)
                result.withLock { $0 = state }
            }
            done.signal()
        }
        if isStarted { done.wait() }
        return result.withLock { $0 }
    }

    private static func query(_ subject: WatchSubject, _ settings: EngineSettings) -> ReachabilityState {
        do throws(NetlinkError) {
            return try KernelSnapshot(options: settings.engineOptions, onDemand: true).state(
                of: subject.target, where: subject.condition)
        } catch {
            return subject.unobservable
        }
    }

    /// How many threads there are.
    package var count: Int { threads.count }
}
