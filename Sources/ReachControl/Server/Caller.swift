internal import CReachLinux
internal import ReachLoop

/// The process at the other end of a connection, with its credentials at the time it connected (SO_PEERCRED).
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
