internal import ReachClient
package import ReachCore
internal import ReachLoop

/// The connections of a process to a daemon: one thread for all monitors, and a connection for each.
package final class DaemonPool: ChangeSource {
    private static let threads = SharedThreads<String, DaemonThread> { DaemonThread(path: $0) }

    private let path: String?

    /// - Parameter path: The daemon's socket; `nil` means the one that `reach` would use at the time of the start.
    package init(path: String?) { self.path = path }

    /// Prepares to watch a target. `settings` have no effect: the daemon has its own.
    package func prepare(_ subject: WatchSubject, _ settings: EngineSettings) -> any ChangeWatch {
        Self.threads.prepare(subject, for: currentPath)
    }

    package func currentState(of subject: WatchSubject, _ settings: EngineSettings) -> ReachabilityState {
        do throws(ControlError) {
            var client = try ControlClient(path: currentPath)
            return try client.status(of: subject.target).choosing(where: subject.condition)
        } catch {
            return subject.unobservable
        }
    }

    private var currentPath: String {
        path ?? SocketPath.forThisProcess
    }

    /// How many threads there are, for all daemons.
    package static var count: Int { threads.count }
}

/// A thread that watches targets through the daemon at a socket path.
private final class DaemonThread: WatchThread {
    private let path: String
    private let thread: LoopThread<LoopState>

    init(path: String) {
        self.path = path
        thread = LoopThread(named: "reach-client") { LoopState($0) }
    }

    func watch(_ subject: WatchSubject, _ handler: @escaping @Sendable (StreamEvent) -> Void) -> UInt64 {
        let id = thread.nextID()
        thread.post { [path] state in
            var choice = ChoiceSeries(subject.condition)
            let watch = DaemonWatch(
                path: path, target: subject.target, seeksPath: subject.seeksPath, on: state.loop
            ) { event in choice.apply(to: event).map(handler) }
            state.watches[id] = watch
            watch.start()
        }
        return id
    }

    func unwatch(_ id: UInt64) {
        thread.post { state in state.watches.removeValue(forKey: id)?.cancel() }
    }

    func perform(_ work: @escaping @Sendable () -> Void) -> Bool { thread.post { _ in work() } }

    func end() { thread.end() }

    /// The thread's loop and watches, confined to the thread.
    private final class LoopState {
        let loop: EventLoop
        var watches: [UInt64: DaemonWatch] = [:]

        init(_ loop: EventLoop) { self.loop = loop }
    }
}

/// Turns a daemon's changes into those of a program that accepts only paths that satisfy a condition. The daemon
/// reports the kernel's own choice, so no other path counts.
struct ChoiceSeries {
    private let condition: NetworkCondition
    /// The last state that was passed on.
    private var state: ReachabilityState?

    init(_ condition: NetworkCondition) { self.condition = condition }

    /// - Returns: The event to pass on; `nil` if it makes no difference.
    mutating func apply(to event: StreamEvent) -> StreamEvent? {
        guard let change = event.change else { return event }
        let previous = state
        var accepted = change.state.choosing(where: condition)
        var aspects: [ReachabilityChange.Aspect] = []
        if let previous {
            aspects = StatusMachine.differences(from: previous, to: accepted)
            if accepted.status == previous.status { accepted.since = previous.since }
        }
        state = accepted
        guard previous == nil || !aspects.isEmpty else { return nil }
        let chosen = ReachabilityChange(
            at: Instant(wall: change.time, boot: change.bootTime), cause: change.cause, aspects: aspects,
            previous: previous, state: accepted)
        return .target(.change(chosen))
    }
}
