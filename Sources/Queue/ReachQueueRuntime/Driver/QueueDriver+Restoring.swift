internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The time in which many requests of an earlier run are restored: clients get answers already, and nothing is sent.
extension QueueDriver {
    /// Calls `work` once the requests of an earlier run with numbers up to this one are restored: at once, or later on
    /// the loop.
    package func whenRestored(upTo id: Int64, _ work: @escaping () -> Void) {
        if id <= restoredID { work() } else { restoreWaiters.append((id, work)) }
    }

    func setRestored(upTo id: Int64) {
        restoredID = id
        let ready = restoreWaiters.filter { $0.id <= id }
        restoreWaiters.removeAll { $0.id <= id }
        for waiter in ready { waiter.work() }
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
        isOpen = false
        let waiting = Set(early.compactMap(\.ticket))
        for (ticket, reply) in clients.all where !waiting.contains(ticket) {
            clients[ticket] = nil
            reply(.refused(.storage))
        }
        setRestored(upTo: .max)
        restoredID = .min
        do throws(SystemError) {
            try openStore()
        } catch {
            fail(.system(error))
        }
    }

    func beWhole(_ rows: RowsSetAside) {
        if rows.count > 0 { notify(.setAside(rows)) }
        restoredID = .max
        sendEarly()
        setRestored(upTo: .max)
    }
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
