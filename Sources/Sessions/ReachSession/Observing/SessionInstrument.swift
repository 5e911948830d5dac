package import ReachCore

/// Follows the requests of sessions, to measure or to trace them. It is called on any thread, with no lock held, and
/// must not block.
package protocol SessionInstrument: Sendable {
    /// The task is resumed for the first time. Called in the caller's own Swift task. A task that continues a request
    /// of an earlier run is not resumed.
    func resumed(_ task: RequestTask)

    /// A request is sent for the task: for an attempt, or after a redirect or a challenge within one.
    ///
    /// - Returns: Fields that the request has in place of others of these names.
    func willSend(_ method: String, for task: RequestTask) -> [HeaderField]

    /// The request that was sent last has an answer, or failed.
    ///
    /// - Parameters:
    ///   - exchange: How it went; `nil` where no connection was tried.
    ///   - failure: The stable word of its failure; `nil` with an answer.
    func ended(_ exchange: TaskMetrics.Exchange?, _ failure: String?, of task: RequestTask)

    /// The attempt was interrupted, since its path was lost or its task suspended, and is made again.
    func interrupted(_ task: RequestTask)

    /// The task is over. Called once, also for one that was never resumed.
    func completed(_ task: RequestTask, _ result: Result<RequestResponse, RequestError>)
}
