internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Who answers ARP or neighbour discovery for an address. Two owners of one address each get a part of what is meant
/// for the other. It takes CAP_NET_RAW; without it no owner is known.
final class OwnersAttempt: DiagnosisAttempt {
    private let bytes: [UInt8]
    /// Who asks, by IPv6.
    private var source: [UInt8]?
    private let index: InterfaceIndex
    private let loop: EventLoop
    private let completion: ([HardwareAddress]) -> Void
    private var socket: CInt
    private var isWatched = false
    private var timers: [TimerQueue.ID] = []
    private var owners: Set<HardwareAddress> = []

    /// A second question, since one may be lost.
    private static let repetition = Duration.milliseconds(200)
    /// Anybody on the link can send answers.
    private static let ownerLimit = 8
    private static let packetsAtOnce = 64
    private static let patience = Duration.milliseconds(500)

    init(_ hop: FirstHop, _ loop: EventLoop, _ completion: @escaping ([HardwareAddress]) -> Void) {
        bytes = hop.address.bytes
        index = hop.interfaceIndex
        self.loop = loop
        self.completion = completion
        socket =
            hop.address.family == .ipv4
            ? reach_arp_socket(CInt(hop.interfaceIndex)) : reach_discovery_socket(CInt(hop.interfaceIndex))
        if hop.address.family == .ipv6 {
            var source = [UInt8](repeating: 0, count: 16)
            if reach_link_local_source(CInt(hop.interfaceIndex), &source) == 0 { self.source = source }
        }
        do throws(SystemError) {
            guard socket >= 0, ask() else { throw SystemError(call: "socket", number: EPERM) }
            try loop.watch(socket, for: .readable) { [weak self] _ in self?.receive() }
            isWatched = true
            timers = [
                loop.schedule(at: SystemClock.boot + Self.repetition) { [weak self] in _ = self?.ask() },
                loop.schedule(at: SystemClock.boot + Self.patience) { [weak self] in self?.end() },
            ]
        } catch {
            loop.afterEvents { [weak self] in self?.end() }
        }
    }

    deinit {
        timers.forEach(loop.cancel)
        if isWatched { loop.unwatch(socket) }
        if socket >= 0 { close(socket) }
    }

    private func ask() -> Bool {
        guard bytes.count == 16 else { return reach_arp_ask(socket, CInt(index), bytes) == 0 }
        guard let source else { return false }
        return reach_discovery_ask(socket, CInt(index), source, bytes) == 0
    }

    private func answer(_ owner: inout [UInt8]) -> CInt {
        bytes.count == 16
            ? reach_discovery_answer(socket, bytes, &owner) : reach_arp_answer(socket, bytes, &owner)
    }

    private func receive() {
        var owner = [UInt8](repeating: 0, count: 6)
        for _ in 0..<Self.packetsAtOnce {
            let result = answer(&owner)
            guard result >= 0 else { return }
            guard result == 1, owners.count < Self.ownerLimit else { continue }
            if let address = HardwareAddress(owner) { owners.insert(address) }
        }
    }

    private func end() { completion(owners.sorted { $0.number < $1.number }) }
}
