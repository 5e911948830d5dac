internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTransfer

/// Finds out whether a host on the link answers ARP or neighbour discovery now.
///
/// A datagram to the discard port makes the kernel ask where it does not know the host. Where it does, only
/// CAP_NET_ADMIN can make it ask at once; otherwise it waits five seconds for signs of life first.
final class Solicitation: DiagnosisAttempt {
    private let key: Neighbour.Key
    private let queries: KernelQueries
    private let loop: EventLoop
    private let completion: (SolicitationAnswer) -> Void
    private var timer: TimerQueue.ID?
    private var isOver = false
    private let started = SystemClock.boot

    /// The kernel asks three times, a second apart, and counts a fourth second.
    private static let patience = Duration.milliseconds(4300)
    /// It first waits five seconds for signs of life of a host that it knows.
    private static let knownPatience = Duration.milliseconds(9300)
    /// Answers take less than a millisecond, or nothing comes for long.
    private var interval = Backoff(first: .milliseconds(1), longest: .milliseconds(25))
    private static let discardPort: UInt16 = 9

    init(
        _ hop: FirstHop, _ queries: KernelQueries, _ loop: EventLoop,
        _ completion: @escaping (SolicitationAnswer) -> Void
    ) {
        key = Neighbour.Key(interface: hop.interfaceIndex, address: hop.address)
        self.queries = queries
        self.loop = loop
        self.completion = completion
        guard reach_link_has_neighbours(hop.interface) != 0 else {
            loop.afterEvents { [weak self] in self?.end(.noNeighbours) }
            return
        }
        let isAsked = askIfKnown()
        let number = isAsked ? 0 : send(by: hop)
        if number != 0 {
            loop.afterEvents { [weak self] in self?.end(.failed(number)) }
        } else {
            wait()
        }
    }

    deinit { timer.map(loop.cancel) }

    private var state: NeighbourState? { (try? queries.neighbour(key)) ?? nil }

    /// - Returns: Whether the kernel asks a host that it knows.
    private func askIfKnown() -> Bool {
        guard let state, [.reachable, .stale, .delay].contains(state) else { return false }
        return (try? queries.askAgain(key)) == true
    }

    /// - Returns: 0 or `errno`.
    private func send(by hop: FirstHop) -> CInt {
        let family = hop.address.family
        let socket = reach_datagram_socket(family == .ipv4 ? AF_INET : AF_INET6)
        guard socket >= 0 else { return -socket }
        defer { close(socket) }
        let binding = InterfaceBinding(name: hop.interface, index: UInt32(bitPattern: hop.interfaceIndex))
        try? InterfaceSocket.bind(socket, to: binding)
        let scope = hop.address.isLinkLocal ? UInt32(bitPattern: hop.interfaceIndex) : 0
        let address = SocketAddress(address: hop.address, port: Self.discardPort, scope: scope)
        let count = address.withPointer {
            sendto(socket, "", 0, CInt(MSG_NOSIGNAL), $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        // The kernel refuses what an earlier failure already answers; then the neighbour's state says so.
        return count >= 0 || errno == EHOSTUNREACH ? 0 : errno
    }

    private func wait() {
        timer = loop.schedule(at: SystemClock.boot + interval.wait()) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        if let answer = Self.answer(state, after: SystemClock.boot - started) { end(answer) } else { wait() }
    }

    /// What the kernel's entry says of the host, some time after it was asked for; `nil` while it says nothing.
    static func answer(_ state: NeighbourState?, after elapsed: Duration) -> SolicitationAnswer? {
        switch state {
        case .reachable: .answered
        case .failed: .silent
        case .noarp, .permanent: .notNeeded
        // Traffic of the other tasks may still confirm it.
        case .stale, .delay: elapsed < knownPatience ? nil : .unconfirmed
        case .probe: elapsed < knownPatience ? nil : .silent
        case .incomplete, .some(.none): elapsed < patience ? nil : .silent
        case nil: elapsed < patience ? nil : .notNeeded
        }
    }

    private func end(_ answer: SolicitationAnswer) {
        guard !isOver else { return }
        isOver = true
        completion(answer)
    }
}
