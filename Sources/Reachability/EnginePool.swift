package import ReachCore
internal import ReachKernel

/// The engines of a process: one thread for all monitors with equal settings, from the first start to the last stop.
package final class EnginePool: ChangeSource {
    /// The pool for the process's own network namespace.
    package static let shared = EnginePool()

    private let threads: SharedThreads<EngineSettings, EngineThread>

    /// - Parameter namespace: A descriptor of the network namespace to watch, open as long as the pool is used; `nil`
    ///   means the process's own.
    package init(namespace: CInt? = nil) {
        threads = SharedThreads { settings in
            var options = EngineOptions()
            options.anchors = settings.anchors
            options.holdDown = settings.holdDown
            return EngineThread(options: options, namespace: namespace)
        }
    }

    package func prepare(_ target: Target, _ settings: EngineSettings) -> any ChangeWatch {
        threads.prepare(target, for: settings)
    }

    /// How many threads there are.
    package var count: Int { threads.count }
}
