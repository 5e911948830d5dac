/// The notifications that observers of requests receive, and the keys of the user info of a completed request.
///
/// They are sent after the completion was called.
public enum RequestNotification: String, Hashable, Sendable, CaseIterable {
    /// What AFNetworking called `AFNetworkingTaskDidResumeNotification`.
    case didResume = "io.reach.request.resume"
    /// What AFNetworking called `AFNetworkingTaskDidSuspendNotification`.
    case didSuspend = "io.reach.request.suspend"
    /// An attempt is about to be sent: the task's turn has come, and its state is `running`.
    case didStart = "io.reach.request.start"
    /// The server continues a download from the bytes that an earlier attempt, or an earlier run, received:
    /// NSURLSession's `didResumeAtOffset`. ``RequestTask/resumeOffset`` is their number.
    case didResumeAtOffset = "io.reach.request.resume-offset"
    /// What AFNetworking called `AFNetworkingTaskDidCompleteNotification`. The only notification with user info.
    case didComplete = "io.reach.request.complete"

    /// The keys of the user info. Their texts are AFNetworking's own, so that existing code finds them.
    public enum Key: String, Hashable, Sendable, CaseIterable {
        /// The body decoded by the response serializer.
        case serializedResponse = "com.alamofire.networking.task.complete.serializedresponse"
        /// The response serializer.
        case responseSerializer = "com.alamofire.networking.task.complete.responseserializer"
        /// The bytes of the body. As in AFNetworking, the text of this key and that of the metrics begin differently.
        case responseData = "com.alamofire.networking.complete.finish.responsedata"
        /// The error; missing on success.
        case error = "com.alamofire.networking.task.complete.error"
        /// The path of a downloaded file.
        case assetPath = "com.alamofire.networking.task.complete.assetpath"
        /// The ``TaskMetrics``.
        case metrics = "com.alamofire.networking.complete.sessiontaskmetrics"
    }

    /// The notification that an effect of a request's life causes; `nil` for effects without one.
    package init?(_ effect: RequestLife.Effect) {
        switch effect {
        case .tellResumed: self = .didResume
        case .tellSuspended: self = .didSuspend
        case .tellCompleted: self = .didComplete
        case .start: self = .didStart
        case .stop, .complete: return nil
        }
    }
}
