internal import CReachLinux
internal import Glibc
package import ReachCore

/// An event loop on epoll: one thread waits for descriptors, timers and messages from other threads.
///
/// It is confined to the thread that runs it: not Sendable, no lock. Debug builds check that (as SwiftNIO's
/// `preconditionInEventLoop` does). Handlers run on that thread, one at a time, and may call back into the loop. With
/// nothing to do it sleeps without a timer. Other threads reach it through its ``mailbox``.
package final class EventLoop {
    /// The readiness to wait for. epoll reports errors and hang-ups whatever is set.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Interest(rawValue: EPOLLIN.rawValue)
        package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
        /// The other end sends nothing more, and may have closed altogether.
        package static let peerClosed = Interest(rawValue: EPOLLRDHUP.rawValue)
        package static let failed = Interest(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
    }

    package typealias Handler = (Interest) -> Void

    private struct Watch {
        /// Distinguishes this watch from an earlier one whose descriptor had the same number: an event of the earlier
        /// one may follow in the same batch.
        let generation: UInt32
        let handler: Handler
    }

    package let mailbox: Mailbox
    private let epoll: FileDescriptor
    private let timer: FileDescriptor
    private var watches: [CInt: Watch] = [:]
    private var lastGeneration: UInt32 = 0
    private var deferred: [() -> Void] = []
    private var steps: [() -> Void] = []
    private var lastWork: [() -> Void] = []
    /// The turn in which the first of ``lastWork`` came.
    private var lastWorkSince: UInt64 = 0
    /// The thread in ``run()``; `nil` before and after.
    private var thread: pthread_t?
    private var timers = TimerQueue()
    private var timerHandlers: [TimerQueue.ID: () -> Void] = [:]
    private var armed: BootTime?
    /// Whether the timer's descriptor is readable until it is set again.
    private var hasFired = false
    private var isRunning = false
    /// Goes up with each turn: what was read from the kernel in an earlier one may be old.
    package private(set) var turn: UInt64 = 0

    package init() throws(SystemError) {
        let epollDescriptor = try SystemError.check("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) }
        epoll = FileDescriptor(owning: epollDescriptor)
        let timerDescriptor = try SystemError.check("timerfd_create") {
            timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        }
        timer = FileDescriptor(owning: timerDescriptor)
        mailbox = try Mailbox()
        try watch(timer.rawValue, for: .readable) { [unowned self] _ in fireTimers() }
        try watch(mailbox.descriptor, for: .readable) { [unowned self] _ in mailbox.deliver(to: self) }
    }

    /// Calls `handler` whenever the descriptor is ready. The caller keeps owning the descriptor.
    package func watch(
        _ descriptor: CInt, for interest: Interest, handler: @escaping Handler
    ) throws(SystemError) {
        assertConfined()
        lastGeneration &+= 1
        try control(EPOLL_CTL_ADD, descriptor, interest, lastGeneration)
        watches[descriptor] = Watch(generation: lastGeneration, handler: handler)
    }

    /// Replaces the readiness to wait for. With the empty set only errors and hang-ups are reported.
    package func change(_ descriptor: CInt, to interest: Interest) throws(SystemError) {
        assertConfined()
        try control(EPOLL_CTL_MOD, descriptor, interest, watches[descriptor]?.generation ?? 0)
    }

    /// Removes the watch; its handler is not called again. Call this before closing the descriptor.
    package func unwatch(_ descriptor: CInt) {
        assertConfined()
        guard watches.removeValue(forKey: descriptor) != nil else { return }
        var event = epoll_event()
        epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// Removes the watch of a descriptor that is closed next: the kernel then removes it from epoll by itself. A child
    /// that has not yet called exec may keep the file a moment longer; its events have no handler.
    package func forgetClosing(_ descriptor: CInt) {
        assertConfined()
        watches[descriptor] = nil
    }

    /// Calls `handler` once, when CLOCK_BOOTTIME reaches `deadline`.
    ///
    /// - Parameter tolerance: How much earlier it may be called, together with another timer: to wake up costs more
    ///   than most handlers do.
    @discardableResult
    package func schedule(
        at deadline: BootTime, tolerance: Duration = .zero, _ handler: @escaping () -> Void
    ) -> TimerQueue.ID {
        assertConfined()
        let id = timers.add(deadline, tolerance: tolerance)
        timerHandlers[id] = handler
        return id
    }

    /// Cancels a timer. Does nothing if it has fired or was cancelled before.
    package func cancel(_ id: TimerQueue.ID) {
        assertConfined()
        guard timerHandlers.removeValue(forKey: id) != nil else { return }
        timers.cancel(id)
    }

    /// The number of timers that are set.
    package var timerCount: Int { timerHandlers.count }

    /// The number of descriptors that are watched.
    package var watchCount: Int { watches.count }

    /// Calls `work` once, after the handlers of this turn's events. Split long work into pieces that schedule each
    /// other this way: descriptors that become ready are served between them.
    ///
    /// A turn runs at most ``deferredPerTurn`` pieces, in the order they were added. The rest waits for the next turn.
    package func afterEvents(_ work: @escaping () -> Void) {
        assertConfined()
        deferred.append(work)
    }

    /// Calls `work` once, before the descriptors are polled again: for the next step of what runs now, so that others
    /// wait on it as little as possible. Steps run between the events of a turn, and after its deferred work; what a
    /// step adds, too: at most ``deferredPerTurn`` each time, and the rest waits for the next.
    package func beforeNextPoll(_ work: @escaping () -> Void) {
        assertConfined()
        steps.append(work)
    }

    /// The most pieces of deferred work between two polls of the descriptors. Many users who defer a piece each must
    /// not delay the kernel's notices: 64 is the number of events that one call of epoll_wait returns here.
    package static let deferredPerTurn = 64

    /// Calls `work` once, when a poll finds no descriptor ready and nothing is deferred: for what wakes another thread,
    /// which would take the processor from what can be done at once. With descriptors that are always ready, after
    /// ``longestDelay`` turns.
    package func beforeSleep(_ work: @escaping () -> Void) {
        assertConfined()
        if lastWork.isEmpty { lastWorkSince = turn }
        lastWork.append(work)
    }

    private static let longestDelay: UInt64 = 4

    /// Runs until ``stop()``.
    package func run() {
        assertConfined()
        isRunning = true
        thread = pthread_self()
        defer { thread = nil }
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while isRunning {
            arm()
            let isDone = deferred.isEmpty && steps.isEmpty
            let count = wait(&events)
            turn &+= 1
            if !lastWork.isEmpty, count == 0 && isDone || turn &- lastWorkSince > Self.longestDelay { runLastWork() }
            // What the first half has led to begins before the second: servers work on it meanwhile.
            for event in events[..<(count / 2)] where isRunning { dispatch(event) }
            if count > 1 { runSteps() }
            for event in events[(count / 2)..<count] where isRunning { dispatch(event) }
            runDeferred()
            runSteps()
        }
    }

    /// - Returns: The number of events.
    private func wait(_ events: inout [epoll_event]) -> Int {
        let count = epoll_wait(epoll.rawValue, &events, CInt(events.count), hasWork ? 0 : -1)
        if count >= 0 { return Int(count) }
        let number = errno
        // All other errors mean that the epoll descriptor was closed or replaced by foreign code. Trying again would
        // take a whole processor and never succeed.
        precondition(number == EINTR, "epoll_wait: \(SystemError.text(number))")
        return 0
    }

    private var hasWork: Bool { !deferred.isEmpty || !steps.isEmpty || !lastWork.isEmpty }

    private func runLastWork() {
        var work: [() -> Void] = []
        swap(&work, &lastWork)
        for item in work where isRunning { item() }
    }

    private func runDeferred() {
        guard !deferred.isEmpty else { return }
        // Most turns run all of it, and then nothing is copied.
        var work: [() -> Void] = []
        swap(&work, &deferred)
        for item in work.prefix(Self.deferredPerTurn) where isRunning { item() }
        if work.count > Self.deferredPerTurn { deferred = work.dropFirst(Self.deferredPerTurn) + deferred }
    }

    private func runSteps() {
        var left = Self.deferredPerTurn
        while !steps.isEmpty, left > 0, isRunning {
            var work: [() -> Void] = []
            swap(&work, &steps)
            for item in work.prefix(left) where isRunning { item() }
            if work.count > left { steps = work.dropFirst(left) + steps }
            left -= work.count
        }
    }

    /// Stops a debug build that uses the loop on a thread other than the one that runs it. Before ``run()`` and after
    /// it, the loop belongs to whoever holds it.
    private func assertConfined() {
        assert(thread.map { pthread_equal($0, pthread_self()) != 0 } ?? true, "the event loop runs on another thread")
    }

    /// Ends ``run()`` once the handler that calls this returns.
    package func stop() { isRunning = false }

    private func dispatch(_ event: epoll_event) {
        let watch = watches[CInt(truncatingIfNeeded: event.data.u64)]
        guard let watch, watch.generation == event.data.u64 >> 32 else { return }
        watch.handler(Interest(rawValue: event.events))
    }

    private func control(
        _ operation: CInt, _ descriptor: CInt, _ interest: Interest, _ generation: UInt32
    ) throws(SystemError) {
        var event = epoll_event()
        event.events = interest.rawValue
        event.data.u64 = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        _ = try SystemError.check("epoll_ctl") { epoll_ctl(epoll.rawValue, operation, descriptor, &event) }
    }

    private func fireTimers() {
        // Setting the timer makes its descriptor unreadable, as reading it would (timerfd_create(2)).
        armed = nil
        hasFired = true
        let now = SystemClock.boot
        while let id = timers.popDue(at: now) { timerHandlers.removeValue(forKey: id)?() }
    }

    /// Sets the timer descriptor once a turn, however often timers are set and cancelled in it: libcurl does so several
    /// times for each transfer.
    private func arm() {
        guard timers.next != armed || hasFired else { return }
        armed = timers.next
        hasFired = false
        var setting = itimerspec()
        if let armed {
            // Zero would disarm the timer.
            let nanoseconds = max(armed.nanoseconds, 1)
            setting.it_value = timespec(
                tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        }
        timerfd_settime(timer.rawValue, CInt(TFD_TIMER_ABSTIME), &setting, nil)
    }
}

/// A reference to an object that may end first, for closures that run later on its loop.
///
/// It costs less than a weak reference, which slows down every use of the object. In return the owner must set
/// ``owner`` to `nil` in its `deinit`. That must happen on the loop's thread, and only that thread may read ``owner``.
package final class LoopReference<Owner: AnyObject>: @unchecked Sendable {
    /// `nil` once the owner has ended.
    package unowned(unsafe) var owner: Owner?

    package init() {}
}

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
