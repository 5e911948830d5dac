internal import CReachLinux
internal import Glibc
internal import ReachCore

/// Reports when the machine has woken from sleep. It never wakes the process itself.
///
/// A timer on the wall clock that is cancelled when the clock is set (TFD_TIMER_CANCEL_ON_SET, timerfd_create(2)) is
/// also cancelled when the machine resumes, because the wall clock then jumps over the time asleep. ``SleepDetector``
/// compares two other clocks to distinguish sleep from a clock that was set.
package final class SleepWatch {
    private let timer: FileDescriptor
    private var detector = SleepDetector(offset: SystemClock.timeAsleep)

    /// - Parameter handler: Called on the loop's thread with the time asleep.
    package init(on loop: EventLoop, handler: @escaping (Duration) -> Void) throws(SystemError) {
        let descriptor = try SystemError.check("timerfd_create") {
            timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        }
        timer = FileDescriptor(owning: descriptor)
        arm()
        try loop.watch(descriptor, for: .readable) { [weak self] _ in
            guard let self else { return }
            var expirations: UInt64 = 0
            read(timer.rawValue, &expirations, MemoryLayout<UInt64>.size)
            arm()
            if let slept = detector.update(offset: SystemClock.timeAsleep) { handler(slept) }
        }
    }

    /// Sets the timer so far ahead that it never expires.
    private func arm() {
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(Int32.max)
        let cancelOnSet: CInt = 1 << 1
        timerfd_settime(timer.rawValue, CInt(TFD_TIMER_ABSTIME) | cancelOnSet, &setting, nil)
    }
}

/// Distinguishes a machine that slept from a wall clock that was set.
///
/// CLOCK_BOOTTIME counts time asleep and CLOCK_MONOTONIC does not. The difference between them grows by exactly the
/// time slept, whatever happens to the wall clock.
package struct SleepDetector: Sendable {
    /// The smallest growth that counts as sleep. Reading the two clocks one after the other takes time, too.
    package static let tolerance: Duration = .milliseconds(100)

    private var offset: Duration

    /// - Parameter offset: CLOCK_BOOTTIME minus CLOCK_MONOTONIC now.
    package init(offset: Duration) { self.offset = offset }

    /// Compares the clocks again.
    ///
    /// - Parameter offset: CLOCK_BOOTTIME minus CLOCK_MONOTONIC now.
    /// - Returns: How long the machine slept since the last reported sleep, or `nil` if it did not.
    package mutating func update(offset now: Duration) -> Duration? {
        let slept = now - offset
        guard slept > Self.tolerance else { return nil }
        offset = now
        return slept
    }
}
