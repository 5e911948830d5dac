internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// Many small echo requests to one host, spread evenly: what share of them is lost, and how long an answer takes.
final class LineSampler: DiagnosisAttempt {
    private let host: HostAddress
    private let loop: EventLoop
    private let completion: (LineSample) -> Void
    private var socket: ProbeSocket?
    private var timer: TimerQueue.ID?
    private var sent: [BootTime] = []
    private var trips: [UInt16: Duration] = [:]
    private var isOver = false

    /// Enough that a loss of five percent is seen nearly always, and few enough for any line: 10 kB each way.
    private static let count = 120
    private static let interval = Duration.milliseconds(13)
    private static let leastPatience = Duration.milliseconds(400)
    /// For the first answer, on a line that is very slow.
    private static let mostPatience = Duration.milliseconds(2200)
    private static let payload = [UInt8](repeating: 0x72, count: EchoMessage.payloadCount)

    init(_ host: HostAddress, _ loop: EventLoop, _ completion: @escaping (LineSample) -> Void) {
        self.host = host
        self.loop = loop
        self.completion = completion
        do throws(SystemError) {
            let socket = try ProbeSocket(loop, host.family, binding: nil)
            self.socket = socket
            try socket.connect(to: host.socketAddress(0))
            try socket.watch(for: .readable) { [weak self] _ in self?.receive() }
            loop.afterEvents { [weak self] in self?.send() }
        } catch {
            loop.afterEvents { [weak self] in self?.end() }
        }
    }

    deinit { timer.map(loop.cancel) }

    private func send() {
        guard !isOver else { return }
        timer = nil
        let message = EchoMessage(sequence: UInt16(sent.count), payload: Self.payload)
        sent.append(SystemClock.boot)
        // An error here is that of an earlier packet, or a full queue of this machine, which loses it as well.
        try? socket?.send(message.request(host.family))
        if sent.count < Self.count {
            // Late timers do not make the sample longer.
            let next = (sent.first ?? SystemClock.boot) + Self.interval * sent.count
            timer = loop.schedule(at: next) { [weak self] in self?.send() }
        } else {
            waitForLast()
        }
    }

    private func waitForLast() {
        let slowest = trips.values.max()
        let patience = slowest.map { max(Self.leastPatience, $0 * 2) } ?? Self.mostPatience
        timer = loop.schedule(at: SystemClock.boot + min(patience, Self.mostPatience)) { [weak self] in self?.end() }
    }

    private func receive() {
        // An error that does not end must not occupy the loop.
        for _ in 0..<2 * Self.count {
            do throws(SystemError) {
                guard let bytes = try socket?.receive(256) else { break }
                note(bytes)
            } catch {
                // What an ICMP error reports is a lost packet.
                continue
            }
        }
        if trips.count == Self.count { end() }
    }

    private func note(_ bytes: [UInt8]) {
        guard let sequence = EchoMessage.sequence(ofReply: bytes, host.family), Int(sequence) < sent.count,
            trips[sequence] == nil
        else { return }
        trips[sequence] = SystemClock.boot - sent[Int(sequence)]
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        socket = nil
        let times = QualityPeriod.Trips(Array(trips.values))
        completion(
            LineSample(sent: sent.count, answered: trips.count, roundTrip: times?.median, jitter: times?.jitter))
    }
}
