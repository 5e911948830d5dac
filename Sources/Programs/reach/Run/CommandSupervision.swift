internal import Glibc
internal import ReachCore

/// Decides when a command starts, pauses, goes on and ends while its condition comes and goes. Pure: it is given each
/// event with its time, and returns what is to be done.
struct CommandSupervision {
    /// What happens to the command when its condition no longer holds.
    enum Reaction: String, CaseIterable { case stop, pause, restart }

    enum Action: Equatable { case start, pause, resume, terminate, kill, finish(Ending) }

    enum Ending: Equatable {
        /// The command ended by itself, or because the user ended it; a status as the shell has it.
        case command(CInt)
        /// The condition did not hold in time, and the command was never started.
        case timedOut
        /// The command was ended, or stayed paused for too long, because its condition was lost.
        case givenUp
        /// A signal ended the wait.
        case signal(CInt)
    }

    private enum Phase {
        case waiting(until: BootTime?)
        case running
        /// The condition is missing; the command runs until then.
        case losing(at: BootTime)
        case paused(until: BootTime?)
        /// The command was asked to end; nothing is waited for after SIGKILL.
        case ending(killAt: BootTime?, next: Next)
        case finished
    }

    /// What follows the end of a command that was asked to end.
    private enum Next { case restart, giveUp, ownStatus }

    let reaction: Reaction
    /// How long the condition must be missing before it counts as lost.
    let hold: Duration
    /// The time between the request to end and SIGKILL.
    let grace: Duration
    /// The longest wait for the condition, before the start and at each loss.
    let timeout: Duration?
    private var phase: Phase
    private var hasStarted = false
    /// Whether the condition holds, as far as is known.
    private var holds = false

    /// - Parameter now: When the wait begins.
    init(reaction: Reaction, hold: Duration, grace: Duration, timeout: Duration?, now: BootTime) {
        (self.reaction, self.hold, self.grace, self.timeout) = (reaction, hold, grace, timeout)
        phase = .waiting(until: timeout.map { now + $0 })
    }

    /// When ``timePassed(at:)`` is to be called.
    var deadline: BootTime? {
        switch phase {
        case .waiting(let end), .paused(let end), .ending(let end, _): end
        case .losing(let end): end
        case .running, .finished: nil
        }
    }

    /// Whether the command is meant to run.
    var isRunning: Bool {
        switch phase {
        case .running, .losing: true
        case .waiting, .paused, .ending, .finished: false
        }
    }

    /// Whether the command was asked to end.
    var isEnding: Bool { if case .ending = phase { true } else { false } }

    mutating func conditionChanged(holds: Bool, at now: BootTime) -> Action? {
        self.holds = holds
        switch (phase, holds) {
        case (.waiting, true): return start()
        case (.running, false):
            guard hold > .zero else { return loseCondition(at: now) }
            phase = .losing(at: now + hold)
        case (.losing, true): phase = .running
        case (.paused, true):
            phase = .running
            return .resume
        case (.waiting, false), (.running, true), (.losing, false), (.paused, false), (.ending, _), (.finished, _):
            break
        }
        return nil
    }

    mutating func timePassed(at now: BootTime) -> Action? {
        guard let deadline, deadline <= now else { return nil }
        switch phase {
        case .waiting: return finish(hasStarted ? .givenUp : .timedOut)
        case .losing: return loseCondition(at: now)
        case .paused: return end(then: .giveUp, at: now)
        case .ending(_, let next):
            phase = .ending(killAt: nil, next: next)
            return .kill
        case .running, .finished: return nil
        }
    }

    /// - Parameter status: As the shell has it: 128 and the number of the signal that ended it.
    mutating func commandEnded(status: CInt, at now: BootTime) -> Action? {
        switch phase {
        case .ending(_, .restart):
            phase = .waiting(until: timeout.map { now + $0 })
            return holds ? start() : nil
        case .ending(_, .giveUp): return finish(.givenUp)
        case .waiting, .finished: return nil
        case .running, .losing, .paused, .ending(_, .ownStatus): return finish(.command(status))
        }
    }

    /// The user, or a service manager, ends the program. The signal itself is passed on to the command by the caller,
    /// before the action is carried out.
    mutating func interrupted(by signal: CInt, at now: BootTime) -> Action? {
        switch phase {
        case .waiting: return finish(.signal(signal))
        case .paused:
            // A stopped process takes no signal before it goes on, and what ignores the signal must not go on for long.
            phase = .ending(killAt: now + grace, next: .ownStatus)
            return .resume
        case .ending(let killAt, _): phase = .ending(killAt: killAt, next: .ownStatus)
        case .running, .losing, .finished: break
        }
        return nil
    }

    private mutating func start() -> Action {
        (phase, hasStarted) = (.running, true)
        return .start
    }

    private mutating func loseCondition(at now: BootTime) -> Action {
        switch reaction {
        case .stop: return end(then: .giveUp, at: now)
        case .restart: return end(then: .restart, at: now)
        case .pause:
            phase = .paused(until: timeout.map { now + $0 })
            return .pause
        }
    }

    private mutating func end(then next: Next, at now: BootTime) -> Action {
        phase = .ending(killAt: now + grace, next: next)
        return .terminate
    }

    private mutating func finish(_ ending: Ending) -> Action {
        phase = .finished
        return .finish(ending)
    }
}
