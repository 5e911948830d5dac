package import ReachCore

/// One record of the history, from which follows when a target was up, down or not observed.
package struct HistoryEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// The daemon started. If its previous run did not record its end, `lastSeen` is that run's last sign of life.
        case started(lastSeen: Timestamp?)
        /// The daemon stopped regularly. Nothing is known from here on.
        case stopped
        /// The state of a target.
        case state(State)
        /// The target is no longer watched.
        case unwatched(target: String)
        /// What was measured of a line since the last record of this kind.
        case quality(QualityPeriod)
        /// What tests found while a target could not be used.
        case evidence(OutageEvidence)
        /// The number of records lost before this one.
        case dropped(count: Int)
    }

    /// The state of a target from a moment on. Words are kept as written, because a newer version may use more of them.
    package struct State: Hashable, Sendable {
        package var target: String
        package var status: ReachabilityStatus
        package var linkClass: String?
        package var interface: String?
        package var reason: StateReason?
        package var rootCause: String?
        package var rootInterface: String?
        /// The router of the path that counts; `nil` where there is none.
        package var gateway: String?
        /// The network behind the path: a configured name, or a private identifier.
        package var network: String?
        package var cause: String?
        /// What connectivity checks have proved; `unknown` until the first one has decided; `nil` without any checks.
        package var connectivity: String?
        /// Why the Internet does not answer although there is a path, where more than that is proved.
        package var connectivityReason: String?
        /// What is said of the line; `nil` where it is not measured.
        package var quality: String?
        /// Whether this is a change. Otherwise it is the initial state of a watch, or was copied to a new file.
        package var isChange: Bool

        package init(
            target: String, status: ReachabilityStatus, linkClass: String? = nil, interface: String? = nil,
            reason: String? = nil, rootCause: String? = nil, rootInterface: String? = nil, cause: String? = nil,
            connectivity: String? = nil, isChange: Bool = true
        ) {
            self.target = target
            self.status = status
            self.linkClass = linkClass
            self.interface = interface
            self.reason = reason.map { StateReason($0, of: target) }
            self.rootCause = rootCause
            self.rootInterface = rootInterface
            self.cause = cause
            self.connectivity = connectivity
            self.isChange = isChange
        }
    }

    package let moment: Instant
    /// The boot from which the moment's boot time counts (/proc/sys/kernel/random/boot_id).
    package let boot: String
    package let content: Content

    package init(_ content: Content, at moment: Instant, boot: String) {
        self.moment = moment
        self.boot = boot
        self.content = content
    }

    /// - Parameter name: The target's name; as it is written if there is none.
    package init(_ change: ReachabilityChange, of name: String? = nil, boot: String) {
        let moment = Instant(wall: change.time, boot: change.bootTime)
        self.init(.state(State(change, of: name)), at: moment, boot: boot)
    }

    /// The target of the record; `nil` if the record concerns all targets.
    package var target: String? {
        switch content {
        case .state(let state): state.target
        case .unwatched(let target): target
        case .started, .stopped, .quality, .evidence, .dropped: nil
        }
    }
}

extension HistoryEntry.State {
    package init(_ change: ReachabilityChange, of name: String? = nil) {
        self.init(change.state, of: name, cause: change.cause, isChange: !change.isInitial)
    }

    /// - Parameter name: The target's name; as it is written if there is none.
    package init(_ state: ReachabilityState, of name: String? = nil, cause: Cause, isChange: Bool = true) {
        self.init(
            target: name ?? state.target.description, status: state.status, linkClass: state.linkClass?.rawValue,
            interface: state.interface, reason: state.reason?.rawValue, rootCause: state.rootCause?.kind.rawValue,
            rootInterface: state.rootCause?.interface, cause: cause.rawValue,
            connectivity: state.isValidated ? state.connectivity.rawValue : nil, isChange: isChange)
        gateway = [state.ipv4, state.ipv6].first { $0.status == .reachable }?.gateway?.description
        network = state.network
        connectivityReason = state.isValidated ? state.connectivityReason?.rawValue : nil
        quality = state.quality?.word.rawValue
    }
}
