internal import Dispatch
internal import ReachCore
internal import Synchronization

/// The registration of an observer, for ``ReachabilityNotificationCenter/removeObserver(_:)``.
///
/// It need not be kept: releasing it does not remove the observer.
public final class ReachabilityObserver: Sendable {
    typealias Block = @Sendable (ReachabilityNotification) -> Void

    private let name: ReachabilityNotification.Name?
    private let monitor: MonitorID?
    private let queue: DispatchQueue?
    private let block: Block
    private let isRemoved = Atomic(false)
    /// By monitor, the number of the last change that the observer has received, or does not need.
    private let delivered = Mutex<[MonitorID: UInt64]>([:])

    init(
        _ name: ReachabilityNotification.Name?, _ monitor: MonitorID?, _ queue: DispatchQueue?, _ block: @escaping Block
    ) {
        self.name = name
        self.monitor = monitor
        // A serial queue that targets the user's keeps the order even if that one is concurrent.
        self.queue = queue.map { DispatchQueue(label: "reachability.observer", target: $0) }
        self.block = block
    }

    func observes(_ monitor: MonitorID) -> Bool { self.monitor == nil || self.monitor == monitor }

    func observes(_ name: ReachabilityNotification.Name) -> Bool { self.name == nil || self.name == name }

    /// Whether this is the only monitor that is observed.
    func observesOnly(_ monitor: MonitorID) -> Bool { self.monitor == monitor }

    /// Marks a change as delivered.
    ///
    /// - Returns: Whether it was not delivered before, so that the caller has to deliver it.
    func claim(_ number: UInt64, of monitor: MonitorID) -> Bool {
        delivered.withLock { delivered in
            guard delivered[monitor, default: 0] < number else { return false }
            delivered[monitor] = number
            return true
        }
    }

    /// Receives no change of this monitor until ``begin(after:of:)``.
    func holdOff(_ monitor: MonitorID) { delivered.withLock { $0[monitor] = .max } }

    /// Receives the changes after this number.
    func begin(after number: UInt64, of monitor: MonitorID) { delivered.withLock { $0[monitor] = number } }

    func forget(_ monitor: MonitorID) { delivered.withLock { $0[monitor] = nil } }

    func remove() { isRemoved.store(true, ordering: .releasing) }

    /// Calls the block, here or on its queue, if the pass is still valid by then.
    func deliver(
        _ name: ReachabilityNotification.Name, _ change: ReachabilityChange, of monitor: ReachabilityMonitor,
        _ pass: CallbackGate.Pass
    ) {
        guard let queue else {
            pass.perform { call(ReachabilityNotification(name: name, object: monitor, change: change)) }
            return
        }
        // A queued call must not keep the monitor alive.
        queue.async { [weak monitor] in
            guard let monitor else { return }
            pass.perform { self.call(ReachabilityNotification(name: name, object: monitor, change: change)) }
        }
    }

    /// Calls the block for a notification that a program posted itself.
    func deliver(_ notification: ReachabilityNotification) {
        guard let queue else { return call(notification) }
        queue.async { self.call(notification) }
    }

    private func call(_ notification: ReachabilityNotification) {
        if !isRemoved.load(ordering: .acquiring) { block(notification) }
    }
}
