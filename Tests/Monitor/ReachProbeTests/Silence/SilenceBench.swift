import ReachCore
@testable import ReachKernel
@testable import ReachProbe

/// A clock that the test advances, and TCP senders on a path that loses some or all exchanges.
///
/// Each sender wants to send a segment every 150 to 300 ms. While one is not acknowledged it sends nothing else, and
/// repeats it after 220 ms, doubled each time, up to two minutes (RFC 6298, with Linux' least timeout). Nothing else is
/// received by the path, which is the hardest case.
struct SilenceBench {
    struct Sender {
        var host: UInt32
        var user: UInt32 = 1000
        /// Whether nothing ever answers, although the path works.
        var isDead = false
        fileprivate var nextSend: BootTime
        fileprivate var isWaiting = false
        fileprivate var repetitions = 0
        fileprivate var received: BootTime?
    }

    var machine = SilenceMachine()
    private(set) var now = BootTime(nanoseconds: 1_000_000_000_000)
    let start = BootTime(nanoseconds: 1_000_000_000_000)
    var route: DefaultRoute
    var senders: [Sender] = []
    /// The chance that a packet and its answer both arrive.
    var success = 1.0
    /// Whether the endpoints' servers answer, where the path does.
    var hasServers = true
    /// How many connections of a test this machine can begin.
    var mostHandshakes = 26
    /// Whether programs receive something while a test is made.
    var isAnsweredLate = false
    /// Whether the kernel shows sockets.
    var showsSockets = true
    private(set) var closed: [(at: Double, evidence: SilenceEvidence)] = []
    private(set) var tests: [Double] = []
    private(set) var calls: [Double] = []
    private(set) var checks: [Double] = []
    private(set) var readings: [Double] = []
    private(set) var givenUp = 0
    private var counters = TCPCounters(timeouts: 0, dataSegments: 0)
    private var isSilent = false
    private var running: (ticket: SilenceCommand.Ticket, end: BootTime, result: SilenceTestResult)?
    private var draw: () -> Double

    init(_ senders: Int = 0, neighbour: NeighbourState? = .reachable, draw: @escaping () -> Double = { 0.5 }) {
        self.draw = draw
        route = .sample(neighbour: neighbour)
        for number in 0..<senders { add(Sender(host: UInt32(number), nextSend: now + .milliseconds(37 * number))) }
    }

    mutating func add(host: UInt32, user: UInt32 = 1000, isDead: Bool = false) {
        add(Sender(host: host, user: user, isDead: isDead, nextSend: now))
    }

    private mutating func add(_ sender: Sender) { senders.append(sender) }

    var seconds: Double { Double((now - start).nanoseconds) / 1e9 }

    /// The server that answered the last check.
    static let server = TrafficQuestion.Remote(address: IPAddress(ipv4: 0xc633_6450), port: 443)

    mutating func update() {
        let path = SilencePath(route, isSilent ? .silent : .working, servers: [Self.server], allowed: now)
        carryOut(machine.update([path], at: now))
    }

    /// The checks found that the path works again.
    mutating func reopen() {
        isSilent = false
        update()
    }

    /// Advances the clock in steps of 25 ms.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while now < end {
            now = now + .milliseconds(25)
            for place in senders.indices { senders[place] = advanced(senders[place]) }
            if let running, now >= running.end {
                self.running = nil
                carryOut(machine.tested(running.ticket, running.result, at: now))
            }
            while let deadline = machine.deadline, deadline <= now { carryOut(machine.timeReached(at: now)) }
        }
    }

    private mutating func advanced(_ old: Sender) -> Sender {
        var sender = old
        guard now >= sender.nextSend else { return sender }
        if sender.isWaiting {
            sender.repetitions += 1
            counters.timeouts += 1
        } else {
            counters.dataSegments += 1
        }
        if !sender.isDead, draw() < success {
            (sender.isWaiting, sender.repetitions, sender.received) = (false, 0, now)
            sender.nextSend = now + .milliseconds(150 + Int64(draw() * 150))
        } else {
            sender.isWaiting = true
            sender.nextSend = now + timeout(sender)
        }
        return sender
    }

    /// A program receives something at the end of a test.
    private mutating func hearLate() {
        for place in senders.indices { senders[place].received = now + .milliseconds(-100) }
    }

    private func timeout(_ sender: Sender) -> Duration {
        .milliseconds(min(220 << min(sender.repetitions, 20), 120_000))
    }

    private var sample: SilenceSample {
        var sample = SilenceSample()
        for sender in senders {
            if let received = sender.received { sample.noteReception(now - received) }
            guard sender.isWaiting, sender.repetitions > 0 else { continue }
            sample.add(
                StalledSocket(
                    remote: IPAddress(ipv4: 0xc633_6400 + sender.host), user: sender.user,
                    repetitions: sender.repetitions, doublings: sender.repetitions, timeout: timeout(sender),
                    untilNext: sender.nextSend - now, roundTrip: .milliseconds(20)))
        }
        return sample
    }

    /// The connections of a test: one every 45 ms, each repeated after a second.
    private func handshakes(_ most: Int, within time: Duration) -> (end: BootTime, result: SilenceTestResult) {
        for number in 0..<most {
            let begin = Duration.milliseconds(45) * number
            guard begin + .milliseconds(300) < time || number == 0 else {
                return (now + time, SilenceTestResult(isAnswered: false, handshakes: min(number, mostHandshakes)))
            }
            for sent in [begin, begin + .seconds(1)] where sent + .milliseconds(20) < time {
                // A repetition is made only if the first one is lost, and a later connection may be answered before it.
                if hasServers, draw() < success {
                    return (now + sent + .milliseconds(20), SilenceTestResult(isAnswered: true, handshakes: number + 1))
                }
            }
        }
        return (now + time, SilenceTestResult(isAnswered: false, handshakes: min(most, mostHandshakes)))
    }

    private mutating func carryOut(_ commands: [SilenceCommand]) {
        for command in commands {
            switch command {
            case .readCounters:
                readings.append(seconds)
                carryOut(machine.counted(counters, at: now))
            case .survey(_, let hearing, let ticket):
                if isAnsweredLate, running == nil, !tests.isEmpty { hearLate() }
                let sample = sample
                let isHeard = sample.sinceReceived.map { $0 < hearing } ?? false
                let answer = !showsSockets ? SilenceAnswer.notAsked : isHeard ? .heard : .sample(sample)
                carryOut(machine.surveyed(ticket, answer, after: .milliseconds(2), at: now))
            case .test(_, _, let most, let time, let ticket):
                if most == 1 { calls.append(seconds) } else { tests.append(seconds) }
                let (end, result) = handshakes(most, within: time)
                running = (ticket, end, result)
            case .cancel: running = nil
            case .close(_, let evidence):
                closed.append((seconds, evidence))
                isSilent = true
                update()
            case .check: checks.append(seconds)
            case .giveUp: givenUp += 1
            }
        }
    }
}

extension StalledSocket {
    /// A socket that has sent something 200, 600, 1400 and 3000 ms after the first time, as often as `repetitions`
    /// says.
    static func sample(to host: UInt32, user: UInt32 = 1000, repetitions: Int, sinceLast: Int = 300) -> StalledSocket {
        let timeout = 200 << repetitions
        return StalledSocket(
            remote: IPAddress(ipv4: 0xc633_6400 + host), user: user, repetitions: repetitions, doublings: repetitions,
            timeout: .milliseconds(timeout), untilNext: .milliseconds(timeout - sinceLast),
            roundTrip: .milliseconds(20))
    }
}
