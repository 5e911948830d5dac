internal import ReachCore

extension ReachabilityChange {
    /// AFNetworking would tell of it: the status in its view differs, or is told for the first time.
    var isOfStatus: Bool { previous?.networkReachabilityStatus != state.networkReachabilityStatus }

    /// The names under which it is posted, in this order.
    var notificationNames: [ReachabilityNotification.Name] {
        isOfStatus ? [.reachabilityDidChange, .reachabilityStateDidChange] : [.reachabilityStateDidChange]
    }

    /// The state that it led to, as it is held now, for somebody who begins with it: with the same number and times.
    func asInitial(with state: ReachabilityState) -> ReachabilityChange {
        ReachabilityChange(
            at: Instant(wall: time, boot: bootTime), cause: .start, aspects: [], previous: nil, state: state
        ).numbered(sequenceNumber)
    }
}

extension NetworkReachabilityStatus {
    /// In English, as AFNetworking put it. These texts do not change.
    public var displayText: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }
}
