internal import ReachSerialization
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

/// An event that observers receive: a task, and what happened to it.
public struct RequestEvent: Sendable {
    /// The name of the event.
    public let name: RequestNotification
    /// The task. Its properties are current, and may be newer than this event.
    public let task: RequestTask

    /// The result of a completed task, under AFNetworking's keys; empty for other events.
    ///
    /// The values are a `ResponseObject`, `any ResponseSerializer`, `TaskMetrics`, `[UInt8]`, `RequestError` and the
    /// path of a download, a `String`. A key without a value is missing.
    public var userInfo: [RequestNotification.Key: any Sendable] {
        guard name == .didComplete, let result = task.result else { return [:] }
        var information: [RequestNotification.Key: any Sendable] = [
            .responseSerializer: task.core.options.responseSerializer, .metrics: task.metrics,
        ]
        let response: RequestResponse?
        switch result {
        case .success(let success): response = success
        case .failure(let error):
            information[.error] = error
            response = error.response
        }
        information[.serializedResponse] = response?.object
        if let response, response.path == nil { information[.responseData] = response.body }
        information[.assetPath] = response?.path
        return information
    }
}
