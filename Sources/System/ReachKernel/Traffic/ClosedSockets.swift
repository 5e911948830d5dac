internal import CNetlink
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The TCP sockets that were closed recently. A survey of open sockets misses a socket that lives for less than the
/// time between two surveys, and a socket leaves no trace where the remote end closes first.
///
/// The kernel queues a message for each closed socket (SKNLGRP_INET_TCP_DESTROY, Linux 4.2), which wakes no thread. It
/// drops what does not fit the queue: with so much traffic, an open socket shows it as well.
///
/// Unchecked, since only one thread at a time uses it.
final class ClosedSockets: @unchecked Sendable {
    private let socket: NetlinkSocket
    private let buffer = DatagramBuffer(slotBytes: 4096)
    /// The size of the kernel's queue, enough for about two hundred sockets.
    private static let queueBytes = 1 << 17
    /// The most reads in one call, which is more than the queue holds.
    private static let readLimit = 1000

    /// - Throws: The reason why the kernel does not report closed sockets.
    init() throws(NetlinkError) {
        socket = try NetlinkSocket.open(NETLINK_SOCK_DIAG, receiveBufferBytes: Self.queueBytes)
        try socket.setNonblocking()
        try socket.join([CInt(SKNLGRP_INET_TCP_DESTROY.rawValue), CInt(SKNLGRP_INET6_TCP_DESTROY.rawValue)])
    }

    /// The sockets read from the queue recently, with the time of the read: questions about several paths follow each
    /// other.
    private var recent: [(socket: DiagnosedSocket, readAt: BootTime)] = []

    /// The sockets that were closed, or read from the queue, within the window.
    func closed(within window: Duration) -> [DiagnosedSocket] {
        let now = SystemClock.boot
        recent.removeAll { now - $0.readAt > window }
        recent += readQueue().map { ($0, now) }
        return recent.map(\.socket)
    }

    private func readQueue() -> [DiagnosedSocket] {
        var closed: [DiagnosedSocket] = []
        var reads = 0
        while reads < Self.readLimit {
            reads += 1
            do throws(NetlinkError) {
                let count = try socket.receive(into: buffer) { datagram in
                    for message in Messages(datagram) {
                        if let socket = DiagnosedSocket(message) { closed.append(socket) }
                    }
                }
                if count == 0 { break }
            } catch .lost {
                continue
            } catch {
                break
            }
        }
        return closed
    }
}

extension TrafficQuestion {
    /// Whether a closed socket answers the question. It checks every condition, since the kernel filters no closed
    /// sockets.
    func isAnswered(by closed: DiagnosedSocket) -> Bool {
        closed.local.family == sockets.family && sockets.sources.contains(closed.local) && !excludes(closed.remote)
            && !sockets.excludedPrefixes.contains { $0.contains(closed.remote.address) } && closed.moved(within: window)
    }
}
