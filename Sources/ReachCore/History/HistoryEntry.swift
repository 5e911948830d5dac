/// One record of what happened: enough to say afterwards when a target was up, down or not looked at.
package struct HistoryEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// The daemon began to look. If its last run left no mark of its end, that run was last seen alive then.
        case started(lastSeen: Timestamp?)
        /// The daemon ended in order: nothing is known from here on.
        case stopped
        case state(State)
        /// Nobody watches the target any more.
        case unwatched(target: String)
        /// So many records were lost before this one.
        case dropped(count: Int)
    }

    /// What held from a moment on. Words are kept as they were written, since a newer version may have more of them.
    package struct State: Hashable, Sendable {
        package var target: String
        package var status: ReachabilityStatus
        package var linkClass: String?
        package var interface: String?
        package var reason: String?
        package var cause: String?
        /// It differs from what held before; else it is what a watch began with, or was carried over to a new file.
        package var isChange: Bool

        package init(
            target: String, status: ReachabilityStatus, linkClass: String? = nil, interface: String? = nil,
            reason: String? = nil, cause: String? = nil, isChange: Bool = true
        ) {
            self.target = target
            self.status = status
            self.linkClass = linkClass
            self.interface = interface
            self.reason = reason
            self.cause = cause
            self.isChange = isChange
        }
    }

    package let moment: Instant
    /// Which start of the machine the moment's boot time counts from (/proc/sys/kernel/random/boot_id).
    package let boot: String
    package let content: Content

    package init(_ content: Content, at moment: Instant, boot: String) {
        self.moment = moment
        self.boot = boot
        self.content = content
    }

    package init(_ change: ReachabilityChange, boot: String) {
        let state = State(
            target: change.state.target.description, status: change.state.status,
            linkClass: change.state.linkClass?.rawValue, interface: change.state.interface,
            reason: change.state.reason?.rawValue, cause: change.cause.rawValue, isChange: !change.isInitial)
        self.init(.state(state), at: Instant(wall: change.time, boot: change.bootTime), boot: boot)
    }

    /// The target it tells of; `nil` for what concerns all.
    package var target: String? {
        switch content {
        case .state(let state): state.target
        case .unwatched(let target): target
        case .started, .stopped, .dropped: nil
        }
    }
}
