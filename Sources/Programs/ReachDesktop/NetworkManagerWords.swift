package import ReachCore

/// What reach says, in the numbers of NetworkManager's D-Bus interface (nm-dbus-types). This is the only place that has
/// them.
package struct NetworkManagerWords: Hashable, Sendable {
    /// NMState.
    package enum State: UInt32, Sendable {
        case disconnected = 20
        case connecting = 40
        case connectedLocal = 50
        case connectedSite = 60
        case connectedGlobal = 70
    }

    /// NMConnectivityState.
    package enum Connectivity: UInt32, Sendable {
        case unknown = 0
        case none = 1
        case portal = 2
        case limited = 3
        case full = 4
    }

    /// NMMetered.
    package enum Metered: UInt32, Sendable {
        case unknown = 0
        case yes = 1
        case guessYes = 3
        case guessNo = 4
    }

    package var state: State
    package var connectivity: Connectivity
    package var metered: Metered

    /// - Parameter state: The state of the Internet.
    /// - Returns: `nil` if the state is unknown: not to be able to observe is not to be offline, and NetworkManager has
    ///   no such state that programs would not take for offline.
    package init?(_ state: ReachabilityState) {
        switch state.status {
        case .unknown: return nil
        case .reachable:
            connectivity = Connectivity(state.connectivity, isValidated: state.isValidated)
            // As NetworkManager: programs read a default route without a proved Internet as a site.
            self.state = connectivity == .full ? .connectedGlobal : .connectedSite
            metered = Metered(state)
        case .notReachable:
            connectivity = .none
            self.state = State(state.rootCause?.kind)
            metered = .unknown
        }
    }
}

extension NetworkManagerWords.Connectivity {
    /// Where nothing is checked, NetworkManager says "full" of a default route, too: programs take "unknown" for
    /// offline.
    init(_ connectivity: ReachCore.Connectivity, isValidated: Bool) {
        self =
            switch connectivity {
            case .unknown: isValidated ? .unknown : .full
            case .none: .none
            case .portal: .portal
            case .limited: .limited
            case .full: .full
            }
    }
}

extension NetworkManagerWords.State {
    /// The state of a machine that does not reach the Internet, by what broke.
    init(_ cause: RootCause.Kind?) {
        self =
            switch cause {
            // A link works and has an address; what lies behind it does not answer, or is not to be reached.
            case .noDefaultRoute, .selfAssignedAddress, .rule, .gatewayUnreachable, .neighbourUnreachable, .blackhole,
                .unreachable, .prohibited:
                .connectedLocal
            // A link is about to work.
            case .authenticating, .addressTentative, .noAddress: .connecting
            default: .disconnected
            }
    }
}

extension NetworkManagerWords.Metered {
    /// A path that is not metered may be so by a rule or because nothing says otherwise, which reach does not
    /// distinguish.
    init(_ state: ReachabilityState) {
        self = !state.isMetered ? .guessNo : state.meteredReason == .configuration ? .yes : .guessYes
    }
}

/// A kind of link, as NetworkManager calls its device and its connection.
package struct NetworkManagerLinkType: Hashable, Sendable {
    /// NMDeviceType.
    package let device: UInt32
    /// The interface that only devices of this kind have, by which libnm knows them.
    package let interface: String
    /// The type of the connection: the name of its main setting.
    package let connection: String

    package init(_ linkClass: LinkClass?) {
        let (device, interface, connection): (UInt32, String, String) =
            switch linkClass {
            case .wired: (1, "Wired", "802-3-ethernet")
            case .wifi: (2, "Wireless", "802-11-wireless")
            case .bluetooth: (5, "Bluetooth", "bluetooth")
            case .wwan: (8, "Modem", "gsm")
            case .tunnel: (16, "Tun", "tun")
            case .loopback: (32, "Loopback", "loopback")
            case .virtual, .other, nil: (14, "Generic", "generic")
            }
        self.device = device
        self.interface = NetworkManagerTree.service + ".Device." + interface
        self.connection = connection
    }
}
