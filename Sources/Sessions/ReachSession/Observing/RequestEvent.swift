internal import ReachSerialization

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
