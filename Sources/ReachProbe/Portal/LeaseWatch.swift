internal import ReachCore
internal import ReachLoop

/// Reads the leases of the interfaces with default routes, on a thread of its own: when their addresses or gateways change, and
/// when it is asked to. Confined to the loop's thread, except for the reading.
final class LeaseWatch {
    private let loop: EventLoop
    private let reader: LeaseReader
    private let onLease: (InterfaceIndex, String?) -> Void
    private var questions: [InterfaceIndex: LeaseQuestion] = [:]
    private var isReading = false
    private let loopReference = LoopReference<LeaseWatch>()
    /// Whether to read again when the present reading has ended.
    private var isOutdated = false

    /// - Parameter onLease: Called on the loop with the URI that the lease of an interface announces.
    init(loop: EventLoop, root: String, onLease: @escaping (InterfaceIndex, String?) -> Void) {
        self.loop = loop
        self.onLease = onLease
        reader = LeaseReader(root: root)
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    func update(_ routes: [DefaultRoute]) {
        let fresh = Dictionary(
            LeaseQuestion.questions(for: routes).map { ($0.interface, $0) }
        ) { first, _ in first }
        guard fresh != questions else { return }
        let hasNew = fresh.contains { questions[$0.key] != $0.value }
        questions = fresh
        if hasNew { read() }
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
        BackgroundThread.start(named: "reach-leases") {
            let answers = asked.map { ($0, reader.portal(of: $0.name, $0.interface, addresses: $0.addresses)) }
            mailbox.post { _ in reference.owner?.receive(answers) }
        }
    }

    private func receive(_ answers: [(LeaseQuestion, String?)]) {
        isReading = false
        for (question, uri) in answers where questions[question.interface] == question {
            onLease(question.interface, uri)
        }
        guard isOutdated else { return }
        isOutdated = false
        read()
    }
}
