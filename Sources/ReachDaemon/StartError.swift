package import ReachControl

/// Why a daemon cannot be: another one has what it needs, or the socket cannot be had.
package enum StartError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(ListenError)
    case stateInUse(directory: String, process: Int32?)

    package var description: String {
        switch self {
        case .cannotListen(let error): "\(error)"
        case .stateInUse(let directory, let process):
            "the state directory \(directory) belongs to \(process.map { "process \($0)" } ?? "another process")"
        }
    }
}
