package import ReachQueue

/// What a queue's file held when it was opened.
package struct StoreContents: Hashable, Sendable {
    /// All that are not over, and the dead, in the order of their numbers.
    package var requests: [StoredRequest] = []
    package var breakers: [StoredBreaker] = []
    /// The owners whose queues are held; 0 is everybody's.
    package var heldQueues: [UInt32] = []
    /// The number for the next new request: larger than any that was given.
    package var nextID: Int64 = 1
    /// Those of the requests of whose answers a part is in the spool.
    package var begunAnswers: Set<RequestID> = []
    /// What is recorded of their resumable uploads.
    var begunUploads: [RequestID: UploadState] = [:]
    /// Where a damaged file was put, if this one is new in its place.
    package var setAside: String?
    /// Rows that meant nothing.
    package var rowsSetAside = RowsSetAside()

    /// Whether a request will still be sent.
    func isOpen(_ id: RequestID) -> Bool {
        let place = requests.partition { $0.id >= id }
        guard place < requests.count, requests[place].id == id else { return false }
        return if case .dead = requests[place].state { false } else { true }
    }
}

extension [StoredRequest] {
    /// - Parameter isBehind: False for the first ones, and true for all that follow.
    /// - Returns: Where it becomes true.
    fileprivate func partition(_ isBehind: (StoredRequest) -> Bool) -> Int {
        var (first, end) = (0, count)
        while first < end {
            let middle = (first + end) / 2
            if isBehind(self[middle]) { end = middle } else { first = middle + 1 }
        }
        return first
    }
}
