internal import CReachLinux
internal import Glibc

/// Signals read as data by an event loop.
///
/// They must be blocked in every thread, so `main` calls ``block(_:)`` before any thread starts. A child calls
/// ``restore()`` before it executes another program.
package enum SignalSource {
    /// Blocks the signals, so that they stay pending for ``watch(_:on:handler:)``.
    package static func block(_ signals: [CInt]) {
        var set = mask(of: signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` on the loop for each blocked signal that arrives, until the process ends.
    package static func watch(
        _ signals: [CInt], on loop: EventLoop, handler: @escaping (CInt) -> Void
    ) throws(SystemError) {
        var set = mask(of: signals)
        let descriptor = try SystemError.check("signalfd") {
            signalfd(-1, &set, CInt(SFD_CLOEXEC | SFD_NONBLOCK))
        }
        try loop.watch(descriptor, for: .readable) { _ in
            var info = signalfd_siginfo()
            while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) > 0 { handler(CInt(info.ssi_signo)) }
        }
    }

    /// Lets a blocked signal that is pending act on this process, as if it had never been blocked.
    package static func deliverPending(_ signal: CInt) {
        var set = mask(of: [signal])
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    private static func mask(of signals: [CInt]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
