internal import CReachLinux
internal import ReachLoop

/// Who is at the other end of a connection, as the kernel tells it: as it was when they connected (SO_PEERCRED).
package struct Caller: Hashable, Sendable {
    package let user: UInt32
    package let group: UInt32
    package let process: Int32

    package init(user: UInt32, group: UInt32, process: Int32) {
        self.user = user
        self.group = group
        self.process = process
    }
}

extension Caller {
    init(at socket: CInt) throws(SystemError) {
        var peer = reach_peer()
        let result = reach_peer_credentials(socket, &peer)
        guard result == 0 else { throw SystemError(call: "getsockopt(SO_PEERCRED)", number: -result) }
        self.init(user: peer.user, group: peer.group, process: peer.process)
    }
}

/// Who may change something: root, the daemon's own user, and the members of a group, if one is named.
package struct ControlAuthority: Hashable, Sendable {
    package var user: UInt32
    package var group: UInt32?

    package init(user: UInt32, group: UInt32? = nil) {
        self.user = user
        self.group = group
    }

    /// Users that no limit keeps out which others may reach.
    var exempt: Set<UInt32> { [0, user] }

    /// - Parameter isMember: Whether the caller has a supplementary group.
    func mayChange(_ caller: Caller, isMember: (UInt32) -> Bool) -> Bool {
        if caller.user == 0 || caller.user == user { return true }
        guard let group else { return false }
        return caller.group == group || isMember(group)
    }

    func mayChange(_ caller: Caller, at socket: CInt) -> Bool {
        mayChange(caller) { reach_peer_has_group(socket, $0) == 1 }
    }
}
