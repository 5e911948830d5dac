package import ReachLoop

/// A reason why the server cannot listen.
package enum ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another daemon listens there. That is a mistake to report: the second daemon must not replace the first.
    case inUse(path: String, process: Int32?)
    /// Other users can write to the directory, and could replace the socket with their own.
    case unsafeDirectory(String, reason: String)
    /// The lock file next to the socket is not the daemon's own.
    case unsafeLock(String, reason: String)
    case notASocket(path: String)
    /// In a directory where everybody can make files, another user was first: only another place helps.
    case taken(path: String, user: UInt32)
    case badPath(String)
    /// An inherited descriptor is no listening Unix stream socket.
    case badDescriptor(Int32)
    case failed(path: String, SystemError)

    package var description: String {
        switch self {
        case .inUse(let path, let process?): "\(path) belongs to process \(process)"
        case .inUse(let path, nil): "\(path) belongs to another process"
        case .unsafeDirectory(let path, let reason): "\(path) is no place for a socket: \(reason)"
        case .unsafeLock(let path, let reason): "\(path) is no lock of ours: \(reason)"
        case .notASocket(let path): "\(path) is there and no socket"
        case .taken(let path, let user):
            """
            \(path) belongs to user \(user): choose a directory where only root and the daemon's user can write, \
            such as /run/reach
            """
        case .badPath(let path): "'\(path)' cannot be the path of a socket: 1 to 107 bytes"
        case .badDescriptor(let descriptor): "descriptor \(descriptor) is no Unix socket that listens"
        case .failed(let path, let error): "\(path): \(error)"
        }
    }
}
