package import ReachClient
package import ReachCore
internal import ReachLoop
internal import ReachKernel

/// The source of a monitor's changes: an engine on the kernel, the daemon, or a test.
package protocol ChangeSource: Sendable {
    /// Prepares to watch a target. No event comes before ``ChangeWatch/begin(_:)``.
    func prepare(_ subject: WatchSubject, _ settings: EngineSettings) -> any ChangeWatch

    /// Determines the state now, without a watch. Blocks: for up to five seconds if a name has to be resolved, or the
    /// daemon does not answer. Leaves no thread and no descriptor behind.
    func currentState(of subject: WatchSubject, _ settings: EngineSettings) -> ReachabilityState
}

/// What a monitor watches.
package struct WatchSubject: Hashable, Sendable {
    package let target: Target
    /// The paths that count.
    package let condition: NetworkCondition
    /// Whether gateways that did not answer are asked again.
    package let seeksPath: Bool

    package init(_ target: Target, where condition: NetworkCondition = .any, seeksPath: Bool = false) {
        self.target = target
        self.condition = condition
        self.seeksPath = seeksPath
    }

    /// The state while nothing can be observed.
    var unobservable: ReachabilityState {
        var state = ReachabilityState(target: target, since: SystemClock.now.wall)
        state.adopt(Verdict(.unknown, reason: .cannotObserve))
        return state
    }
}

/// One monitor's watch of its target, from one start to one stop.
package protocol ChangeWatch: AnyObject, Sendable {
    /// Starts the watch: sends the state as soon as it is determined, then every change. Does nothing after ``end()``.
    ///
    /// - Parameter handler: Receives the events, always on the same thread. A monitor reports the changes in them,
    ///   and that the last state may no longer hold while the daemon is away.
    func begin(_ handler: @escaping @Sendable (StreamEvent) -> Void)

    /// Ends the watch and releases its resources. A call of the handler that has begun may still run. May be called
    /// twice.
    func end()

    /// Runs work on the thread that calls the handler.
    ///
    /// - Returns: `false` if the thread has ended.
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool
}

/// The settings of an engine. Monitors with equal settings share one.
package struct EngineSettings: Hashable, Sendable {
    package var anchors: [IPAddress]
    package var holdDown: HoldDown
    package var links: LinkPolicy

    package init(
        anchors: [IPAddress] = ReferenceAddresses.standard, holdDown: HoldDown = HoldDown(),
        links: LinkPolicy = LinkPolicy()
    ) {
        self.anchors = anchors
        self.holdDown = holdDown
        self.links = links
    }

    var engineOptions: ReachabilityEngine.Options {
        var options = ReachabilityEngine.Options()
        options.anchors = anchors
        options.holdDown = holdDown
        options.observer.policy = links
        return options
    }
}
