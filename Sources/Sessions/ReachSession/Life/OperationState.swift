/// The states of AFURLConnectionOperation with its numbers, for programs that store them.
public enum OperationState: Int, Hashable, Sendable, CaseIterable {
    /// Paused. Unlike an NSOperation's other states, this one can return to ready.
    case paused = -1
    /// Waiting for its turn.
    case ready = 1
    /// Being sent.
    case executing = 2
    /// Over.
    case finished = 3
}

extension RequestState {
    /// The corresponding state of an AFURLConnectionOperation.
    public var operationState: OperationState {
        switch self {
        case .suspended: .paused
        case .resumed: .ready
        case .running: .executing
        case .completed, .cancelled: .finished
        }
    }
}
