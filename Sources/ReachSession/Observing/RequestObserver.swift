internal import Synchronization

/// The observers of a session, in the order of their coming.
final class RequestObservers: Sendable {
    private let observers = Mutex<[RequestObserver]>([])

    func add(_ observer: RequestObserver) { observers.withLock { $0.append(observer) } }

    func remove(_ observer: RequestObserver) { observers.withLock { $0.removeAll { $0 === observer } } }

    /// Calls those whom it concerns, with no lock held: they may add and remove observers.
    func tell(_ event: RequestEvent) {
        let listeners = observers.withLock { observers in
            observers.filter {
                ($0.name ?? event.name) == event.name && ($0.task ?? event.task.identifier) == event.task.identifier
            }
        }
        for listener in listeners where observers.withLock({ $0.contains { $0 === listener } }) {
            listener.block(event)
        }
    }
}
