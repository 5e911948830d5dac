internal import ReachCore
internal import Synchronization
package import ReachLoop

/// Looks at this machine's sockets on a thread of its own, one look at a time; the thread ends when there is none.
package final class TrafficReader: Sendable {
    private typealias Request = (question: TrafficQuestion, reply: @Sendable (TrafficAnswer, Duration) -> Void)

    private struct State {
        var waiting: [Request] = []
        var isWorking = false
        var countsClosed = false
        var closedSockets: ClosedSockets?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether sockets that were closed since the last look count too. That holds a queue in the kernel, from the first
    /// look on, so it is for times in which looks follow each other.
    package func setCountsClosed(_ counts: Bool) {
        state.withLock { state in
            state.countsClosed = counts
            if !counts { state.closedSockets = nil }
        }
    }

    /// Answers a question, then runs `completion` on the loop behind `mailbox`, with how long the look took.
    package func ask(
        _ question: TrafficQuestion, replyTo mailbox: Mailbox,
        completion: @escaping @Sendable (TrafficAnswer, Duration) -> Void
    ) {
        let startsThread = state.withLock { state in
            state.waiting.append((question, { answer, time in mailbox.post { _ in completion(answer, time) } }))
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if startsThread { BackgroundThread.start(named: "reach-sockets") { self.work() } }
    }

    /// Asks the kernel and waits for it. To be called on one thread at a time.
    package func answer(_ question: TrafficQuestion) -> TrafficAnswer {
        let closed = closedSockets()?.closed(within: question.window) ?? []
        return closed.contains(where: question.isAnswered) ? .moving : SocketSurvey.answer(question)
    }

    /// Opened here, since the kernel may have to load a module for it.
    private func closedSockets() -> ClosedSockets? {
        let (counts, held) = state.withLock { ($0.countsClosed, $0.closedSockets) }
        guard counts, held == nil, let opened = try? ClosedSockets() else { return held }
        state.withLock { if $0.countsClosed { $0.closedSockets = opened } }
        return opened
    }

    private func work() {
        while let request = next() {
            let start = SystemClock.boot
            let answer = answer(request.question)
            request.reply(answer, SystemClock.boot - start)
        }
    }

    private func next() -> Request? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
