internal import ReachCore
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
    /// Shared, since few tasks have it, and all would take its room.
    private let resumption: Shared<ResumeData>?
    /// The state from which a download resumes.
    var resumeData: ResumeData? { resumption?.value }

    init(
        kind: RequestTask.Kind, request: WebRequest, sharedOptions: SharedOptions, queued: QueuedRequest,
        resumeData: ResumeData? = nil
    ) {
        (self.kind, self.request, self.sharedOptions, self.queued) = (kind, request, sharedOptions, queued)
        resumption = resumeData.map { Shared($0) }
    }
}

/// Options of one or more tasks: most tasks of a session have the session's, which are larger than most of what a
/// waiting task keeps in memory.
final class SharedOptions: Sendable {
    let value: RequestOptions
    /// What the queue receives of them.
    let terms: Shared<RequestTerms>

    init(_ value: RequestOptions, terms: Shared<RequestTerms>) { (self.value, self.terms) = (value, terms) }

    convenience init(_ value: RequestOptions, keepsOnDisk: Bool) {
        self.init(value, terms: Shared(RequestTerms(value, keepsOnDisk: keepsOnDisk)))
    }
}

/// The mutable state of a task, under its lock.
struct TaskState: Sendable {
    var life: RequestLife
    /// The session, which a task that is not over keeps alive.
    var session: RequestSession?
    var wasResumed = false
    var storedNumber: Int64?
    /// The request in the queue whose events the task receives.
    var requestID: RequestID?
    var progress = TaskProgress()
    /// Where the running download was resumed.
    var resumeOffset: Int64?
    /// Tasks that must be over before this one starts.
    var dependencies: [TaskDependency] = []
    /// Who waits for the end, inside the library.
    var dependents: [@Sendable (Bool) -> Void] = []
    var metrics = TaskMetrics()
    private var ending: Ending?
    /// The result as completions receive it; `nil` until the task is over.
    var result: Result<RequestResponse, RequestError>? {
        get { ending?.result }
        set { ending = newValue.map(Ending.init) }
    }
    var isOver: Bool { ending != nil }
    var audience = TaskAudience()
    /// Where the pieces of the answer go; `nil` if it is read as a whole.
    var channel: ResponseChannel?
    /// Chooses the place of a download by the head of its response.
    var destination: (@Sendable (WebResponse) -> String?)?
    /// Whether a caller has received the result.
    var isFetched = false
    /// Whether the activity counts the task.
    var isCounted = false

    init(life: RequestLife, session: RequestSession?) { (self.life, self.session) = (life, session) }

    /// An error is larger than all the rest of a task's state, which waiting tasks have, too.
    private enum Ending: Sendable {
        case success(RequestResponse)
        indirect case failure(RequestError)

        init(_ result: Result<RequestResponse, RequestError>) {
            switch result {
            case .success(let response): self = .success(response)
            case .failure(let error): self = .failure(error)
            }
        }

        var result: Result<RequestResponse, RequestError> {
            switch self {
            case .success(let response): .success(response)
            case .failure(let error): .failure(error)
            }
        }
    }
}

/// Who is to hear of a task. Its end lets go of all of them at once.
struct TaskAudience: Sendable {
    var completions: [RequestTask.Completion] = []
    var progressBlocks: [@Sendable (TaskProgress) -> Void] = []
    private var progress: [UInt64: AsyncStream<TaskProgress>.Continuation] = [:]
    private var requests: [UInt64: AsyncStream<WebRequest>.Continuation] = [:]
    /// Callers that await the result: mostly one, or none.
    private(set) var waiters: [TaskWaiter] = []
    private var lastNumber: UInt64 = 0

    var progressStreams: [AsyncStream<TaskProgress>.Continuation] { progress.values.map(\.self) }
    var requestStreams: [AsyncStream<WebRequest>.Continuation] { requests.values.map(\.self) }

    /// The number by which a waiter or a stream is removed: no other has it.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ stream: AsyncStream<TaskProgress>.Continuation) -> UInt64 {
        let number = nextNumber()
        progress[number] = stream
        return number
    }

    mutating func add(_ stream: AsyncStream<WebRequest>.Continuation) -> UInt64 {
        let number = nextNumber()
        requests[number] = stream
        return number
    }

    mutating func add(_ waiter: TaskWaiter) { waiters.append(waiter) }

    mutating func removeStream(_ number: UInt64) {
        (progress[number], requests[number]) = (nil, nil)
    }

    /// - Returns: `nil` where the task's end has resumed the waiter.
    mutating func removeWaiter(_ number: UInt64) -> TaskWaiter? {
        waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0) }
    }

}

/// A caller that awaits a task's result.
struct TaskWaiter: Sendable {
    let number: UInt64
    let continuation: WaiterBatch.Waiter
}
