package import ReachControl
internal import ReachCore
internal import ReachLoop
package import ReachQueue
internal import ReachQueueRuntime

/// What clients want to know of requests and of their answers.
extension QueueServiceHandler {
    package func list(
        _ filter: QueueFilter, for caller: Caller, inTurn: @escaping (_ part: @escaping () -> Void) -> Void,
        reply: @escaping Reply<QueuePage>
    ) {
        attempt(reply) { engine throws(QueueServiceError) in
            guard filter.limit > 0 else { throw .invalid(field: "limit", reason: "at least one is listed") }
            let page = PageReader(
                filter, for: caller.user, ofAll: client(caller) == .root, from: engine, inTurn: inTurn
            ) { [self] record in item(record, engine) }
            page.read(after: filter.after) { [self] page in
                reply(
                    page.map { items, next in
                        QueuePage(items: items, next: next, count: engine.driver.scheduler.count(of: client(caller)))
                    })
            }
        }
    }

    /// Adds what only the scheduler and the attempts know of a request that is not over.
    private func item(_ stored: RequestReport, _ engine: QueueEngine, isWhole: Bool = false) -> RequestReport {
        guard stored.end == nil else { return stored }
        var report = stored
        if let explanation = engine.driver.explain(report.id) { report.add(explanation, isWhole: isWhole) }
        report.running = engine.progress(of: report.id)
        if report.uploadProtocol != nil { report.uploadedBytes = engine.uploadedBytes(of: report.id) }
        // A reload may have dropped the name that it waits for.
        if report.reasons.contains(where: { $0.blocker == .otherNetwork }) {
            let problem = report.condition.networkProblem(among: networkNames())
            report.reasons = report.reasons.map { $0.naming(networkProblem: problem) }
        }
        return report
    }

    package func show(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>) {
        find(id, for: caller, reply) { [weak self] report, engine in
            if let self { reply(.success(item(report, engine))) }
        }
    }

    package func explain(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>) {
        find(id, for: caller, reply) { [weak self] report, engine in
            guard let self else { return }
            var explained = item(report, engine, isWhole: true)
            explained.reasons = explained.reasons.map { $0.naming(self.rootCause) }
            reply(.success(explained))
        }
    }

    /// Reads a request of the caller's.
    private func find<Value>(
        _ id: Int64, for caller: Caller, _ reply: @escaping Reply<Value>,
        _ body: @escaping (RequestReport, QueueEngine) -> Void
    ) {
        attempt(reply) { engine throws(QueueServiceError) in
            let client = client(caller)
            engine.driver.record(of: RequestID(rawValue: id), for: caller.user) { found in
                if case .failure(let error) = found { return reply(.failure(QueueServiceError(reading: error))) }
                guard case .success(let record?) = found, client.mayTouch(record.request.owner) else {
                    return reply(.failure(.notFound(id)))
                }
                body(record, engine)
            }
        }
    }

    package func result(
        _ id: Int64, from offset: Int64, upTo count: Int, for caller: Caller, reply: @escaping Reply<QueueAnswer>
    ) {
        guard offset >= 0 else {
            return loop.afterEvents {
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
                    headers: QueueAnswer.fitting(result.headers), bodyBytes: result.body.count,
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
