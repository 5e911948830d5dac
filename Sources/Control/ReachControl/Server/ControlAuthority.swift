internal import CReachLinux

/// Decides which callers may change something: root, the daemon's own user, and the members of a group, if one is
/// named; which may read the events of all users; and which may hold the queue for the fleet.
package struct ControlAuthority: Hashable, Sendable {
    package var user: UInt32
    package var group: UInt32?
    /// The group whose members may read all users' events in the journal.
    package var journalGroup: UInt32?
    /// The group whose members may hold the queue for the fleet.
    package var fleetGroup: UInt32?

    package init(
        user: UInt32, group: UInt32? = nil, journalGroup: UInt32? = nil, fleetGroup: UInt32? = nil
    ) {
        self.user = user
        self.group = group
        self.journalGroup = journalGroup
        self.fleetGroup = fleetGroup
    }

    /// Users that are exempt from the limits that other users can exhaust together.
    var exempt: Set<UInt32> { user == Caller.overflowUser ? [0] : [0, user] }

    /// Whether descriptors that the caller sends are received. Closing one may wait for the file system that it is on,
    /// forever where that is a program of the caller's own (FUSE); the kernel drops one that is not received without
    /// waiting.
    func mayPassDescriptors(_ caller: Caller) -> Bool { exempt.contains(caller.user) }

    /// - Parameter isMember: Whether the caller has a supplementary group.
    func mayChange(_ caller: Caller, isMember: (UInt32) -> Bool) -> Bool {
        isAllowed(caller, by: group, isMember)
    }

    func mayChange(_ caller: Caller, at socket: CInt) -> Bool {
        mayChange(caller) { reach_peer_has_group(socket, $0) == 1 }
    }

    /// Whether the caller may read the events of all users' requests.
    func mayReadAll(_ caller: Caller, isMember: (UInt32) -> Bool) -> Bool {
        isAllowed(caller, by: journalGroup, isMember)
    }

    func mayReadAll(_ caller: Caller, at socket: CInt) -> Bool {
        mayReadAll(caller) { reach_peer_has_group(socket, $0) == 1 }
    }

    /// Whether the caller may hold and release the queue for the fleet.
    func mayHoldForFleet(_ caller: Caller, isMember: (UInt32) -> Bool) -> Bool {
        isAllowed(caller, by: fleetGroup, isMember)
    }

    func mayHoldForFleet(_ caller: Caller, at socket: CInt) -> Bool {
        mayHoldForFleet(caller) { reach_peer_has_group(socket, $0) == 1 }
    }

    private func isAllowed(_ caller: Caller, by group: UInt32?, _ isMember: (UInt32) -> Bool) -> Bool {
        if caller.user == 0 || caller.user == user && caller.isKnown { return true }
        guard let group else { return false }
        return caller.group == group || isMember(group)
    }
}
