import ReachSession
import ReachTesting

/// A session that takes every answer.
func makeSession(
    keeping: RequestSession.Keeping = .memory, _ change: (inout RequestSessionOptions) -> Void = { _ in }
) throws -> RequestSession {
    var options = RequestSessionOptions()
    options.responseSerializer = DataResponseSerializer()
    change(&options)
    return try RequestSession(keeping: keeping, options: options)
}

extension RequestSession {
    /// Waits for the end of a task, whatever that is.
    func result(of task: RequestTask) async -> Result<RequestResponse, RequestError> {
        await task.resume().ending
    }
}

extension RequestTask {
    var ending: Result<RequestResponse, RequestError> {
        get async {
            do throws(RequestError) {
                return .success(try await response())
            } catch {
                return .failure(error)
            }
        }
    }
}
