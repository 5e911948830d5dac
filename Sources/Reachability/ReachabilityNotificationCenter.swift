public import Dispatch
internal import ReachCore
internal import Synchronization

/// Tells any number of observers what monitors post. It works as Foundation's NotificationCenter does, without
/// Foundation; the product `ReachabilityFoundation` posts to that one.
///
/// Observers are called in the order they were added, after the monitor's blocks and before its sequences. No lock is
/// held while they are called: they may add and remove observers, post, and start and stop monitors.
public final class ReachabilityNotificationCenter: Sendable {
    /// The one that monitors post to unless told otherwise.
    public static let `default` = ReachabilityNotificationCenter()

    private struct State {
        var observers: [ReachabilityObserver] = []
        var monitors: [MonitorID: Weak] = [:]
    }

    private struct Weak {
        weak var monitor: ReachabilityMonitor?
    }

    private let state = Mutex(State())

    /// A centre of one's own, for the monitors that are made with it.
    public init() {}

    /// Adds an observer. Whoever is there already stays.
    ///
    /// If a monitor that is observed has determined its state, the observer is told that state, once, marked initial
    /// and with the number of the change that led to it.
    ///
    /// - Parameters:
    ///   - name: The notifications wanted; all if `nil`.
    ///   - object: The monitor whose notifications are wanted; all monitors' if `nil`. It is not kept alive.
    ///   - queue: Where to call the block. If `nil`, the block is called where its monitor calls its blocks, and
    ///     whoever comes after waits for it. Otherwise it is called on that queue, in order, and nobody waits for it.
    ///   - block: What to call, until the observer is removed.
    /// - Returns: What to remove it by. It need not be kept.
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
        for monitor in monitors { monitor.announcer.add(observer, of: monitor) }
        return observer
    }

    /// Removes an observer: it is not called any more by this thread. A call on another thread that has begun, or is
    /// about to, may still run.
    public func removeObserver(_ observer: ReachabilityObserver) {
        observer.remove()
        state.withLock { $0.observers.removeAll { $0 === observer } }
    }

    /// Calls the observers of this name and monitor, those without a queue on the calling thread. Monitors post by
    /// themselves.
    public func post(_ notification: ReachabilityNotification) {
        for observer in observers(of: notification.object.id) where observer.observes(notification.name) {
            observer.tell(notification)
        }
    }

    // MARK: - For monitors

    func attach(_ monitor: ReachabilityMonitor) {
        state.withLock { $0.monitors[monitor.id] = Weak(monitor: monitor) }
    }

    func detach(_ monitor: MonitorID) {
        // Observers are let go outside the lock: what their blocks hold may be anything.
        let (orphans, others) = state.withLock { state in
            state.monitors[monitor] = nil
            let orphans = state.observers.filter { $0.observesOnly(monitor) }
            state.observers.removeAll { $0.observesOnly(monitor) }
            return (orphans, state.observers)
        }
        orphans.forEach { $0.remove() }
        others.forEach { $0.forget(monitor) }
    }

    /// Tells the change to all who have not heard it.
    func announce(_ change: ReachabilityChange, of monitor: ReachabilityMonitor, _ pass: CallbackGate.Pass) {
        let names = change.notificationNames
        let listeners = observers(of: monitor.id).filter { observer in
            names.contains(where: observer.observes) && observer.hears(change.sequenceNumber, of: monitor.id)
        }
        tell(listeners, change, of: monitor, pass)
    }

    /// Tells these observers the change under every name that they observe.
    func tell(
        _ listeners: [ReachabilityObserver], _ change: ReachabilityChange, of monitor: ReachabilityMonitor,
        _ pass: CallbackGate.Pass
    ) {
        for name in change.notificationNames {
            for observer in listeners where observer.observes(name) { observer.tell(name, change, of: monitor, pass) }
        }
    }

    private func observers(of monitor: MonitorID) -> [ReachabilityObserver] {
        state.withLock { $0.observers.filter { $0.observes(monitor) } }
    }
}
