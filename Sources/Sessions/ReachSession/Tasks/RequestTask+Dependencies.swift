internal import Synchronization

/// A task that must be over before another one starts.
struct TaskDependency: Sendable {
    let task: RequestTask
    /// Whether the other one fails if this one does.
    let mustSucceed: Bool
}

extension RequestTask {
    /// Has this task start after another one is over, of this session or of another: NSOperation's `addDependency:`. A
    /// task may have several; it starts after the last of them. It does not resume them.
    ///
    /// A session with a directory stores the task when it starts, so that a later run does not know a task that still
    /// waits. ``RequestOptions/orderKey`` orders requests that are stored.
    ///
    /// - Parameters:
    ///   - other: The task that comes first.
    ///   - mustSucceed: Whether this task ends with the word `dependency` if the other one fails or is cancelled. By
    ///     default it is sent whatever becomes of the other one, as an operation is.
    /// - Throws: A ``RequestError`` with the word `already-started` if this task was resumed before, and with
    ///   `dependency-cycle` if the other one waits for this one.
    public func addDependency(on other: RequestTask, mustSucceed: Bool = false) throws(RequestError) {
        guard !other.waits(for: self) else {
            throw RequestError(.request, "dependency-cycle", "the tasks would wait for each other")
        }
        let isAdded = state.withLock { state in
            guard !state.wasResumed, !state.isOver else { return false }
            state.dependencies.append(TaskDependency(task: other, mustSucceed: mustSucceed))
            return true
        }
        guard isAdded else {
            throw RequestError(.request, "already-started", "the task was resumed before it got a dependency")
        }
    }

    /// The tasks after which this one starts, as long as it is not over.
    public var dependencies: [RequestTask] { state.withLock { $0.dependencies.map(\.task) } }

    /// Whether this is the other task, or starts after it.
    private func waits(for other: RequestTask) -> Bool {
        var (found, open): (Set<ObjectIdentifier>, [RequestTask]) = ([], [self])
        while let task = open.popLast() {
            if task === other { return true }
            if found.insert(ObjectIdentifier(task)).inserted { open += task.dependencies }
        }
        return false
    }

    /// Passes the task to the queue, after all that it depends on are over.
    func startAfterDependencies() {
        let dependencies = state.withLock { $0.dependencies }
        guard !dependencies.isEmpty else { return core.start(self) }
        // It ends with its session meanwhile.
        core.keep(self)
        let left = DependencyCount(dependencies.count)
        for dependency in dependencies {
            // Without the other task itself, which keeps this block.
            dependency.task.whenOver { [self, mustSucceed = dependency.mustSucceed] isSuccess in
                if !isSuccess, mustSucceed, end(with: .dependency) { return }
                guard left.isLast else { return }
                state.withLock { $0.dependencies = [] }
                core.start(self)
            }
        }
    }

    /// Calls a block at the end, with no lock held, or at once if the task is over.
    private func whenOver(_ block: @escaping @Sendable (Bool) -> Void) {
        let isSuccess: Bool? = state.withLock { state in
            switch state.result {
            case .success: return true
            case .failure: return false
            case nil:
                state.dependents.append(block)
                return nil
            }
        }
        if let isSuccess { block(isSuccess) }
    }
}

/// Counts dependencies that are not over.
private final class DependencyCount: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    /// Counts one down.
    var isLast: Bool { count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}

extension RequestError {
    fileprivate static let dependency = RequestError(
        .destination, "dependency", "the request that it depends on failed")
}
