internal import CReachLinux
internal import Glibc
internal import Synchronization

/// Other threads post work here. It runs on the loop's thread, in order.
package final class Mailbox: Sendable {
    package typealias Work = @Sendable (EventLoop) -> Void

    private struct State {
        var pending: [Work] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    let descriptor: CInt

    init() throws(SystemError) {
        descriptor = try SystemError.check("eventfd") {
            eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        }
    }

    deinit { close(descriptor) }

    /// Posts work. It is dropped if the loop has ended.
    ///
    /// - Returns: Whether the loop will run it.
    @discardableResult
    package func post(_ work: @escaping Work) -> Bool {
        let (isFirst, isClosed) = state.withLock { state in
            guard !state.isClosed else { return (false, true) }
            state.pending.append(work)
            return (state.pending.count == 1, false)
        }
        if isFirst { wake() }
        return !isClosed
    }

    /// Refuses further work and drops what is pending.
    package func seal() {
        state.withLock {
            $0.isClosed = true
            $0.pending = []
        }
    }

    func deliver(to loop: EventLoop) {
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
        let work = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for item in work { item(loop) }
    }

    private func wake() {
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}

/// Passes replies of other threads to handlers that are confined to a loop: the handlers stay here, and only a number
/// crosses threads.
package final class LoopReplies {
    private let loop: EventLoop
    private let loopReference = LoopReference<LoopReplies>()
    private var handlers: [UInt64: (Any) -> Void] = [:]
    private var lastNumber: UInt64 = 0

    package init(loop: EventLoop) {
        self.loop = loop
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// - Parameter handler: Called on the loop, once, with the other thread's value.
    /// - Returns: The function for the other thread to call, once.
    package func expect<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> @Sendable (Value) -> Void {
        lastNumber += 1
        let number = lastNumber
        handlers[number] = { value in
            if let value = value as? Value { handler(value) }
        }
        return { [loopReference, mailbox = loop.mailbox] value in
            mailbox.post { _ in loopReference.owner?.handlers.removeValue(forKey: number)?(value) }
        }
    }

    /// Calls `work` on the loop, at the end of its turn.
    package func later(_ work: @escaping () -> Void) { loop.afterEvents(work) }
}
