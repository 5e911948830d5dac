import ReachSession
import ReachTesting
import Testing

@Suite struct RequestLifeTests {
    private typealias Row = (RequestState, RequestLife.Event, RequestState, [RequestLife.Effect])

    /// The table of ``RequestLife``, with `user` for the reason.
    private static let table: [Row] = [
        (.suspended, .resume(.user), .resumed, [.tellResumed]), (.resumed, .admit, .running, [.start]),
        (.resumed, .suspend(.user), .suspended, [.tellSuspended]),
        (.running, .suspend(.user), .suspended, [.stop, .tellSuspended]), (.running, .interrupt, .resumed, []),
        (.running, .finish, .completed, [.complete, .tellCompleted]),
        (.resumed, .fail, .completed, [.complete, .tellCompleted]),
        (.suspended, .fail, .completed, [.complete, .tellCompleted]),
        (.running, .cancel, .cancelled, [.stop, .complete, .tellCompleted]),
        (.resumed, .cancel, .cancelled, [.complete, .tellCompleted]),
        (.suspended, .cancel, .cancelled, [.complete, .tellCompleted]),
    ]

    private static let events: [RequestLife.Event] = [
        .suspend(.user), .resume(.user), .admit, .interrupt, .finish, .fail, .cancel,
    ]

    private func life(in state: RequestState) -> RequestLife {
        var life = RequestLife()
        if state == .suspended { return life }
        _ = life.handle(.resume(.user))
        if state == .resumed { return life }
        _ = life.handle(.admit)
        if state == .completed { _ = life.handle(.finish) }
        if state == .cancelled { _ = life.handle(.cancel) }
        return life
    }

    @Test(arguments: RequestState.allCases, events)
    func `exactly the transitions of the table happen`(state: RequestState, event: RequestLife.Event) {
        var life = life(in: state)
        #expect(life.state == state)
        let effects = life.handle(event)
        let row = Self.table.first { $0.0 == state && $0.1 == event }
        #expect(life.state == row?.2 ?? state)
        #expect(effects == row?.3 ?? [])
    }

    @Test func `a new request is suspended by its user, or resumed if created without reasons`() {
        #expect(RequestLife().state == .suspended && RequestLife().reasons == .user)
        #expect(RequestLife(suspendedFor: []).state == .resumed)
    }

    @Test func `a returning network does not resume what its user suspended, nor vice versa`() {
        var life = RequestLife(suspendedFor: [])
        #expect(life.handle(.suspend(.network)) == [.tellSuspended])
        #expect(life.handle(.suspend(.user)).isEmpty)
        #expect(life.handle(.resume(.network)).isEmpty && life.reasons == .user && life.state == .suspended)
        #expect(life.handle(.suspend(.network)).isEmpty)
        #expect(life.handle(.resume(.user)).isEmpty && life.reasons == .network)
        #expect(life.handle(.resume([.network, .queue])) == [.tellResumed] && life.state == .resumed)
    }

    @Test func `suspending or resuming twice notifies once`() {
        var life = RequestLife()
        #expect(life.handle(.suspend(.user)).isEmpty)
        #expect(life.handle(.resume(.user)) == [.tellResumed])
        #expect(life.handle(.resume(.user)).isEmpty)
        #expect(life.handle(.suspend([])).isEmpty && life.state == .resumed)
    }

    @Test func `in every random life the completion comes once, with no effect after its notification`() {
        var generator = SeededGenerator(seed: 21)
        let events = Self.events + [.suspend(.network), .resume(.network), .suspend(.queue), .resume(.queue)]
        for _ in 0..<2_000 {
            var life = RequestLife()
            var effects: [RequestLife.Effect] = []
            var isSending = false
            for _ in 0..<60 {
                let done = life.handle(generator.pick(events))
                for effect in done {
                    if effect == .start { #expect(!isSending) }
                    if effect == .stop { #expect(isSending) }
                    if effect == .start { isSending = true }
                    if effect == .stop || effect == .complete { isSending = false }
                }
                if life.state == .resumed { isSending = false }
                effects += done
                #expect((life.state == .suspended) == (!life.reasons.isEmpty && !life.state.isFinal))
            }
            let completions = effects.count { $0 == .complete }
            #expect(completions == (life.state.isFinal ? 1 : 0))
            if life.state.isFinal { #expect(effects.suffix(2) == [.complete, .tellCompleted]) }
        }
    }

    @Test func `states have NSURLSessionTask's numbers`() {
        #expect(RequestState.allCases.map(\.sessionTaskState) == [1, 0, 0, 3, 3])
    }

    @Test func `operations have AFURLConnectionOperation's states`() {
        #expect(OperationState.allCases.map(\.rawValue) == [-1, 1, 2, 3])
        #expect(RequestState.allCases.map(\.operationState) == [.paused, .ready, .executing, .finished, .finished])
    }

    @Test func `the notifications have stable names and keys`() {
        let effects: [RequestLife.Effect] = [.start, .stop, .tellResumed, .tellSuspended, .complete, .tellCompleted]
        #expect(effects.map(RequestNotification.init) == [.didStart, nil, .didResume, .didSuspend, nil, .didComplete])
        #expect(
            RequestNotification.allCases.map(\.rawValue) == [
                "io.reach.request.resume", "io.reach.request.suspend", "io.reach.request.start",
                "io.reach.request.resume-offset", "io.reach.request.complete",
            ])
        #expect(
            RequestNotification.Key.allCases.map(\.rawValue) == [
                "com.alamofire.networking.task.complete.serializedresponse",
                "com.alamofire.networking.task.complete.responseserializer",
                "com.alamofire.networking.complete.finish.responsedata",
                "com.alamofire.networking.task.complete.error", "com.alamofire.networking.task.complete.assetpath",
                "com.alamofire.networking.complete.sessiontaskmetrics",
            ])
    }
}
