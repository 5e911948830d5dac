public import ReachCore

/// What an observer is told: which monitor, and what changed.
public struct ReachabilityNotification: Sendable {
    /// Tells kinds of notification apart.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name's text.
        public let rawValue: String

        /// A name of one's own, for notifications that a program posts itself.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The status changed, as ``NetworkReachabilityStatus`` has it, or is told for the first time.
        ///
        /// What AFNetworking called `AFNetworkingReachabilityDidChangeNotification`.
        public static let reachabilityDidChange = Name(rawValue: "io.reach.reachability.change")
        /// Anything changed, at equal status too: interface, gateway, family, class, meter.
        public static let reachabilityStateDidChange = Name(rawValue: "io.reach.reachability.state-change")
    }

    /// The key in ``userInfo`` for the raw value (-1, 0, 1 or 2) of the status, as an `Int`. AFNetworking's own.
    public static let statusKey = "AFNetworkingReachabilityNotificationStatusItem"
    /// The key in ``userInfo`` for the ``ReachabilityChange``.
    public static let changeKey = "ReachabilityNotificationChangeItem"

    /// What kind of notification it is.
    public let name: Name
    /// The monitor that posted it.
    public let object: ReachabilityMonitor
    /// The change; its `state` is the one that the notification is about, which may no longer be the newest.
    public let change: ReachabilityChange

    /// A notification, as a monitor would post it.
    public init(name: Name, object: ReachabilityMonitor, change: ReachabilityChange) {
        self.name = name
        self.object = object
        self.change = change
    }

    /// The status in AFNetworking's view.
    public var status: NetworkReachabilityStatus { change.state.networkReachabilityStatus }

    /// Status and change under their keys, for code that looks them up as AFNetworking's users did.
    public var userInfo: [String: any Sendable] { [Self.statusKey: status.rawValue, Self.changeKey: change] }
}
