/// Passes replies of other threads to handlers that are confined to a loop: the handlers stay here, and only a number
/// crosses threads.
package final class LoopReplies {
    private let loop: EventLoop
    private let reference: OwnerReference
    private var handlers: [UInt64: (Any) -> Void] = [:]
    private var lastNumber: UInt64 = 0

    /// Crosses threads as a reference, and is read only on the loop.
    fileprivate final class OwnerReference: @unchecked Sendable {
        weak var owner: LoopReplies?
    }

    package init(loop: EventLoop) {
        self.loop = loop
        reference = OwnerReference()
        reference.owner = self
    }

    /// - Parameter handler: Called on the loop, once, with the other thread's value.
    /// - Returns: The function for the other thread to call, once.
    package func expect<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> @Sendable (Value) -> Void {
        lastNumber += 1
        let number = lastNumber
        handlers[number] = { value in
            if let value = value as? Value { handler(value) }
        }
        return { [reference, mailbox = loop.mailbox] value in
            mailbox.post { _ in reference.owner?.handlers.removeValue(forKey: number)?(value) }
        }
    }

    /// Calls `work` on the loop, at the end of its turn.
    package func later(_ work: @escaping () -> Void) { loop.afterEvents(work) }
}
