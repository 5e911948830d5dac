public import Dispatch

/// Where a monitor calls its blocks and observers: always one call at a time, in the order of the changes.
public enum ReachabilityDelivery: Sendable {
    /// A private serial queue, which runs whatever the program does with its main thread.
    case privateQueue
    /// A queue of the caller. A concurrent queue is used serially.
    case queue(DispatchQueue)
    /// Tasks that prefer this executor.
    case taskExecutor(any TaskExecutor)
    /// The thread that watches the kernel, as soon as a change is detected. The fastest: it saves waking up another
    /// thread.
    ///
    /// All monitors with the same options share that thread, so a slow callback delays them all.
    case immediate

    /// The main queue, as in AFNetworking.
    ///
    /// On Linux nothing runs it unless the program calls `dispatchMain()`, runs a run loop, or has an async `main`.
    /// Until then there are no callbacks, and changes are kept in memory.
    public static let main = queue(.main)
}
