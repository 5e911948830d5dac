package import ReachCore
internal import ReachEngine
internal import Synchronization

/// The engines of a process: one thread for all monitors with equal settings, from the first start to the last stop.
package final class EnginePool: ChangeSource {
    /// In the network namespace of the process.
    package static let shared = EnginePool()

    private struct Entry {
        let thread: EngineThread
        var users = 0
    }

    private let namespace: CInt?
    private let entries = Mutex<[EngineSettings: Entry]>([:])

    /// - Parameter namespace: A descriptor of the network namespace to watch, open for as long as this is used.
    package init(namespace: CInt? = nil) { self.namespace = namespace }

    package func prepare(_ target: Target, _ settings: EngineSettings) -> any ChangeWatch {
        let thread = entries.withLock { entries in
            var entry = entries[settings] ?? Entry(thread: makeThread(settings))
            entry.users += 1
            entries[settings] = entry
            return entry.thread
        }
        return EngineWatch(target, on: thread) { self.release(settings) }
    }

    /// How many threads there are.
    package var count: Int { entries.withLock { $0.count } }

    private func makeThread(_ settings: EngineSettings) -> EngineThread {
        var options = EngineOptions()
        options.anchors = settings.anchors
        options.holdDown = settings.holdDown
        return EngineThread(options: options, namespace: namespace)
    }

    private func release(_ settings: EngineSettings) {
        let unused: EngineThread? = entries.withLock { entries in
            guard var entry = entries[settings] else { return nil }
            entry.users -= 1
            entries[settings] = entry.users > 0 ? entry : nil
            return entry.users > 0 ? nil : entry.thread
        }
        unused?.end()
    }
}

/// A watch on an engine's thread, which is given back at its end.
private final class EngineWatch: ChangeWatch {
    private enum Phase {
        case prepared
        case begun(UInt64)
        case ended
    }

    private let target: Target
    private let thread: EngineThread
    private let release: @Sendable () -> Void
    private let phase = Mutex(Phase.prepared)

    init(_ target: Target, on thread: EngineThread, release: @escaping @Sendable () -> Void) {
        self.target = target
        self.thread = thread
        self.release = release
    }

    deinit { end() }

    func begin(_ handler: @escaping @Sendable (EngineEvent) -> Void) {
        phase.withLock { phase in
            guard case .prepared = phase else { return }
            phase = .begun(thread.watch(target, handler))
        }
    }

    func end() {
        let isFirst = phase.withLock { phase in
            if case .ended = phase { return false }
            if case .begun(let id) = phase { thread.unwatch(id) }
            phase = .ended
            return true
        }
        if isFirst { release() }
    }

    func perform(_ work: @escaping @Sendable () -> Void) -> Bool { thread.perform(work) }
}
