internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// When to ask neighbours again that did not answer: at once, and then ever more seldom.
struct InquirySchedule: Equatable {
    private struct Entry: Equatable {
        var next: BootTime
        var wait = InquirySchedule.shortest
        /// Others wait behind it.
        var isRouter = false
    }

    private var entries: [Neighbour.Key: Entry] = [:]
    /// Whether somebody waits for a path.
    private var isWanted = false
    /// The end of the pause after as many as may be asked at once.
    private var pauseEnd: BootTime?

    /// By default the kernel asks three times, a second apart, before it gives up (mcast_solicit and retrans_time_ms of
    /// arp(7)).
    static let shortest = Duration.seconds(4)
    /// So long it takes at most until a router that is back is found. Each time costs three broadcasts on the link.
    static let longest = Duration.seconds(30)
    /// The most that are asked in a second: users may watch thousands of hosts on a link, and the kernel's table has
    /// room for about a thousand entries (gc_thresh3 of arp(7)).
    static let mostAtOnce = 16
    private static let pause = Duration.seconds(1)

    /// Whether no one waits, and no earlier question is remembered.
    var isIdle: Bool { !isWanted && entries.isEmpty }

    /// The time of the next question; `nil` if there is none.
    var deadline: BootTime? {
        guard isWanted else { return nil }
        return entries.values.map(\.next).min().map { next in pauseEnd.map { max($0, next) } ?? next }
    }

    /// - Parameters:
    ///   - failed: The neighbours that have not answered. Those that were among them before keep their times, also
    ///     while no one waits: whoever begins and ends to wait again and again, as any user may, causes no further
    ///     questions.
    ///   - routers: Those of them that are asked first.
    ///   - isWanted: Whether somebody waits for a path.
    mutating func update(
        _ failed: Set<Neighbour.Key>, routers: Set<Neighbour.Key> = [], isWanted: Bool = true, at now: BootTime
    ) {
        entries = entries.filter { failed.contains($0.key) }
        if isWanted, !self.isWanted {
            // No one has waited for a while: as for the first time.
            for (key, entry) in entries where entry.next + Self.longest <= now { entries[key]?.wait = Self.shortest }
        }
        self.isWanted = isWanted
        for key in failed where isWanted || entries[key] != nil {
            entries[key, default: Entry(next: now)].isRouter = routers.contains(key)
        }
        if entries.isEmpty { pauseEnd = nil }
    }

    /// The neighbours that are to be asked now.
    mutating func due(at now: BootTime) -> [Neighbour.Key] {
        guard isWanted else { return [] }
        if let pauseEnd, now < pauseEnd { return [] }
        var due = entries.filter { $0.value.next <= now }.map { (key: $0.key, entry: $0.value) }
        pauseEnd = due.count >= Self.mostAtOnce ? now + Self.pause : nil
        if due.count > Self.mostAtOnce {
            due.sort { one, other in
                one.entry.isRouter == other.entry.isRouter
                    ? one.entry.next < other.entry.next : one.entry.isRouter
            }
        }
        let asked = due.prefix(Self.mostAtOnce)
        for (key, entry) in asked {
            entries[key]?.next = now + entry.wait
            entries[key]?.wait = min(entry.wait * 2, Self.longest)
        }
        return asked.map(\.key)
    }
}

/// Asks the failed neighbours of paths again, for those who wait for a path.
///
/// The kernel keeps a neighbour's entry as failed until something is sent to it, in small tables forever. Whoever sends
/// only by paths that work would wait for a router that is back long since. A datagram to the discard port makes the
/// kernel ask; it leaves only if the neighbour answers. Confined to the loop.
final class NeighbourInquiry {
    private let loop: EventLoop
    private var schedule = InquirySchedule()
    private var names: [InterfaceIndex: String] = [:]
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in ask() }

    private static let discardPort: UInt16 = 9

    init(on loop: EventLoop) { self.loop = loop }

    /// Whether no one waits, and no earlier question is remembered: then ``update(_:routers:isWanted:)`` need not be
    /// called.
    var isIdle: Bool { schedule.isIdle }

    /// - Parameters:
    ///   - failed: The neighbours that have not answered, with the names of their interfaces.
    ///   - routers: Those of them that are asked first.
    ///   - isWanted: Whether somebody waits for a path.
    func update(_ failed: [Neighbour.Key: String], routers: Set<Neighbour.Key>, isWanted: Bool) {
        names = failed.reduce(into: [:]) { $0[$1.key.interface] = $1.value }
        schedule.update(Set(failed.keys), routers: routers, isWanted: isWanted, at: SystemClock.boot)
        timer.set(to: schedule.deadline)
    }

    private func ask() {
        for key in schedule.due(at: SystemClock.boot) { names[key.interface].map { Self.ask(key, by: $0) } }
        timer.set(to: schedule.deadline)
    }

    /// Has the kernel ask a neighbour, unless it has answered a short while ago. Nothing is done about an error: the
    /// next question comes soon.
    static func ask(_ key: Neighbour.Key, by name: String) {
        let scope = key.address.isLinkLocal ? UInt32(bitPattern: key.interface) : 0
        let address = SocketAddress(address: key.address, port: discardPort, scope: scope)
        let socket = reach_datagram_socket(address.family)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let bytes = Array(name.utf8)
        // Without it the datagram might leave by another interface.
        guard setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, bytes, socklen_t(bytes.count)) == 0 else { return }
        _ = address.withPointer {
            sendto(socket, "", 0, CInt(MSG_NOSIGNAL), $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
    }
}
