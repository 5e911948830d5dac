import ReachCore
import Testing

@testable import ReachQueue

/// What a user can find out of another's requests: nothing.
struct SchedulerSecrecyTests {
    @Test func `only the owner and root learn that a request was there and is over`() throws {
        var stage = QueueStage()
        stage.network([.wired])
        let id = try stage.add(by: 1000)
        stage.answer(id)
        let commands: [(QueueInput.Client) -> (QueueInput.Ticket) -> QueueInput] = [
            { client in { .cancel(id, client, $0) } }, { client in { .hold(id, client, $0) } },
            { client in { .release(id, client, $0) } }, { client in { .retry(id, client, $0) } },
        ]
        for command in commands {
            #expect(stage.ask(command(QueueInput.Client(user: 1000))) == .alreadyOver)
            #expect(stage.ask(command(.root)) == .alreadyOver)
            #expect(stage.ask(command(QueueInput.Client(user: 1001))) == .notFound)
        }
    }
}
