internal import ReachCore
internal import ReachLoop
package import ReachQueue

/// What clients do with the queue: they add, command and read. What needs no answer of the store is asked of
/// ``QueueDriver/scheduler``.
extension QueueDriver {
    /// Completes a request and queues it.
    ///
    /// - Parameters:
    ///   - isChecked: Whether the request was checked against the queue's limits, but for its body.
    ///   - reply: Called once, on the loop, when the request is safe or refused.
    /// - Throws: ``RequestValidationError``; then `reply` is not called.
    package func add(
        _ request: QueuedRequest, isChecked: Bool = false, makeKey: () -> String,
        reply: @escaping (QueueReply) -> Void
    ) throws(RequestValidationError) {
        let specification = request.specification
        if isChecked {
            try specification.checkBody(policy.limits)
        } else {
            try specification.check(policy.limits)
        }
        var complete = request
        if !specification.isComplete { complete.specification = specification.completed(makeKey: makeKey) }
        ask({ .add(complete, $0) }, reply)
    }

    /// Gives a client's command its ticket.
    package func ask(
        _ command: (QueueInput.Ticket) -> QueueInput, _ reply: @escaping (QueueReply) -> Void
    ) {
        send(command(clients.add(reply)))
    }

    /// What a request waits for.
    package func explain(_ id: RequestID) -> QueueExplanation? { scheduler.explain(id, at: SystemClock.now) }

    /// Its owner has read its answer to the end. Nothing waits for this to be written.
    package func markRead(_ id: RequestID) {
        store?.submit(StoreTransaction(number: 0, changes: [.markRead(id)], mayBeRefused: true))
    }

    /// The receiver of the outbox has the rows up to this one safe.
    package func trimOutbox(upTo number: Int64) { store?.trimOutbox(upTo: number) }

    /// Reads all that is kept of a request but its body. Answers later, on the loop; `nil` if nothing is kept, and an
    /// error if that is not known.
    ///
    /// - Parameter user: Who wants to know: users take turns.
    package func record(
        of id: RequestID, for user: UInt32 = 0, _ reply: @escaping (Result<RequestReport?, QueueStoreError>) -> Void
    ) {
        read({ $0.record(of: id, for: user, $1) }, upTo: { (_: Result<RequestReport?, QueueStoreError>) in id }, reply)
            ?? reply(.failure(.notOpen))
    }

    /// Reads what is kept of several requests. Answers later, on the loop.
    ///
    /// - Parameter user: Who wants to know: users take turns.
    package func records(
        _ query: RecordQuery, for user: UInt32 = 0,
        _ reply: @escaping (Result<[RequestReport], QueueStoreError>) -> Void
    ) {
        read({ $0.records(query, for: user, $1) }, upTo: { try? $0.get().last?.id }, reply)
            ?? reply(.failure(.notOpen))
    }

    /// Answers once the scheduler has the requests that are read, since it knows what they wait for.
    ///
    /// - Parameter last: The last one of them.
    /// - Returns: `nil` where there is no store to ask.
    private func read<Value: Sendable>(
        _ question: (any QueueStorage, @escaping @Sendable (Value) -> Void) -> Void,
        upTo last: @escaping (Value) -> RequestID?, _ reply: @escaping (Value) -> Void
    ) -> Void? {
        guard let store else { return nil }
        question(
            store,
            readers.expect { [unowned self] (value: Value) in
                whenRestored(upTo: last(value)?.rawValue ?? .min) { reply(value) }
            })
        return ()
    }
}
