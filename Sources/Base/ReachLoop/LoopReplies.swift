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
