internal import ReachCore

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
