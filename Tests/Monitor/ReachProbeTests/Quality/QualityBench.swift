import ReachCore
import ReachKernel
import ReachProbe
import ReachRecords
import ReachTesting

/// A clock that the test advances, and a line that loses and delays echo requests as the test says.
struct QualityBench {
    var machine = QualityMachine()
    private(set) var now = BootTime(nanoseconds: 1_000_000_000_000)
    private let start = BootTime(nanoseconds: 1_000_000_000_000)
    var route = DefaultRoute.sample()
    var witnesses = [IPAddress(ipv4: 0xc633_6450), IPAddress(ipv4: 0xc633_6451)]
    /// The share of the line's packets that come to nothing.
    var loss = 0.0
    /// The share that a witness leaves unanswered besides.
    var limits: [IPAddress: Double] = [:]
    /// Whether this machine refuses to send.
    var cannotSend = false
    var roundTrip = Duration.milliseconds(20)
    /// What programs send and receive in a second.
    var bytesPerSecond: UInt64 = 0
    /// The share of segments that TCP repeats.
    var repeated = 0.0
    private var bytes: UInt64 = 0
    private var sent: UInt32 = 0
    private var again: UInt32 = 0
    private(set) var echoes: [(at: Double, to: IPAddress)] = []
    private(set) var periods: [QualityPeriod] = []
    private(set) var doubts: [Double] = []
    /// Each word, and when it was first said.
    private(set) var words: [(word: LineQuality.Word?, at: Double)] = []
    private var generator: SeededGenerator
    private var due: [(ticket: UInt64, at: BootTime, trip: Duration)] = []

    init(seed: UInt64 = 1) { generator = SeededGenerator(seed: seed) }

    var seconds: Double { Double((now - start).nanoseconds) / 1e9 }
    var quality: LineQuality? { machine.qualities[route.name] }

    mutating func update() { machine.update([QualityPath(route, witnesses: witnesses)], at: now) }

    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = ([machine.deadline].compactMap(\.self) + due.map(\.at)).min(), next <= end {
            let step = next - now
            bytes += bytesPerSecond * UInt64(max(0, step.nanoseconds)) / 1_000_000_000
            let segments = UInt32(bytesPerSecond / 1400) * UInt32(max(0, step.nanoseconds) / 1_000_000) / 1000
            sent += segments
            again += UInt32((Double(segments) * repeated).rounded())
            now = next
            for answer in due.filter({ $0.at <= now }) {
                machine.answered(answer.ticket, by: route.key.interface, after: answer.trip)
            }
            due.removeAll { $0.at <= now }
            carryOut(machine.timeReached(at: now))
            if words.last?.word != quality?.word || words.isEmpty { words.append((quality?.word, seconds)) }
        }
        now = end
    }

    private mutating func carryOut(_ commands: [QualityCommand]) {
        for command in commands {
            switch command {
            case .readBytes(let route): carryOut(machine.counted(bytes, by: route.key.interface))
            case .echo(_, let witness, let ticket):
                if cannotSend {
                    machine.notSent(ticket, by: route.key.interface)
                    continue
                }
                echoes.append((seconds, witness))
                let isLost = Double.random(in: 0..<1, using: &generator) < loss
                let isLimited = Double.random(in: 0..<1, using: &generator) < limits[witness] ?? 0
                if !isLost, !isLimited { due.append((ticket, now + roundTrip, roundTrip)) }
            case .countSegments(let route):
                let socket = SegmentCount.Socket(
                    remote: TrafficQuestion.Remote(address: witnesses[0], port: 443), localPort: 40_000)
                machine.counted([SegmentCount(socket, sent: sent, repeated: again)], by: route.key.interface)
            case .doubt: doubts.append(seconds)
            case .record(let period): periods.append(period)
            }
        }
    }
}
