internal import ReachQueue
internal import ReachSerialization

/// The constant parts of a task.
struct TaskPlan: Sendable {
    var kind: RequestTask.Kind
    var request: WebRequest
    let sharedOptions: SharedOptions
    var options: RequestOptions { sharedOptions.value }
    /// The request for the queue; its body is added when the task is started.
    var queued: QueuedRequest
    /// The state from which a download resumes.
    var resumeData: ResumeData?
}

/// Options of one or more tasks: most tasks of a session have the session's, which are larger than most of what a waiting
/// task keeps in memory.
final class SharedOptions: Sendable {
    let value: RequestOptions

    init(_ value: RequestOptions) { self.value = value }
}

/// The mutable state of a task, under its lock.
struct TaskState: Sendable {
    var life: RequestLife
    /// The session, which a task that is not over keeps alive.
    var session: RequestSession?
    var wasResumed = false
    var storedNumber: Int64?
    var progress = TaskProgress()
    var metrics = TaskMetrics()
    /// The result as completions receive it; `nil` until the task is over.
    var result: Result<RequestResponse, RequestError>?
    var completions: [RequestTask.Completion] = []
    var progressBlocks: [@Sendable (TaskProgress) -> Void] = []
    var progressStreams: [UInt64: AsyncStream<TaskProgress>.Continuation] = [:]
    var requestStreams: [UInt64: AsyncStream<WebRequest>.Continuation] = [:]
    /// Where the pieces of the answer go; `nil` if it is read as a whole.
    var channel: ResponseChannel?
    var waiters: [UInt64: CheckedContinuation<Result<RequestResponse, RequestError>?, Never>] = [:]
    var lastNumber: UInt64 = 0
    /// Whether a caller has received the result.
    var isFetched = false
    /// Whether the activity counts the task.
    var isCounted = false

    init(life: RequestLife) { self.life = life }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}
