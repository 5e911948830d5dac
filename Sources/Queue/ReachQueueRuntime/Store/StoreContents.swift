package import ReachQueue

/// What a queue's file held when it was opened.
package struct StoreContents: Hashable, Sendable {
    /// All that are not over, and the dead, in the order of their numbers; none if there are many.
    package var requests: [StoredRequest] = []
    /// The requests that follow in portions; `nil` if there are not that many.
    package var expected: ExpectedRequests?
    package var breakers: [StoredBreaker] = []
    /// What was moved over metered links.
    package var metered: [MeteredAccount] = []
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
}
