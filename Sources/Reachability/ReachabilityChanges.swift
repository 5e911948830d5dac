public import ReachCore
internal import Synchronization

/// The changes of a monitor as an asynchronous sequence, which begins with the state in force.
///
/// Every iterator is a subscription of its own and is told everything, after blocks and observers. Iterating starts
/// nothing: until the monitor is started the first element is awaited, and ``ReachabilityMonitor/stop()`` ends the
/// iteration at once. Cancelling the task does too.
///
/// The last 256 changes are kept for a consumer that is slow; older ones make room. A gap in the sequence numbers shows
/// it, and the last element always holds the newest state.
///
/// An iterator keeps its monitor alive.
public struct ReachabilityChanges: AsyncSequence, Sendable {
    /// How many changes are kept for a slow consumer.
    public static let bufferSize = 256

    let monitor: ReachabilityMonitor

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReachabilityChange.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let subscription = Subscription(continuation)
        continuation.onTermination = { [weak monitor, weak subscription] _ in
            if let subscription { monitor?.announcer.remove(subscription) }
        }
        monitor.announcer.add(subscription, of: monitor)
        return Iterator(monitor: monitor, subscription: subscription, base: stream.makeAsyncIterator())
    }

    /// One subscription.
    public struct Iterator: AsyncIteratorProtocol {
        /// Kept alive.
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

    /// Where a monitor puts its changes for one iterator.
    final class Subscription: Sendable {
        private let continuation: AsyncStream<ReachabilityChange>.Continuation
        /// Changes up to this number are covered by the state that the iterator begins with.
        private let heard = Atomic<UInt64>(0)
        private let hasFinished = Atomic(false)

        init(_ continuation: AsyncStream<ReachabilityChange>.Continuation) { self.continuation = continuation }

        /// What was kept for the iterator is not handed out any more.
        var isFinished: Bool { hasFinished.load(ordering: .acquiring) }

        func begin(after number: UInt64) { heard.store(number, ordering: .relaxed) }

        func yieldInitial(_ change: ReachabilityChange) { continuation.yield(change) }

        func yield(_ change: ReachabilityChange) {
            if change.sequenceNumber > heard.load(ordering: .relaxed) { continuation.yield(change) }
        }

        func finish() {
            hasFinished.store(true, ordering: .releasing)
            continuation.finish()
        }
    }
}
