public import Dispatch

/// Where a monitor calls its blocks and observers. Whichever it is: one call at a time, in the order of the changes.
public enum ReachabilityDelivery: Sendable {
    /// A serial queue of the monitor's own. Always drained, whatever the program does with its main thread.
    case privateQueue
    /// A queue of the caller's. A concurrent one is used serially.
    case queue(DispatchQueue)
    /// Tasks that prefer this executor.
    case taskExecutor(any TaskExecutor)
    /// The thread that listens to the kernel, at the moment of decision: the fastest, by a thread's wake-up.
    ///
    /// All monitors with the same options share that thread, so a slow callback delays them all.
    case immediate

    /// The main queue, as in AFNetworking.
    ///
    /// On Linux nothing drains it unless the program calls `dispatchMain()`, runs a run loop, or has an async `main`.
    /// Until it is drained nothing is called, and changes are kept in memory.
    public static let main = queue(.main)
}
