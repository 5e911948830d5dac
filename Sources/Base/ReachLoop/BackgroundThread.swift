internal import CReachLinux
internal import Glibc

/// Starts threads for work that blocks.
package enum BackgroundThread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new detached thread with all signals blocked: ``SignalSource`` reads signals as data.
    ///
    /// If the system refuses another thread, `body` runs on the caller's thread, so it must end by itself.
    ///
    /// - Parameter name: The name that ps and top show, cut after 15 bytes.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        if !startIfPossible(named: name, body) { body() }
    }

    /// Runs `body` on a new thread as ``start(named:_:)`` does, or not at all.
    ///
    /// - Returns: `false` if the system refuses another thread; `body` does not run then.
    package static func startIfPossible(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var everySignal = sigset_t()
        var before = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Body(name: name, run: body))
        guard pthread_create(&thread, nil, runBody, argument.toOpaque()) == 0 else {
            argument.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private static let runBody: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        reach_name_thread(body.name)
        body.run()
        return nil
    }
}

/// How the kernel divides the processors among this thread and others.
package enum ProcessorShare {
    /// For work of which only the end counts. A thread that wakes up then waits for the end of the other one's turn,
    /// where it would interrupt it: two threads of which one hands thousands of messages to the other would otherwise
    /// alternate with each.
    ///
    /// It counts for the calling thread and for those that it starts afterwards. A policy that somebody chose stays.
    package static func preferThroughput() {
        guard sched_getscheduler(0) == SCHED_OTHER else { return }
        var parameters = sched_param()
        _ = sched_setscheduler(0, batch, &parameters)
    }

    /// SCHED_BATCH of the kernel, which Glibc's module lacks.
    private static let batch: CInt = 3
}
