internal import Dispatch
internal import ReachCore
internal import Synchronization

/// An observer's registration, by which ``ReachabilityNotificationCenter/removeObserver(_:)`` knows it.
///
/// It need not be kept: letting go of it removes nothing.
public final class ReachabilityObserver: Sendable {
    typealias Block = @Sendable (ReachabilityNotification) -> Void

    private let name: ReachabilityNotification.Name?
    private let monitor: MonitorID?
    private let queue: DispatchQueue?
    private let block: Block
    private let isRemoved = Atomic(false)
    /// The number of the last change that it was told, or need not be, by monitor.
    private let heard = Mutex<[MonitorID: UInt64]>([:])

    init(
        _ name: ReachabilityNotification.Name?, _ monitor: MonitorID?, _ queue: DispatchQueue?, _ block: @escaping Block
    ) {
        self.name = name
        self.monitor = monitor
        // A queue of its own upon the user's: in order, even if that one is concurrent.
        self.queue = queue.map { DispatchQueue(label: "reachability.observer", target: $0) }
        self.block = block
    }

    func observes(_ monitor: MonitorID) -> Bool { self.monitor == nil || self.monitor == monitor }

    func observes(_ name: ReachabilityNotification.Name) -> Bool { self.name == nil || self.name == name }

    /// Only this monitor, which is no more, was observed.
    func observesOnly(_ monitor: MonitorID) -> Bool { self.monitor == monitor }

    /// Whether it is to be told this change; it takes it as told.
    func hears(_ number: UInt64, of monitor: MonitorID) -> Bool {
        heard.withLock { heard in
            guard heard[monitor, default: 0] < number else { return false }
            heard[monitor] = number
            return true
        }
    }

    /// Is told nothing of this monitor before ``begin(after:of:)``.
    func holdOff(_ monitor: MonitorID) { heard.withLock { $0[monitor] = .max } }

    /// Is told the changes after this one.
    func begin(after number: UInt64, of monitor: MonitorID) { heard.withLock { $0[monitor] = number } }

    func forget(_ monitor: MonitorID) { heard.withLock { $0[monitor] = nil } }

    func remove() { isRemoved.store(true, ordering: .releasing) }

    /// Calls the block, here or on its queue, where the pass still holds then.
    func tell(
        _ name: ReachabilityNotification.Name, _ change: ReachabilityChange, of monitor: ReachabilityMonitor,
        _ pass: CallbackGate.Pass
    ) {
        guard let queue else {
            pass.perform { call(ReachabilityNotification(name: name, object: monitor, change: change)) }
            return
        }
        // What waits in a queue shall not keep the monitor alive.
        queue.async { [weak monitor] in
            guard let monitor else { return }
            pass.perform { self.call(ReachabilityNotification(name: name, object: monitor, change: change)) }
        }
    }

    /// Calls the block for what a program posted itself.
    func tell(_ notification: ReachabilityNotification) {
        guard let queue else { return call(notification) }
        queue.async { self.call(notification) }
    }

    private func call(_ notification: ReachabilityNotification) {
        if !isRemoved.load(ordering: .acquiring) { block(notification) }
    }
}
