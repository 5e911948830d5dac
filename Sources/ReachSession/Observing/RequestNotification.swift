/// What observers of requests are told, and the keys under which a notification of a completed request has what came of it.
///
/// Whoever tells them does it after the completion was called, as ``RequestLife`` says.
public enum RequestNotification: String, Hashable, Sendable, CaseIterable {
    /// What AFNetworking called `AFNetworkingTaskDidResumeNotification`.
    case didResume = "io.reach.request.resume"
    /// What AFNetworking called `AFNetworkingTaskDidSuspendNotification`.
    case didSuspend = "io.reach.request.suspend"
    /// What AFNetworking called `AFNetworkingTaskDidCompleteNotification`. It alone has the keys.
    case didComplete = "io.reach.request.complete"

    /// AFNetworking's own keys, so that code that looks them up finds them.
    public enum Key: String, Hashable, Sendable, CaseIterable {
        /// What the response serializer made of the body.
        case serializedResponse = "com.alamofire.networking.task.complete.serializedresponse"
        /// The serializer that made it.
        case responseSerializer = "com.alamofire.networking.task.complete.responseserializer"
        /// The body's bytes. The only key whose text begins otherwise, in AFNetworking too.
        case responseData = "com.alamofire.networking.complete.finish.responsedata"
        /// What went wrong; missing where nothing did.
        case error = "com.alamofire.networking.task.complete.error"
        /// Where a download was put.
        case assetPath = "com.alamofire.networking.task.complete.assetpath"
    }

    /// What an effect of a request's life tells observers; `nil` for effects that tell them nothing.
    public init?(_ effect: RequestLife.Effect) {
        switch effect {
        case .tellResumed: self = .didResume
        case .tellSuspended: self = .didSuspend
        case .tellCompleted: self = .didComplete
        case .start, .stop, .complete: return nil
        }
    }
}
