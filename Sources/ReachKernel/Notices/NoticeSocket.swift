internal import CNetlink
package import ReachCore
internal import ReachLoop

/// The socket on which the kernel tells of changes. Confined to one thread.
package final class NoticeSocket {
    private var socket: NetlinkSocket
    private let buffer = DatagramBuffer()
    /// Twice as much once the kernel has accounted for it: some 20,000 notices.
    package static let defaultBufferBytes = 8 << 20
    /// So often the buffer is filled in one go; then others on the loop have their turn.
    private static let fillsAtOnce = 128

    /// Opens the socket and subscribes. Notices are queued from then on.
    ///
    /// - Parameter filter: What to drop in the kernel; `nil` to be told everything.
    package init(
        filter: SocketFilter?, bufferBytes: Int = NoticeSocket.defaultBufferBytes
    ) throws(NetlinkError) {
        socket = try NetlinkSocket.open(receiveBufferBytes: bufferBytes)
        try socket.setNonblocking()
        if let filter { try socket.attach(filter: filter.program) }
        try socket.join(Self.groups.map { CInt($0.rawValue) })
    }

    package var descriptor: CInt { socket.descriptor }

    /// What the kernel granted, in its own doubled reckoning. Less than twice what was asked for means that
    /// net.core.rmem_max held it down.
    package var receiveBufferBytes: Int { socket.receiveBufferBytes }

    /// Replaces the filter, without a gap.
    package func replace(filter: SocketFilter) throws(NetlinkError) {
        try socket.attach(filter: filter.program)
    }

    /// Reads what is queued, up to a bound.
    ///
    /// - Returns: Whether more may be queued.
    /// - Throws: ``NetlinkError/lost`` when the queue had overflowed or a notice was cut: read everything anew.
    package func read(_ body: (Notice) -> Void) throws(NetlinkError) -> Bool {
        for _ in 0..<Self.fillsAtOnce {
            let count = try socket.receive(into: buffer) { datagram in
                for message in Messages(datagram) {
                    if let notice = NoticeParser.notice(message) { body(notice) }
                }
            }
            if count < DatagramBuffer.slotCount { return false }
        }
        return true
    }

    /// Throws away what is queued, as after an overflow: all of it will be read anew. The kernel queues nothing more
    /// until an overflown queue is empty, so this ends; the bound is for a cut notice in a storm.
    package func discard() throws(NetlinkError) {
        for _ in 0..<256 {
            do throws(NetlinkError) {
                guard try read({ _ in }) else { return }
            } catch .lost {
                continue
            }
        }
    }

    private static let groups: [rtnetlink_groups] = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEIGH, RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF,
        RTNLGRP_IPV6_NETCONF,
    ]
}
