internal import Glibc

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
