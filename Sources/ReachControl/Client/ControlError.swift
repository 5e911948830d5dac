package import ReachLoop

/// Why the daemon did not answer as it was asked to.
package enum ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nobody listens there: no daemon runs.
    case notRunning(path: String)
    case badPath(String)
    case failed(path: String, SystemError)
    case timedOut(path: String)
    /// It hung up.
    case closed(path: String)
    /// It answered with an error.
    case refused(VarlinkError)
    /// It answered with something that is no answer.
    case notUnderstood(String)

    package var description: String {
        switch self {
        case .notRunning(let path): "no daemon answers at \(path)"
        case .badPath(let path): "'\(path)' cannot be the path of a socket: 1 to 107 bytes"
        case .failed(let path, let error): "\(path): \(error)"
        case .timedOut(let path): "the daemon at \(path) did not answer in time"
        case .closed(let path): "the daemon at \(path) hung up"
        case .refused(let error): "the daemon refused: \(error)"
        case .notUnderstood(let what): "the daemon's answer makes no sense: \(what)"
        }
    }

    /// The error of io.reach.Monitor that it answered with.
    package var monitorError: MonitorError? {
        guard case .refused(let error) = self else { return nil }
        return MonitorError(error)
    }
}
