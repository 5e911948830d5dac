internal import Synchronization

/// The registration of an observer, for ``RequestSession/removeObserver(_:)``. It need not be kept: releasing it
/// removes nothing.
public final class RequestObserver: Sendable {
    let name: RequestNotification?
    let task: UInt64?
    let block: @Sendable (RequestEvent) -> Void

    init(_ name: RequestNotification?, _ task: UInt64?, _ block: @escaping @Sendable (RequestEvent) -> Void) {
        self.name = name
        self.task = task
        self.block = block
    }

    fileprivate func observes(_ name: RequestNotification, of task: UInt64) -> Bool {
        (self.name ?? name) == name && (self.task ?? task) == task
    }
}

/// The observers of a session, in the order of registration.
final class RequestObservers: Sendable {
    private let observers = Mutex<[RequestObserver]>([])

    func add(_ observer: RequestObserver) { observers.withLock { $0.append(observer) } }

    func remove(_ observer: RequestObserver) { observers.withLock { $0.removeAll { $0 === observer } } }

    /// Whether an event has observers now. Nothing is delivered for one that has none.
    func isObserved(_ name: RequestNotification, of task: UInt64) -> Bool {
        observers.withLock { observers in observers.contains { $0.observes(name, of: task) } }
    }

    /// Calls the observers of this event, with no lock held: they may add and remove observers.
    func notify(_ event: RequestEvent) {
        let concerned = observers.withLock { observers in
            observers.filter { $0.observes(event.name, of: event.task.identifier) }
        }
        for observer in concerned where observers.withLock({ $0.contains { $0 === observer } }) {
            observer.block(event)
        }
    }
}
