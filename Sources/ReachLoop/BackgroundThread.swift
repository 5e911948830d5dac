internal import CReachLinux
internal import Glibc

/// A thread of our own, for work that blocks or must be alone.
package enum BackgroundThread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new thread, detached, with every signal blocked: signals are for whoever reads them as data.
    ///
    /// - Parameter name: What ps and top show; cut after 15 bytes.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        var everySignal = sigset_t()
        var before = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Body(name: name, run: body)).toOpaque()
        guard pthread_create(&thread, nil, runBody, argument) == 0 else {
            // Out of threads: better late on this one than never.
            Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
            return
        }
        pthread_detach(thread)
    }

    private static let runBody: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        reach_name_thread(body.name)
        body.run()
        return nil
    }
}
