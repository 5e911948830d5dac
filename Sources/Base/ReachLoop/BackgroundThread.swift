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
