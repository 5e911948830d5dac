internal import CReachLinux
internal import Glibc
package import ReachCore

/// One thread's wait for descriptors, timers and messages from other threads, on epoll.
///
/// It is confined to the thread that runs it: not Sendable, no lock. Handlers run on that thread, one at a time, and may
/// call back into the loop. With nothing to do it sleeps without a timer. Other threads reach it by its ``mailbox``.
package final class EventLoop {
    /// What a descriptor is waited for. Errors and hang-ups are always told.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Interest(rawValue: EPOLLIN.rawValue)
        package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
        package static let failed = Interest(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
    }

    package typealias Handler = (Interest) -> Void

    private struct Watch {
        /// Tells events of this watch from those of an earlier one on a descriptor of the same number, which may come
        /// after it in the same batch.
        let generation: UInt32
        let handler: Handler
    }

    package let mailbox: Mailbox
    private let epoll: FileDescriptor
    private let timer: FileDescriptor
    private var watches: [CInt: Watch] = [:]
    private var lastGeneration: UInt32 = 0
    private var deferred: [() -> Void] = []
    private var timers = TimerQueue()
    private var timerHandlers: [TimerQueue.ID: () -> Void] = [:]
    private var armed: BootTime?
    private var isRunning = false

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

    /// Calls `handler` whenever the descriptor is ready. The descriptor stays the caller's.
    package func watch(
        _ descriptor: CInt, for interest: Interest, handler: @escaping Handler
    ) throws(SystemError) {
        lastGeneration &+= 1
        try control(EPOLL_CTL_ADD, descriptor, interest, lastGeneration)
        watches[descriptor] = Watch(generation: lastGeneration, handler: handler)
    }

    /// Waits for something else from now on. The empty interest still tells of errors and hang-ups.
    package func change(_ descriptor: CInt, to interest: Interest) throws(SystemError) {
        try control(EPOLL_CTL_MOD, descriptor, interest, watches[descriptor]?.generation ?? 0)
    }

    /// The handler is not called again. To be called before the descriptor is closed.
    package func unwatch(_ descriptor: CInt) {
        guard watches.removeValue(forKey: descriptor) != nil else { return }
        var event = epoll_event()
        epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// Calls `handler` once, when CLOCK_BOOTTIME has reached `deadline`.
    @discardableResult
    package func schedule(at deadline: BootTime, _ handler: @escaping () -> Void) -> TimerQueue.ID {
        let id = timers.add(deadline)
        timerHandlers[id] = handler
        return id
    }

    /// A timer that has fired, or was cancelled before, is left alone.
    package func cancel(_ id: TimerQueue.ID) {
        guard timerHandlers.removeValue(forKey: id) != nil else { return }
        timers.cancel(id)
    }

    /// How many timers are set.
    package var timerCount: Int { timerHandlers.count }

    /// Calls `work` once, after the handlers of what is ready now: long work goes in pieces, one a turn, so that whatever
    /// becomes ready meanwhile does not wait for all of it.
    package func afterEvents(_ work: @escaping () -> Void) { deferred.append(work) }

    /// Runs until ``stop()``.
    package func run() {
        isRunning = true
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while isRunning {
            arm()
            let count = epoll_wait(epoll.rawValue, &events, CInt(events.count), deferred.isEmpty ? -1 : 0)
            for event in events.prefix(Int(max(0, count))) where isRunning { tell(event) }
            let work = deferred
            deferred = []
            for item in work where isRunning { item() }
        }
    }

    /// Ends ``run()`` once the handler that calls this returns.
    package func stop() { isRunning = false }

    private func tell(_ event: epoll_event) {
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
        var expirations: UInt64 = 0
        read(timer.rawValue, &expirations, MemoryLayout<UInt64>.size)
        armed = nil
        let now = SystemClock.boot
        while let id = timers.popDue(at: now) { timerHandlers.removeValue(forKey: id)?() }
    }

    /// Once a turn, however often timers are set and taken back in it: libcurl does so several times for each transfer.
    private func arm() {
        guard timers.next != armed else { return }
        armed = timers.next
        var setting = itimerspec()
        if let armed {
            // A time of zero would disarm it.
            let nanoseconds = max(armed.nanoseconds, 1)
            setting.it_value = timespec(
                tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        }
        timerfd_settime(timer.rawValue, CInt(TFD_TIMER_ABSTIME), &setting, nil)
    }
}
