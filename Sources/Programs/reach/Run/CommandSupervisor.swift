internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Runs a command while a condition holds: connects the watch, the decisions and the command's processes. Used on one
/// thread.
final class CommandSupervisor {
    private static let signals = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD,
    ]

    private let loop: SupervisionLoop
    private let job: CommandJob
    private let name: String

    /// Call it before a thread starts: it blocks the signals that it reads.
    init(_ command: [String], scope: ScopeUnit?, supervision: CommandSupervision) throws(SystemError) {
        loop = try SupervisionLoop(supervision, reading: Self.signals)
        job = CommandJob(command, scope: scope)
        name = DisplayText.sanitized(command[0])
    }

    /// Runs the command while what ``ConditionWatch`` watches holds.
    ///
    /// - Returns: The command's status.
    /// - Throws: ``CommandError`` when the condition was lost for good, did not hold in time, or cannot be observed.
    func run(while conditions: [NetworkCondition], of source: ConditionWatch.Source) throws -> CInt {
        let ending: CommandSupervision.Ending
        do {
            ending = try loop.run(
                while: conditions, of: source,
                received: { [unowned self] in received($0) }, perform: { [unowned self] in perform($0) })
        } catch {
            // What runs unwatched must not go on.
            job.terminate()
            throw error
        }
        return try ending.status(of: name)
    }

    private func received(_ signal: CInt) {
        switch signal {
        case SIGCHLD: collect()
        case SIGTSTP:
            // From the terminal, where it was not handed to the command.
            if loop.supervision.isRunning { job.send(SIGTSTP) } else { job.suspend() }
        case SIGCONT:
            // A shell has brought the job to the foreground.
            if loop.supervision.isRunning { job.resume() }
        case SIGUSR1, SIGUSR2: job.send(signal)
        default:
            job.send(signal)
            loop.decide { $0.interrupted(by: signal, at: $1) }
        }
    }

    private func collect() {
        switch job.collect(waitsForGroup: loop.supervision.isEnding) {
        case .ended(let status): loop.decide { $0.commandEnded(status: status, at: $1) }
        case .stopped:
            guard loop.supervision.isRunning else { return }
            job.suspend()
            // A shell has continued this process, or nobody could, and it did not stop.
            job.resume()
        case nil: break
        }
    }

    private func perform(_ action: CommandSupervision.Action) {
        switch action {
        case .start: start()
        case .pause:
            // Said when it is so: who reads it may press Ctrl-C at once.
            job.pause()
            say("paused: its condition no longer holds")
        case .resume:
            if loop.supervision.isRunning { say("goes on") }
            job.resume()
        case .terminate:
            say("is asked to end: its condition no longer holds")
            job.terminate()
        case .kill: job.kill()
        case .finish: break
        }
    }

    private func start() {
        do throws(SystemError) {
            try job.start()
        } catch {
            loop.stop(with: .cannotRun(name, error.number))
        }
    }

    private func say(_ what: String) { StandardError.write("reach: \(name) \(what)\n") }
}

extension CommandSupervision.Ending {
    /// The exit status. Does not return where a signal ended the wait.
    ///
    /// - Parameter name: That of the command.
    func status(of name: String) throws(CommandError) -> CInt {
        switch self {
        case .command(let status): return status
        case .timedOut: throw CommandError(status: .timedOut)
        case .givenUp:
            throw CommandError(status: .tryAgain, message: "\(name) was ended: its condition no longer holds")
        case .signal(let number): Self.die(by: number)
        }
    }

    /// Ends this process as the signal would have ended it.
    private static func die(by number: CInt) -> Never {
        Glibc.signal(number, SIG_DFL)
        raise(number)
        SignalSource.deliverPending(number)
        endProcess(128 + number)
    }
}
