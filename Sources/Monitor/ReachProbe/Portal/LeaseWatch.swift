package import ReachCore
package import ReachLoop

/// Reads the leases of the interfaces with default routes, on a thread of its own: when their addresses or gateways
/// change, and when it is asked to. Confined to the loop's thread, except for the reading.
package final class LeaseWatch<Answer: Sendable & ExpressibleByNilLiteral> {
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
    /// The links with no final answer yet, and when each is read once more, counted from the first question about it:
    /// what happens to other links does not postpone it.
    private var rereads: [InterfaceIndex: BootTime] = [:]
    private lazy var later = DeadlineTimer(on: loop) { [unowned self] in end() }
    /// How long the last reading may take. A directory may be on a file system that does not answer.
    private let patience: Duration

    /// - Parameters:
    ///   - root: The directory that contains `run` and `var`; not `/` only in tests.
    ///   - delay: How long after a change to read once more, since a client may give the link its address before it
    ///     stores the lease; `nil` where that does no harm.
    ///   - patience: How long that reading may take before the answer is `nil`.
    ///   - question: What to find out about a lease; called on the other thread.
    ///   - onLease: Called on the loop with the answer for an interface, and whether nothing is read again until
    ///     something changes.
    package init(
        loop: EventLoop, root: String, again delay: Duration? = nil, patience: Duration = .seconds(1),
        question: @escaping @Sendable (LeaseReader, LeaseQuestion) -> Answer,
        onLease: @escaping (LeaseQuestion, Answer, _ isFinal: Bool) -> Void
    ) {
        self.loop = loop
        self.question = question
        self.delay = delay
        self.patience = patience
        self.onLease = onLease
        reader = LeaseReader(root: root)
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    package func update(_ routes: [DefaultRoute]) {
        let latest = Dictionary(
            LeaseQuestion.questions(for: routes).map { ($0.interface, $0) }
        ) { first, _ in first }
        guard latest != questions else { return }
        let new = latest.filter { questions[$0.key] != $0.value }.keys
        questions = latest
        rereads = rereads.filter { latest[$0.key] != nil }
        guard !new.isEmpty else { return }
        read()
        guard let delay else { return }
        let again = SystemClock.boot + delay
        for interface in new { rereads[interface] = again }
        loop.schedule(at: again) { [weak self] in self?.read() }
        scheduleEnd()
    }

    /// Sets the timer for the link whose answer is due first.
    private func scheduleEnd() {
        later.set(to: rereads.values.min().map { $0 + patience })
    }

    /// Answers for the links whose last reading has not ended.
    private func end() {
        let now = SystemClock.boot
        for (interface, time) in rereads where time + patience <= now {
            rereads[interface] = nil
            if let question = questions[interface] { onLease(question, nil, true) }
        }
        scheduleEnd()
    }

    /// Reads all leases again.
    func read() {
        guard !questions.isEmpty else { return }
        guard !isReading else {
            isOutdated = true
            return
        }
        isReading = true
        let started = SystemClock.boot
        let (reader, asked, mailbox, reference) = (reader, Array(questions.values), loop.mailbox, loopReference)
        BackgroundThread.start(named: "reach-leases") { [question] in
            let answers = asked.map { ($0, question(reader, $0)) }
            mailbox.post { _ in reference.owner?.receive(answers, readAt: started) }
        }
    }

    private func receive(_ answers: [(LeaseQuestion, Answer)], readAt started: BootTime) {
        isReading = false
        for (question, answer) in answers where questions[question.interface] == question {
            let isFinal = rereads[question.interface].map { $0 <= started } ?? true
            if isFinal { rereads[question.interface] = nil }
            onLease(question, answer, isFinal)
        }
        guard isOutdated else { return }
        isOutdated = false
        read()
    }
}
