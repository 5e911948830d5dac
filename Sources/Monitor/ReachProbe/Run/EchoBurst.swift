internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// The echo requests of one attempt to one address, after its first one: evenly spread, so that neither a short gap of
/// the line nor a limit of the other side looks like loss.
final class EchoBurst {
    private struct Echo {
        let message: EchoMessage
        let sent: BootTime
        var trip: Duration?
    }

    let way: TransferWay
    private let socket: ProbeSocket
    private let count: Int
    private let loop: EventLoop
    private var echoes: [Echo]
    private var timer: TimerQueue.ID?
    /// Called when nothing more is expected. It releases the burst.
    private let completion: () -> Void

    /// What is still outstanding when the last request is sent has this long, or twice the slowest answer.
    private static let leastPatience = Duration.seconds(1)

    /// - Parameters:
    ///   - first: The request that has been sent, and when.
    ///   - count: The number of requests, with the first one.
    init(
        _ first: EchoMessage, sent: BootTime, by way: TransferWay, on socket: ProbeSocket, count: Int,
        _ loop: EventLoop,
        completion: @escaping () -> Void
    ) {
        echoes = [Echo(message: first, sent: sent)]
        self.way = way
        self.socket = socket
        self.count = count
        self.loop = loop
        self.completion = completion
        scheduleNext()
    }

    deinit { stopTimer() }

    var isAnswered: Bool { echoes.contains { $0.trip != nil } }

    var figures: ProbeBurst { ProbeBurst(sent: echoes.count, answers: echoes.compactMap(\.trip)) }

    func handle(_ datagram: [UInt8]) {
        // The socket receives no replies but its own; a reply that comes twice counts once.
        let now = SystemClock.boot
        guard
            let place = echoes.firstIndex(where: {
                $0.trip == nil && $0.message.isAnswered(by: datagram, way.address.family)
            })
        else { return }
        echoes[place].trip = now - echoes[place].sent
        guard echoes.count == count else { return }
        if echoes.allSatisfy({ $0.trip != nil }) {
            completion()
        } else if timer == nil {
            waitForLast()
        }
    }

    private func scheduleNext() {
        guard echoes.count < count else {
            if isAnswered { waitForLast() }
            return
        }
        // Late timers do not make the burst longer.
        let next = echoes[0].sent + ProbeSpecification.burstSpacing * echoes.count
        timer = loop.schedule(at: next) { [weak self] in
            self?.timer = nil
            self?.sendNext()
        }
    }

    private func sendNext() {
        let message = EchoMessage.unguessable(echoes[0].message.sequence &+ UInt16(echoes.count))
        echoes.append(Echo(message: message, sent: SystemClock.boot))
        // An error here is that of an earlier packet, or a full queue of this machine, which loses it as well.
        try? socket.send(message.request(way.address.family))
        scheduleNext()
    }

    /// Without any answer the attempt's own time limit ends it.
    private func waitForLast() {
        let slowest = echoes.compactMap(\.trip).max() ?? .zero
        timer = loop.schedule(at: SystemClock.boot + max(Self.leastPatience, slowest * 2)) { [weak self] in
            self?.timer = nil
            self?.completion()
        }
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

/// An ICMP echo request (RFC 792, RFC 4443) as a ping socket sends it. The kernel fills in the identifier and the
/// checksum, and strips the IP header from the reply.
struct EchoMessage: Hashable {
    let sequence: UInt16
    let payload: [UInt8]

    /// Payload size in bytes: that of ping(8), so that networks treat these packets as they treat ping's.
    static let payloadCount = 56

    /// A request whose reply nobody can make without having seen it.
    static func unguessable(_ sequence: UInt16) -> EchoMessage {
        EchoMessage(sequence: sequence, payload: (0..<payloadCount).map { _ in UInt8.random(in: .min ... .max) })
    }

    func request(_ family: IPAddress.Family) -> [UInt8] {
        let type: UInt8 = family == .ipv4 ? 8 : 128
        return [type, 0, 0, 0, 0, 0, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)] + payload
    }

    /// Whether a datagram is the reply to this request, and not to an earlier one of the same socket.
    func isAnswered(by bytes: [UInt8], _ family: IPAddress.Family) -> Bool {
        Self.sequence(ofReply: bytes, family) == sequence && bytes[8...].elementsEqual(payload)
    }

    /// The number of the request that a datagram replies to; `nil` if it is no echo reply.
    static func sequence(ofReply bytes: [UInt8], _ family: IPAddress.Family) -> UInt16? {
        let type: UInt8 = family == .ipv4 ? 0 : 129
        guard bytes.count >= 8, bytes[0] == type, bytes[1] == 0 else { return nil }
        return UInt16(bytes[6]) << 8 | UInt16(bytes[7])
    }
}
