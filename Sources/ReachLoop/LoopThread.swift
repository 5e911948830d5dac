internal import Glibc
internal import Synchronization

/// A thread with an event loop and somebody who lives on it, whom other threads hand their wishes.
///
/// Loop and resident are made on that thread and never leave it. It begins with the first wish and ends with ``end()``, soon
/// after. Where the process has no thread or descriptor left, nothing is done until it has: a lack of threads is looked at
/// again with the next wish, one of descriptors every second.
package final class LoopThread<Resident: AnyObject>: Sendable {
    package typealias Wish = @Sendable (Resident) -> Void

    private struct State {
        var hasThread = false
        var isEnded = false
        /// Wishes from before the loop was there.
        var waiting: [Wish] = []
        var entrance: (mailbox: Mailbox, door: Door)?
        var lastID: UInt64 = 0

        mutating func take(_ wish: @escaping Wish) {
            guard let (mailbox, door) = entrance else { return waiting.append(wish) }
            mailbox.post { _ in door.resident.map(wish) }
        }
    }

    private let name: String
    private let prepare: @Sendable () -> Void
    private let settle: @Sendable (EventLoop) -> Resident
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: What ps and top show.
    ///   - prepare: Called on the thread before anything else.
    ///   - settle: Makes the resident, on the thread.
    package init(
        named name: String, prepare: @escaping @Sendable () -> Void = {},
        settle: @escaping @Sendable (EventLoop) -> Resident
    ) {
        self.name = name
        self.prepare = prepare
        self.settle = settle
    }

    /// A number that was not given out before.
    package func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Runs a wish on the thread, after all that was wished for before.
    ///
    /// - Returns: `false` after ``end()``.
    @discardableResult
    package func post(_ wish: @escaping Wish) -> Bool {
        let (isTaken, needsThread) = state.withLock { state in
            guard !state.isEnded else { return (false, false) }
            state.take(wish)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        if needsThread, !BackgroundThread.startIfPossible(named: name, { self.run() }) {
            state.withLock { $0.hasThread = false }
        }
        return isTaken
    }

    /// Ends the thread after all that was wished for before; does not wait for it.
    package func end() {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.isEnded = true
            guard let (mailbox, _) = state.entrance else { return }
            mailbox.post { $0.stop() }
            state.entrance = nil
        }
    }

    // MARK: - On the thread

    private func run() {
        prepare()
        while true {
            if let loop = try? EventLoop() { return serve(loop) }
            if state.withLock({ $0.isEnded }) { return }
            sleep(1)
        }
    }

    private func serve(_ loop: EventLoop) {
        let resident = settle(loop)
        state.withLock { state in
            let mailbox = loop.mailbox
            state.entrance = (mailbox, Door(resident))
            for wish in state.waiting { state.take(wish) }
            state.waiting = []
            guard state.isEnded else { return }
            mailbox.post { $0.stop() }
            state.entrance = nil
        }
        withExtendedLifetime(resident) { loop.run() }
        loop.mailbox.seal()
    }

    /// Carries the resident's reference through other threads, which never open it: only its own loop does.
    private struct Door: @unchecked Sendable {
        private(set) weak var resident: Resident?

        init(_ resident: Resident) { self.resident = resident }
    }
}
