public import Logging
public import ReachCore
internal import ReachEngine

/// What a monitor is told once, when it is made.
public struct ReachabilityOptions: Sendable {
    /// Who observes.
    public var source = ReachabilitySource.kernel
    /// How long a new status must last before it is told. By default not at all: the kernel is believed at once. A daemon
    /// has hold-downs of its own, and this is not looked at.
    public var holdDown = HoldDown()
    /// Addresses that stand for the Internet: it is reachable if one of them is. The kernel is asked for the way to
    /// them; nothing is ever sent there. A daemon has its own, and these are not looked at.
    public var anchors: [IPAddress] = Anchors.standard
    /// Blocks and observers are told the state in force when the monitor starts, or when they are registered late.
    ///
    /// If `false` they are told differences only. Sequences begin with the state in force all the same.
    public var wantsInitialEvent = true
    /// Where blocks and observers are called.
    public var delivery = ReachabilityDelivery.privateQueue
    /// Whose observers are told.
    public var notificationCenter = ReachabilityNotificationCenter.default
    /// Translates ``ReachabilityMonitor/localizedStatusDescription``: is given the English text as its key, as
    /// AFNetworking's table of strings was.
    public var translation: @Sendable (String) -> String = { $0 }

    /// Gets a line at level debug when the daemon goes away or is back, and when the network cannot be observed. By
    /// default nothing is logged. Called by the thread that observes: a handler must not wait.
    public var logger: Logger?

    /// The defaults. Monitors that are equal in source, hold-down and anchors share one thread and its sockets; those of
    /// a daemon one thread, with a connection each.
    public init() {}

    var changeSource: any ChangeSource {
        switch source {
        case .kernel: EnginePool.shared
        case .daemon(let socket): DaemonPool(path: socket)
        }
    }

    var engineSettings: EngineSettings { EngineSettings(anchors: anchors, holdDown: holdDown) }
}
