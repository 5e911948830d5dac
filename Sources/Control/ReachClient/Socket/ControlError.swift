package import ReachLoop

/// A failure to get an answer from the daemon.
package enum ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No daemon listens at the path.
    case notRunning(path: String)
    case badPath(String)
    case failed(path: String, SystemError)
    case timedOut(path: String)
    /// The daemon hung up.
    case closed(path: String)
    /// The daemon answered with an error.
    case refused(VarlinkError)
    /// The daemon's answer is malformed.
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
}
