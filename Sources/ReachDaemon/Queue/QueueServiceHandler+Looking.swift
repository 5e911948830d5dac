package import ReachControl
internal import ReachCore
internal import ReachLoop
package import ReachQueue
internal import ReachQueueRuntime

/// What clients want to know of requests and of their answers.
extension QueueServiceHandler {
    package func list(_ filter: QueueFilter, for caller: Caller, reply: @escaping Reply<QueuePage>) {
        attempt(reply) { engine throws(QueueServiceError) in
            guard filter.limit > 0 else { throw .invalid(field: "limit", reason: "at least one is listed") }
            let limit = min(filter.limit, Self.longestPage)
            collect(filter, limit, client(caller), caller, [], after: filter.after, from: engine, reply)
        }
    }

    /// Reads portions until a page is full or all are read.
    private func collect(
        _ filter: QueueFilter, _ limit: Int, _ client: QueueInput.Client, _ caller: Caller, _ found: [RequestReport],
        after: Int64, from engine: QueueEngine, _ reply: @escaping Reply<QueuePage>
    ) {
        var query = RecordQuery(
            owner: client == .root ? nil : caller.user, after: after, limit: Self.portion, isOver: filter.isOver)
        if filter.states.isEmpty { query.limit = min(Self.portion, limit - found.count + 1) }
        let asked = query.limit
        engine.driver.records(query, for: caller.user) { [weak self] records in
            guard let self else { return }
            var found = found
            for record in records {
                let item = item(record, engine)
                guard filter.states.isEmpty || filter.states.contains(item.state) else { continue }
                guard found.count < limit else { return finish(found, hasMore: true, client, engine, reply) }
                found.append(item)
            }
            guard records.count == asked, let last = records.last else {
                return finish(found, hasMore: false, client, engine, reply)
            }
            collect(filter, limit, client, caller, found, after: last.id.rawValue, from: engine, reply)
        }
    }

    private func finish(
        _ items: [RequestReport], hasMore: Bool, _ client: QueueInput.Client, _ engine: QueueEngine,
        _ reply: Reply<QueuePage>
    ) {
        let count = engine.driver.count(of: client)
        reply(.success(QueuePage(items: items, next: hasMore ? items.last?.id.rawValue : nil, count: count)))
    }

    /// Adds what only the scheduler and the attempts know of a request that is not over.
    private func item(_ stored: RequestReport, _ engine: QueueEngine, isWhole: Bool = false) -> RequestReport {
        guard stored.end == nil else { return stored }
        var report = stored
        if let explanation = engine.driver.explain(report.id) { report.add(explanation, isWhole: isWhole) }
        report.running = engine.progress(of: report.id)
        return report
    }

    package func show(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>) {
        find(id, for: caller, reply) { [weak self] report, engine in
            if let self { reply(.success(item(report, engine))) }
        }
    }

    package func explain(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>) {
        find(id, for: caller, reply) { [weak self] report, engine in
            if let self { reply(.success(item(report, engine, isWhole: true))) }
        }
    }

    /// Reads a request of the caller's.
    private func find<Value>(
        _ id: Int64, for caller: Caller, _ reply: @escaping Reply<Value>,
        _ body: @escaping (RequestReport, QueueEngine) -> Void
    ) {
        attempt(reply) { engine throws(QueueServiceError) in
            let client = client(caller)
            engine.driver.record(of: RequestID(rawValue: id), for: caller.user) { record in
                guard let record, client.mayTouch(record.request.owner) else { return reply(.failure(.notFound(id))) }
                body(record, engine)
            }
        }
    }

    package func result(
        _ id: Int64, from offset: Int64, upTo count: Int, for caller: Caller, reply: @escaping Reply<QueueAnswer>
    ) {
        guard offset >= 0 else {
            return controller.loop.afterEvents {
                reply(.failure(.invalid(field: "offset", reason: "\(offset) is before the beginning")))
            }
        }
        let count = min(max(count, 0), QueueAnswer.longest)
        let isOwner = { (record: RequestReport) in record.request.owner == caller.user }
        find(id, for: caller, reply) { record, engine in
            guard let result = record.result, let end = record.end else {
                return reply(.failure(.noAnswer(id)))
            }
            let answer = { (bytes: [UInt8]) in
                if isOwner(record), offset + Int64(bytes.count) >= result.body.count {
                    engine.driver.markRead(record.id)
                }
                return QueueAnswer(
                    id: id, state: end == .done ? .done : .dead, status: result.status,
                    headers: result.headers, bodyBytes: result.body.count,
                    offset: offset, bytes: bytes)
            }
            switch result.body {
            case .none: reply(.success(answer([])))
            case .inline(let bytes):
                reply(.success(answer(Array(bytes.dropFirst(Int(min(offset, Int64(bytes.count)))).prefix(count)))))
            case .spooled(let name, _), .file(let name, _):
                guard let spool = engine.spool else { return reply(.failure(.noAnswer(id))) }
                spool.read(name, from: offset, count) { bytes in
                    reply(bytes.map(answer).mapError { _ in .noAnswer(id) })
                }
            }
        }
    }
}

extension QueueFilter {
    /// Whether all that is wanted is over, or none of it.
    fileprivate var isOver: Bool? {
        let over = Set(QueuedRequestState.allCases.filter(\.isTerminal))
        if states.isEmpty { return nil }
        if states.isSubset(of: over) { return true }
        return states.isDisjoint(with: over) ? false : nil
    }
}
