package import ReachLoop

/// Why the queue's directory cannot be used.
package enum QueueStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has it (exit status 73).
    case locked(path: String, process: Int32?)
    /// Written by a newer program: use that one, or another directory. Nothing was changed.
    case tooNew(version: Int64, known: Int64)
    case system(SystemError)
    case database(SQLiteError)

    package var description: String {
        switch self {
        case .locked(let path, let process):
            "\(path) is used by another process" + (process.map { " (\($0))" } ?? "")
        case .tooNew(let version, let known):
            "the queue's file has version \(version), and this program knows \(known): it was written by a newer one"
        case .system(let error): error.description
        case .database(let error): error.description
        }
    }
}
