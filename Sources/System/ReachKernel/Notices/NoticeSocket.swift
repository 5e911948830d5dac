internal import CNetlink
package import ReachCore
internal import ReachLoop

/// The socket that receives the kernel's notices of changes. Confined to one thread.
package final class NoticeSocket {
    private var socket: NetlinkSocket
    private let buffer = DatagramBuffer()
    /// The default size of the receive buffer. The kernel doubles it, which is enough for about 20,000 notices.
    package static let defaultBufferBytes = 8 << 20
    /// The number of buffer fills in one call of ``read(_:)``; then other sources on the loop have their turn.
    private static let fillsAtOnce = 128

    /// Opens the socket and subscribes. From then on the kernel queues notices.
    ///
    /// - Parameter filter: The filter that the kernel applies; `nil` to receive every notice.
    package init(
        filter: SocketFilter?, bufferBytes: Int = NoticeSocket.defaultBufferBytes
    ) throws(NetlinkError) {
        socket = try NetlinkSocket.open(receiveBufferBytes: bufferBytes)
        try socket.setNonblocking()
        if let filter { try socket.attach(filter: filter.program) }
        try socket.join(Self.groups.map { CInt($0.rawValue) })
    }

    package var descriptor: CInt { socket.descriptor }

    /// The size that the kernel granted, which it doubles. Less than twice the requested size means that
    /// net.core.rmem_max limited it.
    package var receiveBufferBytes: Int { socket.receiveBufferBytes }

    /// Replaces the filter, without a gap.
    package func replace(filter: SocketFilter) throws(NetlinkError) {
        try socket.attach(filter: filter.program)
    }

    /// Reads queued notices, up to a limit.
    ///
    /// - Returns: Whether more may be queued.
    /// - Throws: ``NetlinkError/lost`` when the queue overflowed or a notice was truncated: read everything again.
    package func read(_ body: (Notice) -> Void) throws(NetlinkError) -> Bool {
        for _ in 0..<Self.fillsAtOnce {
            let count = try socket.receive(into: buffer) { datagram in
                for message in Messages(datagram) {
                    if let notice = NoticeParser.notice(message) { body(notice) }
                }
            }
            if count < buffer.slotCount { return false }
        }
        return true
    }

    /// Discards the queued notices, as after an overflow, before everything is read again. The kernel queues nothing
    /// more until an overflowed queue is empty, so this ends; the limit is for a truncated notice in a storm.
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
        RTNLGRP_IPV6_NETCONF, RTNLGRP_ND_USEROPT,
    ]
}
