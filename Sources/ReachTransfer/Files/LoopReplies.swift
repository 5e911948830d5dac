package import ReachLoop

/// Answers from other threads to what is confined to a loop: the handlers stay here, and only a number crosses over.
package final class LoopReplies {
    private let loop: EventLoop
    private let box: Box
    private var handlers: [UInt64: (Any) -> Void] = [:]
    private var lastNumber: UInt64 = 0

    /// Crosses threads as a reference, and is looked into only on the loop.
    fileprivate final class Box: @unchecked Sendable {
        weak var owner: LoopReplies?
    }

    package init(loop: EventLoop) {
        self.loop = loop
        box = Box()
        box.owner = self
    }

    /// - Parameter handler: Called on the loop, once, with what the other thread hands over.
    /// - Returns: What the other thread is to call, once.
    package func expect<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> @Sendable (Value) -> Void {
        lastNumber += 1
        let number = lastNumber
        handlers[number] = { value in
            if let value = value as? Value { handler(value) }
        }
        return { [box, mailbox = loop.mailbox] value in
            mailbox.post { _ in box.owner?.handlers.removeValue(forKey: number)?(value) }
        }
    }

    /// Calls `work` on the loop, soon, and not from within the caller.
    package func later(_ work: @escaping () -> Void) { loop.afterEvents(work) }
}
