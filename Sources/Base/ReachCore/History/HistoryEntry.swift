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
        /// The number of records lost before this one.
        case dropped(count: Int)
    }

    /// The state of a target from a moment on. Words are kept as written, because a newer version may use more of them.
    ///
    /// Copies share their storage until one of them changes in more than its target and in whether it is a change.
    package struct State: Hashable, Sendable {
        /// What a state consists of, apart from the target and from whether it is a change.
        private struct Values: Hashable, Sendable {
            var status: ReachabilityStatus
            var linkClass: String?
            var interface: String?
            var reason: String?
            var rootCause: String?
            var rootInterface: String?
            var network: String?
            var cause: String?
            var connectivity: String?
        }

        /// Unchecked, since it is changed only while a single state refers to it.
        private final class SharedValues: @unchecked Sendable {
            var values: Values

            init(_ values: Values) { self.values = values }
        }

        package var target: String
        /// Whether this is a change. Otherwise it is the initial state of a watch, or was copied to a new file.
        package var isChange: Bool
        private var shared: SharedValues

        package var status: ReachabilityStatus {
            get { shared.values.status }
            set { modify { $0.status = newValue } }
        }
        package var linkClass: String? {
            get { shared.values.linkClass }
            set { modify { $0.linkClass = newValue } }
        }
        package var interface: String? {
            get { shared.values.interface }
            set { modify { $0.interface = newValue } }
        }
        package var reason: String? {
            get { shared.values.reason }
            set { modify { $0.reason = newValue } }
        }
        package var rootCause: String? {
            get { shared.values.rootCause }
            set { modify { $0.rootCause = newValue } }
        }
        package var rootInterface: String? {
            get { shared.values.rootInterface }
            set { modify { $0.rootInterface = newValue } }
        }
        /// The network behind the path: a configured name, or a private identifier.
        package var network: String? {
            get { shared.values.network }
            set { modify { $0.network = newValue } }
        }
        package var cause: String? {
            get { shared.values.cause }
            set { modify { $0.cause = newValue } }
        }
        /// What connectivity checks have proved; `unknown` until the first one has decided; `nil` without any checks.
        package var connectivity: String? {
            get { shared.values.connectivity }
            set { modify { $0.connectivity = newValue } }
        }

        private mutating func modify(_ change: (inout Values) -> Void) {
            if !isKnownUniquelyReferenced(&shared) { shared = SharedValues(shared.values) }
            change(&shared.values)
        }

        package static func == (one: State, other: State) -> Bool {
            one.target == other.target && one.isChange == other.isChange
                && (one.shared === other.shared || one.shared.values == other.shared.values)
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(target)
            hasher.combine(isChange)
            hasher.combine(shared.values)
        }

        package init(
            target: String, status: ReachabilityStatus, linkClass: String? = nil, interface: String? = nil,
            reason: String? = nil, rootCause: String? = nil, rootInterface: String? = nil, cause: String? = nil,
            connectivity: String? = nil, isChange: Bool = true
        ) {
            self.target = target
            self.isChange = isChange
            shared = SharedValues(
                Values(
                    status: status, linkClass: linkClass, interface: interface, reason: reason, rootCause: rootCause,
                    rootInterface: rootInterface, cause: cause, connectivity: connectivity))
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

    /// The same record of another target.
    package func of(_ target: String) -> HistoryEntry {
        guard case .state(var state) = content else { return self }
        state.target = target
        return HistoryEntry(.state(state), at: moment, boot: boot)
    }

    /// The target of the record; `nil` if the record concerns all targets.
    package var target: String? {
        switch content {
        case .state(let state): state.target
        case .unwatched(let target): target
        case .started, .stopped, .dropped: nil
        }
    }
}

extension HistoryEntry.State {
    package init(_ change: ReachabilityChange, of name: String? = nil) {
        let state = change.state
        self.init(
            target: name ?? state.target.description, status: state.status, linkClass: state.linkClass?.rawValue,
            interface: state.interface, reason: state.reason?.rawValue, rootCause: state.rootCause?.kind.rawValue,
            rootInterface: state.rootCause?.interface, cause: change.cause.rawValue,
            connectivity: state.isValidated ? state.connectivity.rawValue : nil, isChange: !change.isInitial)
        network = state.network
    }
}

/// A record, and those after it that differ from it in nothing but the target. With a thousand targets behind one default
/// route, a change of the route makes one group.
package struct HistoryGroup: Hashable, Sendable {
    package let first: HistoryEntry
    /// The targets of the others. There are none unless the first record is a state.
    package private(set) var otherTargets: [String] = []

    package init(_ first: HistoryEntry) { self.first = first }

    /// Appends the same record of another target.
    package mutating func append(_ target: String) { otherTargets.append(target) }

    /// The number of records.
    package var count: Int { 1 + otherTargets.count }

    /// The records, in their order.
    package var entries: [HistoryEntry] { [first] + otherTargets.map(first.of) }
}
