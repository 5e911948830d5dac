internal import ReachCore
internal import ReachKernel

/// The exit statuses of `reach`.
struct ExitStatus: Hashable {
    let rawValue: Int32

    static let success = ExitStatus(rawValue: 0)
    static let notReachable = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: 2)
    static let unknown = ExitStatus(rawValue: 3)
    static let cannotObserve = ExitStatus(rawValue: 4)
    /// EX_NOINPUT of sysexits.h: a file that was named cannot be read.
    static let cannotRead = ExitStatus(rawValue: 66)
    /// EX_UNAVAILABLE: the daemon does not offer this.
    static let unavailable = ExitStatus(rawValue: 69)
    /// EX_IOERR of sysexits.h: standard output cannot be written.
    static let cannotWrite = ExitStatus(rawValue: 74)
    /// EX_TEMPFAIL: the queue is full.
    static let tryAgain = ExitStatus(rawValue: 75)
    /// The same: what is waited for will not come as things are.
    static let givenUp = ExitStatus(rawValue: 75)
    /// EX_NOPERM.
    static let notPermitted = ExitStatus(rawValue: 77)
    /// The same as in timeout(1).
    static let timedOut = ExitStatus(rawValue: 124)
    /// The same as in the shell.
    static let cannotExecute = ExitStatus(rawValue: 126)
    static let commandNotFound = ExitStatus(rawValue: 127)

    static func failure(_ rawValue: Int32) -> ExitStatus { ExitStatus(rawValue: rawValue) }
}

/// An error that ends the program with a status and, unless `message` is `nil`, a sentence on standard error.
struct CommandError: Error {
    let status: ExitStatus
    var message: String?

    static func cannotAsk(_ error: NetlinkError) -> CommandError {
        CommandError(status: .cannotObserve, message: "cannot query the kernel: \(error)")
    }

    /// Throws unless all are reachable. Not reachable takes precedence over unknown.
    static func check(_ outcomes: [(status: ReachabilityStatus, reason: Reason?)]) throws(CommandError) {
        if outcomes.contains(where: { $0.reason == .cannotObserve }) { throw CommandError(status: .cannotObserve) }
        if outcomes.contains(where: { $0.status == .notReachable }) { throw CommandError(status: .notReachable) }
        if outcomes.contains(where: { $0.status == .unknown }) { throw CommandError(status: .unknown) }
    }
}
