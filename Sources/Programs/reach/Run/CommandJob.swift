internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// A command in a process group of its own, as a shell runs a job: it has the terminal while it runs in the foreground,
/// and can be stopped, continued and ended with all processes of its group. Used on one thread.
///
/// This process adopts what the command leaves behind (PR_SET_CHILD_SUBREAPER), so that the end of the group is an
/// event.
final class CommandJob {
    enum Event: Equatable {
        /// A status as the shell has it.
        case ended(CInt)
        /// The command was stopped by a signal of the terminal, or by somebody else.
        case stopped
    }

    private let command: [String]
    private let scope: ScopeUnit?
    /// The terminal that is handed to the command; negative without one.
    private let terminal: CInt
    /// The first process, which leads the group. It is not used before ``start()``.
    private var leader: pid_t = 0
    /// The first process's status, while others of its group are waited for.
    private var status: CInt?

    /// - Parameter scope: The systemd scope that the command runs in.
    init(_ command: [String], scope: ScopeUnit?) {
        (self.command, self.scope) = (command, scope)
        // A pipe's other commands share the terminal with this one, and must keep it.
        let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        terminal = isInteractive ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1
        reach_adopt_orphans()
        // Who changes the terminal's foreground group from the background is stopped otherwise.
        signal(SIGTTOU, SIG_IGN)
    }

    deinit { if terminal >= 0 { close(terminal) } }

    func start() throws(SystemError) {
        let words = (scope?.launcher ?? []) + command
        status = nil
        let result = CStrings.with(words) { reach_spawn_job($0, isInForeground ? terminal : -1, &leader) }
        guard result >= 0 else { throw SystemError(call: "posix_spawn", number: -result) }
    }

    /// Stops the command. The terminal comes back first, so that its keys reach this process: a Ctrl-C that a stopped
    /// process gets does nothing before it goes on.
    func pause() {
        takeTerminal()
        if scope?.freeze() != true { send(SIGSTOP) }
    }

    /// Lets the command go on, with the terminal if this process has it.
    func resume() {
        guard leader > 0 else { return }
        handTerminal()
        scope?.thaw()
        send(SIGCONT)
    }

    /// Asks the command to end.
    func terminate() {
        if let scope {
            // Systemd, too, asks first, and ends what is left after the grace; processes that left the group as well.
            scope.thaw()
            scope.stop()
        } else {
            send(SIGTERM)
        }
        send(SIGCONT)
    }

    func kill() {
        scope?.kill()
        send(SIGKILL)
    }

    func send(_ signal: CInt) {
        guard leader > 0 else { return }
        _ = Glibc.kill(-leader, signal)
    }

    /// What has happened to the command since the last call. To be called at each SIGCHLD.
    ///
    /// - Parameter waitsForGroup: Whether the command counts as ended only with the last process of its group, and of
    ///   its scope.
    func collect(waitsForGroup: Bool) -> Event? {
        var (event, word): (Event?, CInt) = (nil, 0)
        while case let child = waitpid(-1, &word, WNOHANG | WUNTRACED), child > 0 {
            guard child == leader else { continue }
            if word & 0xff == 0x7f {
                event = .stopped
            } else {
                status = word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + (word & 0x7f)
            }
        }
        guard let status else { return event }
        guard !waitsForGroup || Glibc.kill(-leader, 0) == -1 else { return nil }
        // Processes that left the group may be there still, and the scope's name is needed for a restart.
        if waitsForGroup { scope?.waitForStop() }
        takeTerminal()
        (self.status, leader) = (nil, 0)
        return .ended(status)
    }

    /// Stops this process with the command, as Ctrl-Z does, until a shell continues it.
    func suspend() {
        takeTerminal()
        // To the whole job of the shell, of which this process may be a part. Unlike SIGSTOP it does nothing where no
        // shell could continue the job (an orphaned process group).
        _ = Glibc.kill(0, SIGTSTP)
        SignalSource.deliverPending(SIGTSTP)
    }

    /// Gives the terminal to the command if this process has it.
    private func handTerminal() {
        guard isInForeground else { return }
        tcsetpgrp(terminal, leader)
    }

    private var isInForeground: Bool { terminal >= 0 && tcgetpgrp(terminal) == getpgrp() }

    private func takeTerminal() {
        // Only from the command or a group that is gone: a shell may have given it to another job.
        guard terminal >= 0 else { return }
        let owner = tcgetpgrp(terminal)
        if owner == leader || Glibc.kill(-owner, 0) == -1 { tcsetpgrp(terminal, getpgrp()) }
    }
}
