public import ReachCore

/// A notification for observers: the monitor, and the change.
public struct ReachabilityNotification: Sendable {
    /// The name of a kind of notification.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name's text.
        public let rawValue: String

        /// Creates a name for notifications that a program posts itself.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The ``NetworkReachabilityStatus`` changed, or is reported for the first time.
        ///
        /// AFNetworking's `AFNetworkingReachabilityDidChangeNotification`.
        public static let reachabilityDidChange = Name(rawValue: "io.reach.reachability.change")
        /// Anything changed, even at equal status: interface, gateway, family, class or metering.
        public static let reachabilityStateDidChange = Name(rawValue: "io.reach.reachability.state-change")
    }

    /// The key in ``userInfo`` for the raw value of the status (-1, 0, 1 or 2), an `Int`. The key is AFNetworking's.
    public static let statusKey = "AFNetworkingReachabilityNotificationStatusItem"
    /// The key in ``userInfo`` for the ``ReachabilityChange``.
    public static let changeKey = "ReachabilityNotificationChangeItem"

    /// The kind of notification.
    public let name: Name
    /// The monitor that posted it.
    public let object: ReachabilityMonitor
    /// The change. Its `state` may no longer be the newest.
    public let change: ReachabilityChange

    /// Creates a notification like those that a monitor posts.
    public init(name: Name, object: ReachabilityMonitor, change: ReachabilityChange) {
        self.name = name
        self.object = object
        self.change = change
    }

    /// The status as one of AFNetworking's four values.
    public var status: NetworkReachabilityStatus { change.state.networkReachabilityStatus }

    /// Status and change under their keys, for code that was written for AFNetworking.
    public var userInfo: [String: any Sendable] { [Self.statusKey: status.rawValue, Self.changeKey: change] }
}

extension ReachabilityChange {
    /// Whether AFNetworking would report the change: its four-value status differs, or is the first.
    var isOfStatus: Bool { previous?.networkReachabilityStatus != state.networkReachabilityStatus }

    /// The names under which the change is posted, in this order.
    var notificationNames: [ReachabilityNotification.Name] {
        isOfStatus ? [.reachabilityDidChange, .reachabilityStateDidChange] : [.reachabilityStateDidChange]
    }

    /// An initial change with the same number and times, for a receiver that begins with the current state.
    func asInitial(with state: ReachabilityState) -> ReachabilityChange {
        ReachabilityChange(
            at: Instant(wall: time, boot: bootTime), cause: .start, aspects: [], previous: nil, state: state
        ).numbered(sequenceNumber)
    }
}

extension NetworkReachabilityStatus {
    /// AFNetworking's English texts for the status. They never change.
    public var displayText: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }
}
