package import ReachCore
package import ReachLoop

/// Reads the leases of the interfaces with default routes, on a thread of its own: when their addresses or gateways change, and
/// when it is asked to. Confined to the loop's thread, except for the reading.
package final class LeaseWatch<Answer: Sendable> {
    private let loop: EventLoop
    private let reader: LeaseReader
    private let question: @Sendable (LeaseReader, LeaseQuestion) -> Answer
    private let onLease: (LeaseQuestion, Answer, _ isFinal: Bool) -> Void
    private var questions: [InterfaceIndex: LeaseQuestion] = [:]
    private var isReading = false
    private let loopReference = LoopReference<LeaseWatch<Answer>>()
    /// Whether to read again when the present reading has ended.
    private var isOutdated = false
    private let delay: Duration?
    private var later: TimerQueue.ID?

    /// - Parameters:
    ///   - root: The directory that contains `run` and `var`; not `/` only in tests.
    ///   - delay: How long after a change to read once more, since a client may give the link its address before it stores the
    ///     lease; `nil` where that does no harm.
    ///   - question: What to find out about a lease; called on the other thread.
    ///   - onLease: Called on the loop with the answer for an interface, and whether nothing is read again until something changes.
    package init(
        loop: EventLoop, root: String, again delay: Duration? = nil,
        question: @escaping @Sendable (LeaseReader, LeaseQuestion) -> Answer,
        onLease: @escaping (LeaseQuestion, Answer, _ isFinal: Bool) -> Void
    ) {
        self.loop = loop
        self.question = question
        self.delay = delay
        self.onLease = onLease
        reader = LeaseReader(root: root)
        loopReference.owner = self
    }

    deinit {
        loopReference.owner = nil
        if let later { loop.cancel(later) }
    }

    package func update(_ routes: [DefaultRoute]) {
        let fresh = Dictionary(
            LeaseQuestion.questions(for: routes).map { ($0.interface, $0) }
        ) { first, _ in first }
        guard fresh != questions else { return }
        let hasNew = fresh.contains { questions[$0.key] != $0.value }
        questions = fresh
        guard hasNew else { return }
        read()
        guard let delay else { return }
        if let later { loop.cancel(later) }
        later = loop.schedule(at: SystemClock.boot + delay) { [unowned self] in
            later = nil
            read()
        }
    }

    /// Reads all leases again.
    func read() {
        guard !questions.isEmpty else { return }
        guard !isReading else {
            isOutdated = true
            return
        }
        isReading = true
        let (reader, asked, mailbox, reference) = (reader, Array(questions.values), loop.mailbox, loopReference)
        BackgroundThread.start(named: "reach-leases") { [question] in
            let answers = asked.map { ($0, question(reader, $0)) }
            mailbox.post { _ in reference.owner?.receive(answers) }
        }
    }

    private func receive(_ answers: [(LeaseQuestion, Answer)]) {
        isReading = false
        for (question, answer) in answers where questions[question.interface] == question {
            onLease(question, answer, later == nil)
        }
        guard isOutdated else { return }
        isOutdated = false
        read()
    }
}
