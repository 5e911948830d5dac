internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The time in which many requests of an earlier run are restored: clients get answers already, and nothing is sent.
extension QueueDriver {
    /// Calls `work` once the requests of an earlier run with numbers up to this one are restored: at once, or later on
    /// the loop.
    package func whenRestored(upTo id: Int64, _ work: @escaping () -> Void) {
        if !restoring.waits(for: id, work) { work() }
    }

    func setRestored(upTo id: Int64) {
        for work in restoring.setRestored(upTo: id) { work() }
    }

    func fail(_ error: QueueStoreError) {
        for reply in clients.values { reply(.refused(.storage)) }
        clients.removeAll()
        setRestored(upTo: .max)
        notify(.failed(error))
    }

    /// The file that was in use is damaged, and nothing was sent yet: the queue starts empty, in a new file.
    func beginAgain(after path: String) {
        setAside = path
        restoring.isOpen = false
        let waiting = restoring.waitingTickets
        for (ticket, reply) in clients.all where !waiting.contains(ticket) {
            clients[ticket] = nil
            reply(.refused(.storage))
        }
        setRestored(upTo: .max)
        restoring.beginAgain()
        do throws(SystemError) {
            try openStore()
        } catch {
            fail(.system(error))
        }
    }

    func beWhole(_ rows: RowsSetAside) {
        if rows.count > 0 { notify(.setAside(rows)) }
        // What came early is handled before those who wait go on.
        let ready = restoring.setRestored(upTo: .max)
        sendEarly()
        for work in ready { work() }
    }
}

/// How far the requests of an earlier run are restored, and what waits for that.
struct QueueRestoring {
    var isOpen = false
    /// What came before the file was open, or before all of its requests were restored.
    private var early: [QueueInput] = []
    /// The largest number of a request that is restored; `Int64.max` when all are.
    private var restoredID = Int64.min
    private var waiters: [(id: Int64, work: () -> Void)] = []

    /// Keeps an input for later.
    mutating func keep(_ input: QueueInput) { early.append(input) }

    /// Whether an input can be handled now; otherwise it is kept.
    mutating func admits(_ input: QueueInput) -> Bool {
        if isOpen, canHandle(input) { return true }
        keep(input)
        return false
    }

    /// What was kept and can be handled now.
    mutating func nextEarly() -> [QueueInput] {
        let ready = early.filter(canHandle)
        early.removeAll(where: canHandle)
        return ready
    }

    private func canHandle(_ input: QueueInput) -> Bool { restoredID == .max || input.needsNoOtherRequest }

    /// The numbers by which clients wait for what is kept.
    var waitingTickets: Set<QueueInput.Ticket> { Set(early.compactMap(\.ticket)) }

    /// - Returns: Whether `work` waits for the request with this number; `false` if it is restored.
    mutating func waits(for id: Int64, _ work: @escaping () -> Void) -> Bool {
        guard id > restoredID else { return false }
        waiters.append((id, work))
        return true
    }

    /// - Returns: What has waited for that.
    mutating func setRestored(upTo id: Int64) -> [() -> Void] {
        restoredID = id
        let ready = waiters.filter { $0.id <= id }
        waiters.removeAll { $0.id <= id }
        return ready.map(\.work)
    }

    /// Another file is to be opened.
    mutating func beginAgain() { restoredID = .min }
}

extension QueueInput {
    /// Whether it can be handled before all requests of an earlier run are restored: it concerns no other request, and
    /// nothing is sent because of it.
    var needsNoOtherRequest: Bool {
        switch self {
        case .add(let request, _):
            request.specification.terms.orderKey == nil && request.specification.terms.uniqueness == .none
        case .restore, .restoreMetered, .expectRestored, .allRestored, .committed, .notCommitted, .postponed, .degraded,
            .stop, .wake:
            true
        default: false
        }
    }

    /// The number by which a client waits for the answer.
    fileprivate var ticket: Ticket? {
        switch self {
        case .add(_, let ticket), .hold(_, _, let ticket), .release(_, _, let ticket), .cancel(_, _, let ticket),
            .retry(_, _, let ticket), .retryAll(_, _, let ticket), .forget(_, _, let ticket),
            .holdQueue(_, let ticket), .releaseQueue(_, let ticket), .setFleetHold(_, _, let ticket):
            ticket
        default: nil
        }
    }
}
