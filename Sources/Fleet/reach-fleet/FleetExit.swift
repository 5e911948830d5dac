internal import ReachFleetLink

/// The exit statuses of `reach-fleet`.
enum FleetExit: Int32 {
    case success = 0
    /// Something differs, is wrong, or is not here: what the command was to find out.
    case found = 1
    case usage = 2
    /// No such host.
    case unknown = 3
    /// EX_NOINPUT of sysexits.h: a file that was named cannot be read, or what it holds is wrong.
    case cannotRead = 66
    /// EX_UNAVAILABLE: no server answers, or it lacks what the fleet needs.
    case unavailable = 69
    /// EX_CANTCREAT: a file cannot be written.
    case cannotCreate = 73
    /// EX_TEMPFAIL: no reply in time; another try may succeed.
    case tryAgain = 75
    /// EX_PROTOCOL: the server's certificate is not trusted.
    case untrusted = 76
    /// EX_NOPERM: the server refuses the key, or the key's rights do not include this.
    case notPermitted = 77
    /// EX_CONFIG: an error in the configuration.
    case badConfiguration = 78
}

/// An error that ends the program with a status and, unless `message` is `nil`, a sentence on standard error.
struct FleetFailure: Error {
    let status: FleetExit
    var message: String?

    init(_ status: FleetExit, _ message: String? = nil) {
        self.status = status
        self.message = message
    }

    init(_ error: NATSError) {
        let status: FleetExit =
            switch error.kind {
            case .refused, .tokenEnded, .notPermitted: .notPermitted
            case .untrusted, .tlsFirst: .untrusted
            case .timedOut, .unavailable, .full, .disconnected: .tryAgain
            case .invalid: .usage
            case .unreachable, .noResponders, .noJetStream, .notFound, .exists, .tooLarge, .wrongLastSequence, .failed:
                .unavailable
            }
        let words =
            error.kind == .notPermitted
            ? "this key may not do that: readers look, operators also hold and release, administrators set up "
                + "(\(error.description))" : error.description
        self.init(status, words)
    }
}
