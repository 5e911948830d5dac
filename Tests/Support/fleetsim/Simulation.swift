import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop

/// What the fleet consists of and what happens in it.
struct SimulationOptions: Sendable {
    var server = "nats://127.0.0.1:4222"
    /// The simulator's key, with the rights of all hosts.
    var keyFile: String?
    var hosts = 1000
    var connections = 24
    var time: Duration = .seconds(60)
    var lease: Duration = .seconds(5)
    /// How many hosts of one provider go away within 5 s, when, and for how long.
    var outage = 300
    var outageStart: Duration = .seconds(15)
    var outageTime: Duration = .seconds(25)
    /// Of a hundred hosts, how many lose their path for some seconds in the time.
    var churn = 20
    var clones = 5
    var wrongClocks = 20
    var seed: UInt64 = 1
    /// Goes on until a signal comes, and compares nothing.
    var isEndless = false

    static let provider = "coast-cable"
}

/// The hosts, and what the script does to them.
struct Simulation {
    private let options: SimulationOptions
    private var numbers: SplitMix64
    private let begin = SystemClock.boot

    init(_ options: SimulationOptions) {
        self.options = options
        numbers = SplitMix64(seed: options.seed)
    }

    /// The hosts that the provider takes with it: they come first.
    var affected: Range<Int> { 0..<min(options.outage, options.hosts) }

    mutating func hosts() -> [SimulatedHost] {
        var hosts = (0..<options.hosts).map { host($0, isClone: false) }
        // Copies of the last hosts, with the same identity.
        for index in 0..<min(options.clones, options.hosts) {
            hosts.append(host(options.hosts - 1 - index, isClone: true))
        }
        return hosts
    }

    private mutating func host(_ index: Int, isClone: Bool) -> SimulatedHost {
        let isAffected = affected.contains(index)
        let labels = [
            "site": "store-\(index / 25 + 1)", "isp": isAffected ? SimulationOptions.provider : "north-telecom",
        ]
        // From the future and from the past, by days.
        let isWrong = !isClone && index % max(options.hosts / max(options.wrongClocks, 1), 1) == 1
        let offset: Duration = isWrong ? .seconds(86_400 * (index % 2 == 0 ? 400 : -400)) : .zero
        return SimulatedHost(
            id: "sim\(index)", labels: labels, lease: options.lease, clockOffset: offset, isClone: isClone,
            seed: numbers.next() >> 1)
    }

    /// What happens to each host.
    mutating func script(_ hosts: [SimulatedHost]) -> [(time: BootTime, host: Int, step: ScriptStep)] {
        var steps: [(time: BootTime, host: Int, step: ScriptStep)] = []
        for index in hosts.indices where !hosts[index].isClone {
            if affected.contains(index), index < options.hosts {
                let down = begin + options.outageStart + random(upTo: .seconds(5))
                steps.append((down, index, .cut(true)))
                if !options.isEndless { steps.append((down + options.outageTime, index, .cut(false))) }
            } else {
                guard Int.random(in: 0..<100, using: &numbers) < options.churn else { continue }
                let down = begin + random(upTo: options.time)
                steps.append((down, index, .change(.notReachable)))
                steps.append((down + random(upTo: .seconds(8)), index, .change(.reachable)))
            }
        }
        return steps
    }

    private mutating func random(upTo limit: Duration) -> Duration {
        .nanoseconds(Int64.random(in: 0..<max(limit.nanoseconds, 1), using: &numbers))
    }
}
