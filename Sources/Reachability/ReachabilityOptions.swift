public import ReachCore
internal import ReachEngine

/// What a monitor is told once, when it is made.
public struct ReachabilityOptions: Sendable {
    /// How long a new status must last before it is told. By default not at all: the kernel is believed at once.
    public var holdDown = HoldDown()
    /// Addresses that stand for the Internet: it is reachable if one of them is. The kernel is asked for the way to
    /// them; nothing is ever sent there.
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

    /// The defaults. Monitors that are equal in hold-down and anchors share one thread and one socket.
    public init() {}

    var engineSettings: EngineSettings { EngineSettings(anchors: anchors, holdDown: holdDown) }
}
