package import ReachCore

/// A timer that follows a deadline, such as that of a state machine. Confined to the loop's thread.
package final class DeadlineTimer {
    private let loop: EventLoop
    private let handler: () -> Void
    private var armed: (deadline: BootTime, id: TimerQueue.ID)?

    /// - Parameter handler: Called at each deadline, unless another was set before it came. The owner of the timer
    ///   captures itself as `unowned`.
    package init(on loop: EventLoop, _ handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    deinit { cancel() }

    /// Waits for CLOCK_BOOTTIME to reach this deadline, and for no earlier one; `nil` means that none is waited for.
    package func set(to deadline: BootTime?) {
        guard deadline != armed?.deadline else { return }
        cancel()
        armed = deadline.map { deadline in
            let id = loop.schedule(at: deadline) { [unowned self] in
                armed = nil
                handler()
            }
            return (deadline, id)
        }
    }

    package func cancel() {
        if let armed { loop.cancel(armed.id) }
        armed = nil
    }
}
