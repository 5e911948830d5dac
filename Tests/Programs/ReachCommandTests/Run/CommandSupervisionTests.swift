import ReachCore
import Testing

@testable import reach

/// What `reach run --while` decides, without processes. Times are seconds after the start.
@Suite struct CommandSupervisionTests {
    private typealias Action = CommandSupervision.Action

    private enum Event {
        case holds, lost, time
        case ended(CInt)
        case interrupted(CInt)
    }

    private static let start = BootTime(nanoseconds: 1_000_000_000_000)

    /// A hold of 2 seconds, a grace of 10.
    private func actions(
        _ reaction: CommandSupervision.Reaction, timeout: Duration? = nil, _ events: [(second: Int, Event)]
    ) -> [Action?] {
        var supervision = CommandSupervision(
            reaction: reaction, hold: .seconds(2), grace: .seconds(10), timeout: timeout, now: Self.start)
        return events.map { second, event in
            let now = Self.start + .seconds(second)
            return switch event {
            case .holds: supervision.conditionChanged(holds: true, at: now)
            case .lost: supervision.conditionChanged(holds: false, at: now)
            case .time: supervision.timePassed(at: now)
            case .ended(let status): supervision.commandEnded(status: status, at: now)
            case .interrupted(let signal): supervision.interrupted(by: signal, at: now)
            }
        }
    }

    @Test(arguments: CommandSupervision.Reaction.allCases)
    func `a flap within the hold changes nothing, and the command's status is its own`(
        reaction: CommandSupervision.Reaction
    ) {
        let found = actions(reaction, [(0, .lost), (1, .holds), (5, .lost), (6, .holds), (8, .time), (9, .ended(7))])
        #expect(found == [nil, .start, nil, nil, nil, .finish(.command(7))])
    }

    @Test func `a loss that lasts pauses, and the condition's return continues`() {
        let found = actions(
            .pause, [(0, .holds), (5, .lost), (6, .time), (7, .time), (60, .holds), (61, .lost), (63, .time)])
        #expect(found == [.start, nil, nil, .pause, .resume, nil, .pause])
    }

    @Test func `a pause beyond the timeout ends the command, and gives up`() {
        let found = actions(
            .pause, timeout: .seconds(30),
            [(0, .holds), (5, .lost), (7, .time), (36, .time), (37, .time), (47, .time), (48, .ended(137))])
        #expect(found == [.start, nil, .pause, nil, .terminate, .kill, .finish(.givenUp)])
    }

    @Test func `stop ends the command for good, also when the condition comes back meanwhile`() {
        let found = actions(.stop, [(0, .holds), (1, .lost), (3, .time), (4, .holds), (5, .ended(0))])
        #expect(found == [.start, nil, .terminate, nil, .finish(.givenUp)])
    }

    @Test func `restart waits for the condition, or starts at once where it is back`() {
        let found = actions(
            .restart,
            [
                (0, .holds), (1, .lost), (3, .time), (4, .ended(143)), (9, .holds), (10, .lost), (12, .time),
                (13, .holds),
                (14, .ended(143)), (15, .ended(3)),
            ])
        #expect(found == [.start, nil, .terminate, nil, .start, nil, .terminate, nil, .start, .finish(.command(3))])
    }

    @Test func `only before the first start is a timeout a timeout`() {
        #expect(actions(.pause, timeout: .seconds(5), [(0, .lost), (5, .time)]) == [nil, .finish(.timedOut)])
        let later = actions(
            .restart, timeout: .seconds(5), [(0, .holds), (1, .lost), (3, .time), (4, .ended(143)), (9, .time)])
        #expect(later == [.start, nil, .terminate, nil, .finish(.givenUp)])
    }

    @Test func `an interrupt ends the wait, and lets a paused command take it`() {
        #expect(actions(.pause, [(0, .lost), (1, .interrupted(2))]) == [nil, .finish(.signal(2))])
        let paused = actions(
            .pause, [(0, .holds), (1, .lost), (3, .time), (4, .interrupted(2)), (14, .time), (15, .ended(137))])
        #expect(paused == [.start, nil, .pause, .resume, .kill, .finish(.command(137))])
        let ending = actions(.restart, [(0, .holds), (1, .lost), (3, .time), (4, .interrupted(15)), (5, .ended(143))])
        #expect(ending == [.start, nil, .terminate, nil, .finish(.command(143))])
    }
}
