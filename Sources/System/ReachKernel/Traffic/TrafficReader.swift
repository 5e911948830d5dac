internal import ReachCore
internal import Synchronization
package import ReachLoop

/// Answers questions about this machine's sockets, one at a time, on a thread that ends when none is left.
package final class TrafficReader: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isWorking = false
        var countsClosed = false
        var closedSockets: ClosedSockets?
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets whether sockets that were closed recently count as well. From the next question on, that keeps a queue in
    /// the kernel, so switch it on only while questions follow each other.
    package func setCountsClosed(_ counts: Bool) {
        state.withLock { state in
            state.countsClosed = counts
            if !counts { state.closedSockets = nil }
        }
    }

    /// Answers a question, then runs `completion` on the loop behind `mailbox`, with the processor time that the answer
    /// took: looks are made rarer by what they cost, and not because the kernel loads a module or the machine is busy.
    package func ask(
        _ question: TrafficQuestion, replyTo mailbox: Mailbox,
        completion: @escaping @Sendable (TrafficAnswer, Duration) -> Void
    ) {
        enqueue { [self] in
            let start = SystemClock.threadTime
            let answer = answer(question)
            let time = SystemClock.threadTime - start
            mailbox.post { _ in completion(answer, time) }
        }
    }

    /// Answers a question about silence, then runs `completion` on the loop behind `mailbox`, with the processor time
    /// that the answer took.
    package func ask(
        _ question: SilenceQuestion, replyTo mailbox: Mailbox,
        completion: @escaping @Sendable (SilenceAnswer, Duration) -> Void
    ) {
        enqueue {
            let start = SystemClock.threadTime
            let answer = SocketSurvey.answer(question)
            let time = SystemClock.threadTime - start
            mailbox.post { _ in completion(answer, time) }
        }
    }

    /// Counts the segments that sockets have sent, then runs `completion` on the loop behind `mailbox`; with `nil` if
    /// the kernel does not say.
    package func countSegments(
        of sockets: PathSockets, replyTo mailbox: Mailbox, completion: @escaping @Sendable ([SegmentCount]?) -> Void
    ) {
        enqueue {
            let counts = SocketSurvey.segments(of: sockets)
            mailbox.post { _ in completion(counts) }
        }
    }

    private func enqueue(_ work: @escaping @Sendable () -> Void) {
        let startsThread = state.withLock { state in
            state.waiting.append(work)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if startsThread { BackgroundThread.start(named: "reach-sockets") { self.work() } }
    }

    /// Asks the kernel and waits for the answer. Call it on one thread at a time.
    package func answer(_ question: TrafficQuestion) -> TrafficAnswer {
        let closed = closedSockets()?.closed(within: question.window) ?? []
        return closed.contains(where: question.isAnswered) ? .moving : SocketSurvey.answer(question)
    }

    /// Asks the kernel about silence and waits for the answer.
    package func answer(_ question: SilenceQuestion) -> SilenceAnswer { SocketSurvey.answer(question) }

    /// The closed sockets, if they count. Opened only here, since the kernel may have to load a module first.
    private func closedSockets() -> ClosedSockets? {
        let (counts, existing) = state.withLock { ($0.countsClosed, $0.closedSockets) }
        guard counts, existing == nil, let opened = try? ClosedSockets() else { return existing }
        state.withLock { if $0.countsClosed { $0.closedSockets = opened } }
        return opened
    }

    private func work() {
        while let request = next() { request() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
