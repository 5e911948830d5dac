import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop

/// What the fleet consists of and what happens in it.
struct SimulationOptions: Sendable {
    var servers = ["nats://127.0.0.1:4222"]
    /// The key of the connections that hosts share, and the folder with the keys of hosts that have their own.
    var keyFile: String?
    var keys: String?
    /// A command that controls the engine: `stop`, `start`, `kill-leader`, `revoke`, `restore`, `figures`.
    var control: String?
    var hosts = 1000
    var connections = 24
    /// For how long hosts lose their paths, at first.
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
    /// Hosts with a key of their own, which the engine refuses from the outage on until the end of the absence.
    var revoked = 0
    /// How long the engine is away, by the hosts' clocks, and how many events happen to each host meanwhile.
    var absence: Duration = .zero
    var absenceEvents = 20
    /// All hosts lose their paths, this many events happen to each, and all come back at once.
    var returnEvents = 0
    /// The leader of the events' stream is killed while hosts send and an operator reads.
    var killsLeader = false
    var seed: UInt64 = 1
    /// Goes on until a signal comes, and compares nothing.
    var isEndless = false

    static let provider = "coast-cable"
    /// How long hosts have no path before all come back.
    static let returnAbsence: Duration = .seconds(3600)
    /// By how much the hosts' clocks are moved in all.
    var moved: Duration { (absence > .zero ? absence : .zero) + (returnEvents > 0 ? Self.returnAbsence : .zero) }
}

typealias Script = [(time: BootTime, host: Int, step: ScriptStep)]

/// The hosts, and what the script does to them.
struct Simulation {
    private let options: SimulationOptions
    private var numbers: SplitMix64

    init(_ options: SimulationOptions) {
        self.options = options
        numbers = SplitMix64(seed: options.seed)
    }

    /// The hosts that the provider takes with it: they come first.
    var affected: Range<Int> { 0..<min(options.outage, options.hosts) }

    /// The hosts with keys of their own: they come last.
    var keyed: Range<Int> { max(options.hosts - options.revoked, 0)..<options.hosts }

    mutating func hosts() -> [SimulatedHost] { (0..<options.hosts).map { host($0) } }

    private mutating func host(_ index: Int) -> SimulatedHost {
        let isAffected = affected.contains(index)
        let labels = [
            "site": "store-\(index / 25 + 1)", "isp": isAffected ? SimulationOptions.provider : "north-telecom",
        ]
        // From the future and from the past, by days.
        let isWrong = index % max(options.hosts / max(options.wrongClocks, 1), 1) == 1
        let offset: Duration = isWrong ? .seconds(86_400 * (index % 4 == 1 ? 400 : -400)) : .zero
        return SimulatedHost(
            id: "sim\(index)", labels: labels, lease: options.lease, clockOffset: offset,
            hasKey: keyed.contains(index), seed: numbers.next() >> 1)
    }

    // MARK: - Scripts

    /// The provider's outage, hosts that lose their paths for a moment, and machines that are there twice.
    mutating func outage(from begin: BootTime) -> Script {
        var steps: Script = []
        for index in 0..<options.hosts {
            if affected.contains(index) {
                let down = begin + options.outageStart + random(upTo: .seconds(5))
                steps.append((down, index, .cut(true)))
            } else if Int.random(in: 0..<100, using: &numbers) < options.churn {
                let down = begin + random(upTo: options.time)
                steps.append((down, index, .change(.notReachable)))
                steps.append((down + random(upTo: .seconds(8)), index, .change(.reachable)))
            }
        }
        // Where the provider takes all, there is none.
        let plain = affected.upperBound..<max(affected.upperBound, keyed.lowerBound)
        for index in plain.prefix(options.clones) {
            let seed = numbers.next() >> 1
            let time = begin + random(upTo: options.outageStart)
            // What the machine says afterwards, the copy has not.
            steps.append((time, index, .clone(seed: seed)))
            steps.append((time + .seconds(1), index, .change(.notReachable)))
            steps.append((time + .seconds(3), index, .change(.reachable)))
        }
        return steps
    }

    /// The provider is back.
    func outageEnd(at time: BootTime) -> Script { affected.map { (time, $0, .cut(false)) } }

    /// Events of all hosts over a time.
    mutating func events(_ count: Int, from begin: BootTime, over time: Duration) -> Script {
        var steps: Script = []
        for index in 0..<options.hosts {
            for number in 0..<count {
                // In order, so that each line differs from the one before.
                let moment = begin + time * (Double(number) + 0.8 * unit()) / Double(max(count, 1))
                steps.append((moment, index, .change(number % 2 == 0 ? .notReachable : .reachable)))
            }
            if count % 2 == 1 { steps.append((begin + time, index, .change(.reachable))) }
        }
        return steps
    }

    /// All hosts lose their paths or get them back.
    func cutAll(_ isCut: Bool, at time: BootTime) -> Script {
        (0..<options.hosts).map { (time, $0, .cut(isCut)) }
    }

    private mutating func unit() -> Double { Double.random(in: 0..<1, using: &numbers) }

    private mutating func random(upTo limit: Duration) -> Duration {
        .nanoseconds(Int64.random(in: 0..<max(limit.nanoseconds, 1), using: &numbers))
    }
}
