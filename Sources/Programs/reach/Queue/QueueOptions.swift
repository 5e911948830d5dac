internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Which daemon's queue to use. There is no queue without a daemon.
struct QueueOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Ask the daemon that listens on this socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    var path: String {
        socket ?? SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
    }

    /// Asks the daemon, which may have to write to a slow disk first.
    func ask<Answer>(
        _ question: (inout ControlClient) throws(ControlError) -> Answer
    ) throws(CommandError) -> Answer {
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(30))
            try client.ping()
            return try question(&client)
        } catch {
            throw CommandError(queue: error)
        }
    }

    /// Prints the result of a command for programs; people see the exit status.
    func report(_ action: String, _ selection: QueueSelection, count: Int? = nil, at now: Instant) {
        guard json else { return }
        StandardOutput.writeJSON { writer in
            writer.object { json in
                json.field("v", 1)
                json.field("type", "queue-action")
                json.field("time", now.wall)
                json.field("boottime_ns", now.boot.nanoseconds)
                json.field("action", action)
                if case .request(let id) = selection { json.field("id", id) } else { json.field("id", Int64?.none) }
                json.field("count", count.map { Int64($0) })
            }
        }
    }
}

extension CommandError {
    /// The exit status for a refusal of the queue (sysexits.h).
    init(queue error: ControlError) {
        guard let refusal = error.queueError else {
            if case .refused(let refused) = error, refused.name == "org.varlink.service.InterfaceNotFound" {
                self.init(status: .unavailable, message: "this daemon keeps no queue")
            } else if case .failed(_, let failure) = error, [EACCES, EPERM].contains(failure.number) {
                self.init(status: .notPermitted, message: error.description)
            } else {
                self.init(status: .cannotObserve, message: error.advice)
            }
            return
        }
        self.init(queue: refusal)
    }

    init(queue refusal: QueueServiceError) {
        let status: ExitStatus =
            switch refusal {
            case .invalid: .usage
            case .refused: .tryAgain
            case .notFound, .alreadyOver, .notDead, .carried, .noAnswer: .notReachable
            case .notPermitted: .notPermitted
            case .notAvailable: .unavailable
            }
        let text =
            if case .invalid(let field, let reason) = refusal { "\(field): \(reason)" } else { refusal.description }
        self.init(status: status, message: DisplayText.sanitized(text))
    }
}

extension QueueText {
    /// The text for standard output.
    static var current: QueueText {
        QueueText(style: .current, width: StandardOutput.width, stamp: LocalTimeText.full)
    }
}
