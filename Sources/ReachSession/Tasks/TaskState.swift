internal import ReachQueue
internal import ReachSerialization

/// What a task was made of, which never changes.
struct TaskPlan: Sendable {
    var kind: RequestTask.Kind
    var request: HTTPRequest
    var options: RequestOptions
    /// For the queue; its body comes when the task is started.
    var queued: QueuedRequest
    /// What a download goes on with.
    var resumeData: ResumeData?
}

/// What changes about a task, under its lock.
struct TaskState: Sendable {
    var life: RequestLife
    var wasResumed = false
    var storedNumber: Int64?
    var progress = TaskProgress()
    /// What came of it, before a serializer has looked at it.
    var result: Result<RequestResponse, RequestError>?
    var completions: [RequestTask.Completion] = []
    var progressBlocks: [@Sendable (TaskProgress) -> Void] = []
    var progressStreams: [UInt64: AsyncStream<TaskProgress>.Continuation] = [:]
    var waiters: [UInt64: CheckedContinuation<Result<RequestResponse, RequestError>?, Never>] = [:]
    var lastNumber: UInt64 = 0
    /// Somebody has what came of it.
    var isFetched = false
    /// The activity counts it.
    var isCounted = false

    init(life: RequestLife) { self.life = life }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}
