import Glibc
import ReachControl
import ReachCore
import ReachDaemon
import ReachLoop
import ReachRecords
import ReachTesting
import Synchronization

/// A store in memory that a test can block, or make fail.
final class MemoryHistoryStore: HistoryStore, @unchecked Sendable {
    /// The calls in order: the words of the appended entries, `rotate`, `touch`, `sync`.
    let done = EventLog<String>()
    private let gate = Mutex(())
    private let failure = Mutex<CInt?>(nil)
    // Only the writer's thread uses these two.
    private(set) var count = 0
    let lastSign: (entry: HistoryEntry?, time: Timestamp?) = (nil, nil)

    /// Runs `body` while every append waits.
    func hang<Result>(during body: () throws -> Result) rethrows -> Result { try gate.withLock { _ in try body() } }

    func fail(with number: CInt?) { failure.withLock { $0 = number } }

    func append(_ lines: [UInt8], count: Int) throws(SystemError) {
        gate.withLock { _ in }
        if let number = failure.withLock({ $0 }) { throw SystemError(call: "write", number: number) }
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard case .entry(let entry) = HistoryLine.decode(line) else { continue }
            done.append(entry.content.word)
        }
        self.count += count
    }

    func rotate() throws(SystemError) {
        done.append("rotate")
        count = 0
    }

    func touch() { done.append("touch") }

    func sync() { done.append("sync") }
}

extension HistoryEntry.Content {
    /// The entry in words, such as `internet reachable`, with a star if it is not a change.
    var word: String {
        switch self {
        case .started: "started"
        case .stopped: "stopped"
        case .unwatched(let target): "\(target) unwatched"
        case .dropped(let count): "dropped \(count)"
        case .evidence(let evidence): "evidence of \(evidence.target)"
        case .quality(let period): "quality of \(period.interface)"
        case .state(let state): "\(state.target) \(state.status.rawValue)\(state.isChange ? "" : "*")"
        }
    }
}

extension ReachabilityChange {
    /// A change of status that happens now.
    static func now(_ status: ReachabilityStatus, of target: Target = .internet) -> ReachabilityChange {
        var state = ReachabilityState(target: target, since: SystemClock.now.wall)
        state.status = status
        var before = state
        before.status = status == .reachable ? .notReachable : .reachable
        return ReachabilityChange(
            at: SystemClock.now, cause: .routeAdded, aspects: [.status], previous: before, state: state)
    }

    /// The same change of another target, whose states share their storage with this one's.
    func of(_ target: Target) -> ReachabilityChange {
        var (before, after) = (previous, state)
        before?.target = target
        after.target = target
        return ReachabilityChange(
            at: Instant(wall: time, boot: bootTime), cause: cause, aspects: aspects, previous: before, state: after)
    }
}
