/// The states of AFURLConnectionOperation, by its numbers, for programs that keep them.
public enum OperationState: Int, Hashable, Sendable, CaseIterable {
    /// Not to start, and, unlike an NSOperation's other states, to be made ready again.
    case paused = -1
    /// To start when its turn comes.
    case ready = 1
    /// It is being sent.
    case executing = 2
    /// Nothing happens to it any more.
    case finished = 3

    /// Whether an operation may go from one state to another: a paused one only becomes ready, one that is ready is
    /// finished only by being cancelled, and a finished one stays so. To stay in a state is no way to go.
    public func canBecome(_ next: OperationState, isCancelled: Bool) -> Bool {
        switch (self, next) {
        case (.ready, .paused), (.ready, .executing), (.executing, .paused), (.executing, .finished), (.paused, .ready):
            true
        case (.ready, .finished): isCancelled
        default: false
        }
    }
}

extension RequestState {
    /// What AFURLConnectionOperation would call it.
    public var operationState: OperationState {
        switch self {
        case .suspended: .paused
        case .resumed: .ready
        case .running: .executing
        case .completed, .cancelled: .finished
        }
    }
}
