public import Dispatch
public import ReachCore

// Names that people of AFNetworking, Alamofire and Network.framework type first, each with its counterpart: the
// compiler says the sentence in place of "has no member". Nothing here can be called.
//
// | typed | here |
// | --- | --- |
// | AFNetworkReachabilityManager, NetworkReachabilityManager, NWPathMonitor | ReachabilityMonitor |
// | NWPath | ReachabilityState |
// | sharedManager, default | shared |
// | startMonitoring, startListening, start(queue:) | start, with a block set before |
// | stopMonitoring, stopListening, cancel | stop |
// | setReachabilityStatusChange | setStatusChangeBlock |
// | pathUpdateHandler | setChangeBlock, changes |
// | currentPath | state, currentState() |
// | isExpensive, isConstrained, unsatisfiedReason, usesInterfaceType | isMetered, -, reason, uses |

/// AFNetworking's manager.
@available(*, unavailable, renamed: "ReachabilityMonitor")
public typealias AFNetworkReachabilityManager = ReachabilityMonitor

/// Alamofire's manager.
@available(*, unavailable, renamed: "ReachabilityMonitor")
public typealias NetworkReachabilityManager = ReachabilityMonitor

/// Network.framework's monitor.
@available(*, unavailable, renamed: "ReachabilityMonitor")
public typealias NWPathMonitor = ReachabilityMonitor

/// Network.framework's path.
@available(*, unavailable, renamed: "ReachabilityState")
public typealias NWPath = ReachabilityState

extension ReachabilityMonitor {
    /// AFNetworking's shared manager.
    @available(*, unavailable, renamed: "shared")
    public static var sharedManager: ReachabilityMonitor { fatalError() }

    /// Alamofire's shared manager.
    @available(*, unavailable, renamed: "shared")
    public static var `default`: ReachabilityMonitor { fatalError() }

    /// AFNetworking's start.
    @available(*, unavailable, renamed: "start()")
    public func startMonitoring() { fatalError() }

    /// AFNetworking's stop.
    @available(*, unavailable, renamed: "stop()")
    public func stopMonitoring() { fatalError() }

    /// AFNetworking's block.
    @available(*, unavailable, renamed: "setStatusChangeBlock(_:)")
    public func setReachabilityStatusChange(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?) { fatalError() }

    /// Alamofire's start.
    @available(
        *, unavailable,
        message: "set the listener with setStatusChangeBlock(_:), which every change calls; then start()"
    )
    public func startListening(
        onQueue queue: DispatchQueue = .main,
        onUpdatePerforming listener: @escaping @Sendable (NetworkReachabilityStatus) -> Void
    ) { fatalError() }

    /// Alamofire's stop.
    @available(*, unavailable, renamed: "stop()")
    public func stopListening() { fatalError() }

    /// Network.framework's start.
    @available(*, unavailable, message: "call start(); ReachabilityOptions.delivery names the queue")
    public func start(queue: DispatchQueue) { fatalError() }

    /// Network.framework's end.
    @available(*, unavailable, renamed: "stop()")
    public func cancel() { fatalError() }

    /// Network.framework's block.
    @available(*, unavailable, message: "use setChangeBlock(_:), or read the sequence `changes`")
    public var pathUpdateHandler: (@Sendable (ReachabilityState) -> Void)? {
        get { fatalError() }
        set { fatalError() }
    }

    /// Network.framework's path.
    @available(*, unavailable, message: "use `state`, or currentState() before start()")
    public var currentPath: ReachabilityState { fatalError() }
}

extension ReachabilityState {
    /// Network.framework's cost.
    @available(*, unavailable, renamed: "isMetered")
    public var isExpensive: Bool { fatalError() }

    /// Network.framework's Low Data Mode.
    @available(*, unavailable, message: "Low Data Mode is a setting of Apple's systems; Linux has none of that kind")
    public var isConstrained: Bool { fatalError() }

    /// Network.framework's reason.
    @available(*, unavailable, renamed: "reason")
    public var unsatisfiedReason: Reason? { fatalError() }

    /// Network.framework's question for a class of links.
    @available(*, unavailable, renamed: "uses(_:)")
    public func usesInterfaceType(_ type: LinkClass) -> Bool { fatalError() }
}
