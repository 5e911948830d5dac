internal import CNetlink
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// TCP sockets that have been closed since the last look: those that live for less than the time between two looks would
/// be missed, and where the other end closes first nothing is left of them.
///
/// The kernel queues a message for each (SKNLGRP_INET_TCP_DESTROY, Linux 4.2); nobody is woken for it. What does not fit
/// the queue is lost: where so much goes on, an open socket will tell.
///
/// Unchecked, since one thread at a time looks, and nobody else does anything with it.
final class ClosedSockets: @unchecked Sendable {
    private let socket: NetlinkSocket
    private let buffer = DatagramBuffer(slotBytes: 4096)
    /// Room for some two hundred.
    private static let queueBytes = 1 << 17
    /// So many are read in one look; the queue does not hold more.
    private static let readLimit = 1000

    /// - Throws: Where the kernel does not tell.
    init() throws(NetlinkError) {
        socket = try NetlinkSocket.open(NETLINK_SOCK_DIAG, receiveBufferBytes: Self.queueBytes)
        try socket.setNonblocking()
        try socket.join([CInt(SKNLGRP_INET_TCP_DESTROY.rawValue), CInt(SKNLGRP_INET6_TCP_DESTROY.rawValue)])
    }

    /// What was taken from the queue lately, and when: looks for several paths follow each other.
    private var recent: [(socket: DiagnosedSocket, taken: BootTime)] = []

    /// Those that were closed within the time, or were taken from the queue within it.
    func closed(within window: Duration) -> [DiagnosedSocket] {
        let now = SystemClock.boot
        recent.removeAll { now - $0.taken > window }
        recent += takeQueued().map { ($0, now) }
        return recent.map(\.socket)
    }

    private func takeQueued() -> [DiagnosedSocket] {
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
    /// Whether a socket that has been closed shows what is asked for: here nothing was left out by the kernel.
    func isAnswered(by closed: DiagnosedSocket) -> Bool {
        closed.local.family == family && sources.contains(closed.local) && !excludes(closed.remote)
            && !excludedPrefixes.contains { $0.contains(closed.remote.address) } && closed.moved(within: window)
    }
}
