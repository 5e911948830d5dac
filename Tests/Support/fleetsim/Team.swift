import Glibc
import ReachCore
import ReachFleet
import Synchronization

/// What the script does to a host.
enum ScriptStep: Sendable {
    case cut(Bool)
    /// A change of the path that the connection to the engine survives.
    case change(ReachabilityStatus)
    /// The machine is there a second time from now on.
    case clone(seed: UInt64)
}

/// How the hosts of a worker are.
struct Tally: Sendable {
    var hosts = 0
    var settled = 0
    var refused = 0
    var conflict = 0
    var cut = 0
    /// Events that the engine lacks.
    var behind: UInt64 = 0

    static func + (left: Tally, right: Tally) -> Tally {
        Tally(
            hosts: left.hosts + right.hosts, settled: left.settled + right.settled,
            refused: left.refused + right.refused, conflict: left.conflict + right.conflict,
            cut: left.cut + right.cut, behind: left.behind + right.behind)
    }

    /// Whether nothing is under way: everyone has said all, or cannot.
    var isQuiet: Bool { hosts == settled + refused + conflict + cut }
}

/// What the director and the workers know of each other.
final class Team: Sendable {
    private struct State {
        var running: Int
        var isOver = false
        var isFast = false
        var rounds: [UInt64]
        var tallies: [Tally?]
        var steps: [[(time: BootTime, host: Int, step: ScriptStep)]]
        var hosts: [SimulatedHost] = []
    }

    private let state: Mutex<State>
    let count: Int

    init(_ count: Int) {
        self.count = count
        state = Mutex(
            State(
                running: count, rounds: Array(repeating: 0, count: count),
                tallies: Array(repeating: nil, count: count), steps: Array(repeating: [], count: count)))
    }

    // MARK: - For workers

    var isOver: Bool { state.withLock { $0.isOver } }
    /// Whether the director waits for the workers to move the clock.
    var isFast: Bool { state.withLock { $0.isFast } }

    /// Ends a round of a worker, and hands it what the script adds.
    func endRound(_ worker: Int, _ tally: Tally?) -> [(time: BootTime, host: Int, step: ScriptStep)] {
        state.withLock {
            $0.rounds[worker] += 1
            if let tally { $0.tallies[worker] = tally }
            let steps = $0.steps[worker]
            $0.steps[worker] = []
            return steps
        }
    }

    func add(_ hosts: [SimulatedHost]) {
        state.withLock {
            $0.running -= 1
            $0.hosts += hosts
        }
    }

    // MARK: - For the director

    /// - Parameter steps: What happens to each host, by its number.
    func post(_ steps: [(time: BootTime, host: Int, step: ScriptStep)]) {
        state.withLock { state in
            for step in steps { state.steps[step.host % count].append((step.time, step.host / count, step.step)) }
            // What was counted before says nothing about them.
            state.tallies = Array(repeating: nil, count: count)
        }
    }

    /// How all hosts are; `nil` until each worker has said so after the last ``post(_:)``.
    var tally: Tally? {
        state.withLock { state in
            let known = state.tallies.compactMap(\.self)
            return known.count == count ? known.reduce(Tally(), +) : nil
        }
    }

    func forgetTallies() { state.withLock { $0.tallies = Array(repeating: nil, count: count) } }

    func setFast(_ isFast: Bool) { state.withLock { $0.isFast = isFast } }

    /// Waits until each worker has done all that is due.
    func waitForRound() {
        let begin = state.withLock { $0.rounds }
        // The first round may have begun before.
        while state.withLock({ zip($0.rounds, begin).contains { $0 < $1 + 2 } }) { usleep(50) }
    }

    /// Ends the workers.
    func end() -> [SimulatedHost] {
        state.withLock { $0.isOver = true }
        while state.withLock({ $0.running > 0 }) { usleep(20_000) }
        return state.withLock { $0.hosts }
    }
}
