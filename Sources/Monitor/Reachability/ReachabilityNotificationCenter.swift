public import Dispatch
internal import ReachCore
internal import Synchronization

/// Delivers the notifications of monitors to any number of observers. It works like Foundation's NotificationCenter,
/// without Foundation; the product `ReachabilityFoundation` posts to Foundation's.
///
/// Observers are called in the order in which they were added, after the monitor's blocks and before its sequences.
/// They are called without a lock, so they may add and remove observers, post, and start and stop monitors.
public final class ReachabilityNotificationCenter: Sendable {
    /// The center that monitors post to by default.
    public static let `default` = ReachabilityNotificationCenter()

    private struct State {
        var observers: [ReachabilityObserver] = []
        var monitors: [MonitorID: Weak] = [:]
    }

    private struct Weak {
        weak var monitor: ReachabilityMonitor?
    }

    private let state = Mutex(State())

    /// Creates a separate center, for monitors whose options name it.
    public init() {}

    /// Adds an observer, next to those already added.
    ///
    /// If an observed monitor has already determined its state, the observer receives that state once, marked initial
    /// and with the number of the change that led to it.
    ///
    /// - Parameters:
    ///   - name: The name of the notifications to observe; `nil` observes all.
    ///   - object: The monitor to observe; `nil` observes all monitors. The observer does not keep it alive.
    ///   - queue: The queue on which to call the block, in order and without delaying other receivers. With `nil` the
    ///     block is called where its monitor calls its blocks, and later receivers wait for it.
    ///   - block: The block to call until the observer is removed.
    /// - Returns: The observer, for ``removeObserver(_:)``. It need not be kept.
    @discardableResult
    public func addObserver(
        forName name: ReachabilityNotification.Name?, object: ReachabilityMonitor? = nil, queue: DispatchQueue? = nil,
        using block: @escaping @Sendable (ReachabilityNotification) -> Void
    ) -> ReachabilityObserver {
        let observer = ReachabilityObserver(name, object?.id, queue, block)
        let monitors = state.withLock { state in
            let monitors = state.monitors.values.compactMap(\.monitor).filter { observer.observes($0.id) }
            for monitor in monitors { observer.holdOff(monitor.id) }
            state.observers.append(observer)
            return monitors
        }
        for monitor in monitors { monitor.dispatcher.add(observer, of: monitor) }
        return observer
    }

    /// Removes an observer. This thread does not call it again; a call on another thread that has begun, or is about to
    /// begin, may still run.
    public func removeObserver(_ observer: ReachabilityObserver) {
        observer.remove()
        state.withLock { $0.observers.removeAll { $0 === observer } }
    }

    /// Posts a notification of the program's own. Observers without a queue are called on the calling thread. Monitors
    /// post theirs themselves.
    public func post(_ notification: ReachabilityNotification) {
        for observer in observers(of: notification.object.id) where observer.observes(notification.name) {
            observer.deliver(notification)
        }
    }

    // MARK: - Monitors

    func attach(_ monitor: ReachabilityMonitor) {
        state.withLock { $0.monitors[monitor.id] = Weak(monitor: monitor) }
    }

    func detach(_ monitor: MonitorID) {
        // Observers are released outside the lock, since releasing what their blocks capture may run any code.
        let (orphans, others) = state.withLock { state in
            state.monitors[monitor] = nil
            let orphans = state.observers.filter { $0.observesOnly(monitor) }
            state.observers.removeAll { $0.observesOnly(monitor) }
            return (orphans, state.observers)
        }
        orphans.forEach { $0.remove() }
        others.forEach { $0.forget(monitor) }
    }

    /// Delivers a change to all observers that have not received it.
    func deliver(_ change: ReachabilityChange, of monitor: ReachabilityMonitor, _ pass: CallbackGate.Pass) {
        let names = change.notificationNames
        let receivers = observers(of: monitor.id).filter { observer in
            names.contains(where: observer.observes) && observer.claim(change.sequenceNumber, of: monitor.id)
        }
        deliver(change, to: receivers, of: monitor, pass)
    }

    /// Delivers a change to these observers, under every name that they observe.
    func deliver(
        _ change: ReachabilityChange, to receivers: [ReachabilityObserver], of monitor: ReachabilityMonitor,
        _ pass: CallbackGate.Pass
    ) {
        for name in change.notificationNames {
            for observer in receivers where observer.observes(name) {
                observer.deliver(name, change, of: monitor, pass)
            }
        }
    }

    private func observers(of monitor: MonitorID) -> [ReachabilityObserver] {
        state.withLock { $0.observers.filter { $0.observes(monitor) } }
    }
}
