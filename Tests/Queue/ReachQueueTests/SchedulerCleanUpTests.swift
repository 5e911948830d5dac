import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

/// What is over is forgotten.
@Suite struct SchedulerCleanUpTests {
    private var stage = QueueStage()

    init() { stage.network([.wired]) }

    @Test mutating func `what is done or cancelled leaves no user, destination or timer behind`() throws {
        for user in UInt32(1)...20 {
            let sent = try stage.add("https://host\(user).example/", by: user)
            stage.answer(sent)
            let waiting = try stage.add("https://host\(user).example/", when: "wifi", by: user)
            stage.ask { .cancel(waiting, .root, $0) }
        }
        stage.pass(.seconds(60))
        #expect(stage.starts.count == 20)
        #expect(stage.queue.attempts.users.isEmpty && stage.queue.lines.users.isEmpty)
        #expect(stage.queue.destinations.allSites.isEmpty)
        #expect(stage.pass(.seconds(600)) == 0)
    }

    @Test mutating func `what a request waited for is no reason once it was sent again`() throws {
        let id = try stage.add()
        stage.send(.ended(id, .failed(AttemptFault(.certificateTime, isClockUnset: true))))
        let isOfClock = stage.blockers(id) == ["clock"]
        stage.pass(.seconds(30))
        #expect(isOfClock && stage.startedIDs == [id, id])
        stage.answer(id, 503)
        #expect(stage.blockers(id) == ["backoff"])
    }
}
