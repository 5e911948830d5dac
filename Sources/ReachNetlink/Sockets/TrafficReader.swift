internal import ReachCore
internal import Synchronization
package import ReachLoop

/// Looks at this machine's sockets on a thread of its own, one look at a time; the thread ends when there is none.
package final class TrafficReader: Sendable {
    private typealias Request = (question: TrafficQuestion, reply: @Sendable (TrafficAnswer, Duration) -> Void)

    private struct State {
        var waiting: [Request] = []
        var isWorking = false
        var closedSockets: ClosedSockets?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether sockets that were closed since the last look count too. That holds a queue in the kernel, so it is for
    /// times in which looks follow each other.
    package func setCountsClosed(_ counts: Bool) {
        state.withLock { state in
            guard counts != (state.closedSockets != nil) else { return }
            state.closedSockets = counts ? try? ClosedSockets() : nil
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
        let closed = state.withLock { $0.closedSockets }?.closed(within: question.window) ?? []
        return closed.contains(where: question.isAnswered) ? .moving : TrafficLook.answer(question)
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
