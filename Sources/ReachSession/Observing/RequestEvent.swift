internal import ReachSerialization

/// What an observer is told: which task, and what happened to it.
public struct RequestEvent: Sendable {
    /// What happened.
    public let name: RequestNotification
    /// To which task. Its properties are the newest, and may be ahead of what this is about.
    public let task: RequestTask

    /// What came of a task that is complete, under AFNetworking's keys; empty for other events.
    ///
    /// The values are a `ResponseObject`, `any ResponseSerializer`, `[UInt8]`, `RequestError` and the path of a download, a
    /// `String`; what there is not is missing.
    public var userInfo: [RequestNotification.Key: any Sendable] {
        guard name == .didComplete, let result = task.result else { return [:] }
        var information: [RequestNotification.Key: any Sendable] = [
            .responseSerializer: task.core.options.responseSerializer
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

/// An observer's registration, by which ``RequestSession/removeObserver(_:)`` knows it. It need not be kept: letting go of
/// it removes nothing.
public final class RequestObserver: Sendable {
    let name: RequestNotification?
    let task: UInt64?
    let block: @Sendable (RequestEvent) -> Void

    init(_ name: RequestNotification?, _ task: UInt64?, _ block: @escaping @Sendable (RequestEvent) -> Void) {
        self.name = name
        self.task = task
        self.block = block
    }
}
