public import ReachCore
internal import Synchronization

/// The changes of a monitor as an asynchronous sequence, which begins with the current state.
///
/// Every iterator is a separate subscription and receives all changes, after the blocks and observers. Iterating does
/// not start the monitor: the first element comes after ``ReachabilityMonitor/start()``. ``ReachabilityMonitor/stop()``
/// ends the iteration at once, and so does cancelling the task.
///
/// For a slow consumer the last 256 changes are kept, and older ones are dropped. A gap in the sequence numbers shows
/// that. The last element always has the newest state.
///
/// An iterator keeps its monitor alive.
public struct ReachabilityChanges: AsyncSequence, Sendable {
    /// Number of changes that are kept for a slow consumer.
    public static let bufferSize = 256

    let monitor: ReachabilityMonitor

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReachabilityChange.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let subscription = Subscription(continuation)
        continuation.onTermination = { [weak monitor, weak subscription] _ in
            if let subscription { monitor?.dispatcher.remove(subscription) }
        }
        monitor.dispatcher.add(subscription, of: monitor)
        return Iterator(monitor: monitor, subscription: subscription, base: stream.makeAsyncIterator())
    }

    /// A subscription to the changes of a monitor.
    public struct Iterator: AsyncIteratorProtocol {
        /// Held to keep the monitor alive.
        let monitor: ReachabilityMonitor
        let subscription: Subscription
        var base: AsyncStream<ReachabilityChange>.Iterator

        /// The next change; `nil` once the monitor was stopped, or the task cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityChange? {
            guard !subscription.isFinished, let change = await base.next(isolation: actor), !subscription.isFinished
            else { return nil }
            return change
        }
    }

    /// The buffer that a monitor fills for one iterator.
    final class Subscription: Sendable {
        private let continuation: AsyncStream<ReachabilityChange>.Continuation
        /// Number of the last change that the iterator does not need, since its initial state covers it.
        private let start = Atomic<UInt64>(0)
        private let hasFinished = Atomic(false)

        init(_ continuation: AsyncStream<ReachabilityChange>.Continuation) { self.continuation = continuation }

        /// Whether the monitor was stopped. Buffered changes are then not returned.
        var isFinished: Bool { hasFinished.load(ordering: .acquiring) }

        func begin(after number: UInt64) { start.store(number, ordering: .relaxed) }

        func yieldInitial(_ change: ReachabilityChange) { continuation.yield(change) }

        func yield(_ change: ReachabilityChange) {
            if change.sequenceNumber > start.load(ordering: .relaxed) { continuation.yield(change) }
        }

        func finish() {
            hasFinished.store(true, ordering: .releasing)
            continuation.finish()
        }
    }
}
