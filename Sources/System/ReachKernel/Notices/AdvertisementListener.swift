internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Listens to the advertisements of routers, which carry more than the kernel passes on. It sends nothing: a router's
/// domain is known after its next advertisement. Confined to the loop.
final class AdvertisementListener {
    private let loop: EventLoop
    private let socket: CInt
    private let handler: (DomainAnnouncement) -> Void
    private var pause: TimerQueue.ID?
    /// When the present second began, and how many advertisements were read in it.
    private var second = (start: SystemClock.boot, count: 0)

    /// Advertisements read in a second. Whoever sends more is a fault or an attack: the rest waits for the next second,
    /// and what the buffer does not hold is lost.
    private static let mostInSecond = 16
    /// The largest packet of Ethernet with jumbo frames.
    private static let bufferBytes = 9216

    /// - Throws: The reason why there is no socket; without CAP_NET_RAW it is EPERM.
    init(on loop: EventLoop, _ handler: @escaping (DomainAnnouncement) -> Void) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        socket = reach_advertisement_socket()
        guard socket >= 0 else { throw SystemError(call: "socket", number: -socket) }
        try loop.watch(socket, for: .readable) { [unowned self] _ in read() }
    }

    deinit {
        pause.map(loop.cancel)
        guard socket >= 0 else { return }
        loop.unwatch(socket)
        close(socket)
    }

    private func read() {
        let now = SystemClock.boot
        if now >= second.start + .seconds(1) { second = (now, 0) }
        while second.count < Self.mostInSecond {
            guard readOne() else { return }
            second.count += 1
        }
        try? loop.change(socket, to: [])
        pause = loop.schedule(at: second.start + .seconds(1)) { [unowned self] in
            pause = nil
            try? loop.change(socket, to: .readable)
        }
    }

    /// - Returns: Whether there was one.
    private func readOne() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.bufferBytes, alignment: 8) { buffer in
            var sender = reach_advertisement()
            let count = Int(reach_receive_advertisement(socket, buffer.baseAddress, UInt(buffer.count), &sender))
            guard count >= 0 else { return false }
            let bytes = withUnsafeBytes(of: sender.source) { Array($0) }
            guard sender.interface > 0, let source = IPAddress(bytes: bytes),
                let found = RouterAdvertisement(
                    UnsafeRawBufferPointer(rebasing: buffer[..<count]), hopLimit: sender.hop_limit, from: source)
            else { return true }
            handler(
                DomainAnnouncement(
                    interface: sender.interface, router: source, domain: found.isRouter ? found.domain : nil))
            return true
        }
    }
}
