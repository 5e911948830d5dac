package import ReachCore
internal import ReachKernel

/// Where a monitor has its changes from: an engine on the kernel, the daemon, or a test.
package protocol ChangeSource: Sendable {
    /// Reserves what it takes to watch a target. Nothing is told before ``ChangeWatch/begin(_:)``.
    func prepare(_ target: Target, _ settings: EngineSettings) -> any ChangeWatch
}

/// What a source tells a monitor.
package enum SourceEvent: Sendable {
    /// The first state, or a difference.
    case change(ReachabilityChange)
    /// What was told may no longer hold; or, later, it does hold.
    case stale(Bool)
}

/// One monitor's watch of its target, from one start to one stop.
package protocol ChangeWatch: AnyObject, Sendable {
    /// Tells the state as soon as it is determined, then every change. Does nothing after ``end()``.
    ///
    /// - Parameter handler: Called by one thread.
    func begin(_ handler: @escaping @Sendable (SourceEvent) -> Void)

    /// Gives everything back. A call of the handler that has begun may still run. Again does no harm.
    func end()

    /// Runs work on the thread that calls the handler.
    ///
    /// - Returns: `false` if it is gone.
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool
}

/// What distinguishes one engine from another. Monitors with equal settings share one.
package struct EngineSettings: Hashable, Sendable {
    package var anchors: [IPAddress]
    package var holdDown: HoldDown

    package init(anchors: [IPAddress] = ReferenceAddresses.standard, holdDown: HoldDown = HoldDown()) {
        self.anchors = anchors
        self.holdDown = holdDown
    }
}
