import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// The table of a request's life, row by row, and against the scheduler.
@Suite struct RequestTransitionTests {
    /// One line for each state; a letter for each event in the order of their declaration: d derived, R running, D
    /// done, x dead, L lingering, H held, W waiting, C cancelled, s stays, f forgotten, . refused.
    private static let written = """
        stored not-stored admitted lease-refused accepted failed-network failed-destination failed-uncounted \
        failed-permanent path-lost path-returned linger-ended held released wait-over woken epoch-moved condition-met \
        condition-lost expired predecessor-died cancelled retried restarted
        new        d f . . . . . . . . . . s s . s s s s s x C . .
        held       . . . . . . . . . . . . H d s s s s s x x C . .
        waiting    . . . . . . . . . . . . H s s s s d s x x C . .
        backoff    . . . . . . . . . . . . H s d d s s W x x C . .
        ready      . . R . . . . . . . . . H s s s s s W x x C . .
        running    . . . d D d d d x L . . H s . s s s s x . C . d
        lingering  . . . . D d d d x s R d H s . s s s s x . C . .
        done       . . . . . . . . . . . . . . . . . . . . . s . .
        dead       . . . . . . . . . . . . . . . . . . . . . s d .
        cancelled  . . . . . . . . . . . . . . . . . . . . . s . .
        """

    private func letter(_ outcome: RequestTransition.Outcome) -> String {
        switch outcome {
        case .derived: "d"
        case .dies: "x"
        case .stays: "s"
        case .forgotten: "f"
        case .refused: "."
        case .becomes(let state):
            [.running: "R", .done: "D", .lingering: "L", .held: "H", .waiting: "W", .cancelled: "C"][state] ?? "?"
        }
    }

    @Test func `every event in every state has the outcome that is written`() {
        let lines = Self.written.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines[0] == RequestTransition.Trigger.allCases.map(\.rawValue))
        #expect(lines.dropFirst().map { $0[0] } == QueuedRequestState.allCases.map(\.rawValue))
        for (state, line) in zip(QueuedRequestState.allCases, lines.dropFirst()) {
            for (event, expected) in zip(RequestTransition.Trigger.allCases, line.dropFirst()) {
                let outcome = RequestTransition.outcome(of: event, in: state)
                #expect(letter(outcome) == expected, "\(event) in \(state)")
            }
        }
    }

    @Test(arguments: QueuedRequestState.allCases, RequestTransition.Trigger.allCases)
    func `what depends on the request depends on it only where that is written`(
        state: QueuedRequestState, event: RequestTransition.Trigger
    ) {
        func outcome(_ facts: RequestTransition.Facts) -> String {
            letter(RequestTransition.outcome(of: event, in: state, facts))
        }
        let usual = outcome(.init())
        let network = outcome(.init(isNetworkFailure: true))
        #expect(network == (state == .backoff && event == .epochMoved ? "d" : usual))
        let endings: Set<RequestTransition.Trigger> = [
            .failedByNetwork, .failedByDestination, .failedUncounted, .lingerEnded, .restarted,
        ]
        let ends = endings.contains(event) && usual == "d"
        let isHold = event == .held && state.isRunning
        #expect(outcome(.init(isRepeatable: false)) == (ends ? "x" : isHold ? "s" : usual))
        let expires = ends && event != .restarted
        #expect(outcome(.init(isExpired: true)) == (expires ? "x" : isHold ? "s" : usual))
    }

    /// A request in each state, as clients can bring one there.
    private static func stage(_ state: QueuedRequestState) throws -> (QueueStage, RequestID) {
        var stage = QueueStage()
        stage.network([.wired])
        switch state {
        case .new:
            stage.commits = false
            _ = stage.ask { .add(try! QueuedRequest(RequestSpecification(url: "https://a.example/")), $0) }
            return (stage, RequestID(rawValue: 1))
        case .waiting:
            let id = try stage.add(when: "wifi")
            return (stage, id)
        default: break
        }
        let id = try stage.add()
        switch state {
        case .held: stage.ask { .hold(id, .root, $0) }
        case .backoff: stage.answer(id, 503)
        case .lingering: stage.network([])
        case .done: stage.answer(id)
        case .dead: stage.answer(id, 404)
        case .cancelled: stage.ask { .cancel(id, .root, $0) }
        default: break
        }
        stage.aborted = []
        return (stage, id)
    }

    @Test(arguments: QueuedRequestState.allCases.filter { $0 != .ready })
    func `the scheduler takes everything in every state`(state: QueuedRequestState) throws {
        let (staged, id) = try Self.stage(state)
        let destination = try Destination(url: "https://a.example/")
        let commands: [(QueueInput.Ticket) -> QueueInput] = [
            { .hold(id, .root, $0) }, { .release(id, .root, $0) }, { .cancel(id, .root, $0) },
            { .retry(id, .root, $0) }, { .forget(id, .root, $0) },
            { .retryAll(nil, .root, $0) }, { .holdQueue(.root, $0) }, { .releaseQueue(.root, $0) },
            { .setFleetHold(true, reason: nil, $0) }, { .setFleetHold(false, reason: nil, $0) },
            { _ in .paths(PathSet([], epoch: 9)) }, { _ in .paths(PathSet([.wifi], epoch: 10)) },
            { _ in .targetPath(destination, .wifi) }, { _ in .pathChecked(interfaceIndex: 2, works: false) },
            { _ in .committed(1) }, { _ in .committed(99) }, { _ in .notCommitted(1) }, { _ in .degraded(true) },
            { _ in .requestSent(id) }, { _ in .ended(id, .failed(AttemptFault(.transient))) },
            { _ in .ended(id, .answered(RequestResult(status: 200), isAccepted: true)) },
            { _ in .ended(id, .answered(RequestResult(status: 500), isAccepted: false)) }, { _ in .wake },
            { _ in .restore([], breakers: [], heldQueues: []) },
        ]
        for first in commands {
            for second in commands {
                var stage = staged
                stage.ask(first)
                stage.pass(.seconds(3))
                stage.ask(second)
                stage.pass(.seconds(100))
                let ends = stage.kinds(of: id).filter { [.done, .cancelled].contains($0) }
                #expect(ends.count <= 1)
            }
        }
    }

    @Test(arguments: QueuedRequestState.allCases.filter { $0 != .ready })
    func `cancelling twice is one cancelling`(state: QueuedRequestState) throws {
        var (stage, id) = try Self.stage(state)
        let first = stage.ask { .cancel(id, .root, $0) }
        let second = stage.ask { .cancel(id, .root, $0) }
        if state == .new {
            stage.commits = true
            stage.send(.committed(stage.uncommitted[0]))
        }
        stage.pass(.seconds(1000))
        let isOver: Bool = [.done, .dead, .cancelled].contains(state)
        #expect(first == (isOver ? .alreadyOver : .done))
        #expect(second == (state == .new ? .done : .alreadyOver))
        let ends = stage.kinds(of: id).filter { [.done, .dead, .cancelled].contains($0) }
        #expect(ends == [state == .done ? .done : state == .dead ? .dead : .cancelled])
        #expect(stage.aborted == (state.isRunning ? [id] : []))
        #expect(stage.queue.runningCount == 0)
    }
}
