internal import Glibc
package import ReachControl
internal import ReachCore
internal import ReachLoop
package import ReachQueue
internal import ReachQueueRuntime

/// What clients do with the queue: who may, in whose name, and in their words.
extension QueueServiceHandler: QueueService {
    func engine() throws(QueueServiceError) -> QueueEngine {
        openAgain()
        guard let opened else {
            let reason = opening.failure.map { "the queue cannot be opened: \($0)" }
            throw .notAvailable(reason: reason ?? "this daemon keeps no queue")
        }
        return opened
    }

    /// Root and the daemon's own user may do everything.
    func isPrivileged(_ caller: Caller) -> Bool { caller.user == 0 || caller.user == getuid() }

    func client(_ caller: Caller) -> QueueInput.Client {
        isPrivileged(caller) ? .root : QueueInput.Client(user: caller.user)
    }

    /// Runs `body`, and answers with what it throws.
    func attempt<Value>(
        _ reply: @escaping Reply<Value>, _ body: (QueueEngine) throws(QueueServiceError) -> Void
    ) {
        do throws(QueueServiceError) {
            try body(try engine())
        } catch {
            loop.afterEvents { reply(.failure(error)) }
        }
    }

    // MARK: Adding

    package func add(
        _ specification: RequestSpecification, for caller: Caller, reply: @escaping Reply<QueueReceipt>
    ) {
        attempt(reply) { engine throws(QueueServiceError) in
            if let problem = specification.condition.networkProblem(among: networkNames()) {
                throw .invalid(field: "when", reason: problem)
            }
            var request = QueuedRequest(specification, owner: caller.user)
            if request.specification.condition == .any, request.specification.destination.isOnThisMachine {
                // It needs no link, and no link leads there.
                request.specification.condition.isTargetReachable = true
            }
            if request.specification.condition.isTargetReachable, engine.usesProxy(request) {
                request.specification.condition.isTargetReachable = false
            }
            guard case .spooled(let name, _) = specification.body else {
                return add(request, to: engine, reply: reply)
            }
            guard let spool = engine.spool else { throw .notAvailable(reason: "this queue keeps no files") }
            try check(specification)
            let bytes = try uploads.claim(name, for: caller.user)
            request.specification.body = .spooled(name: name, bytes: bytes)
            request.uploadedBytes = bytes
            // Its row must not name bytes that a loss of power would take.
            spool.seal(name) { [weak self] number in
                guard number == 0 else {
                    engine.driver.reserve(-bytes, for: caller.user)
                    spool.remove(name)
                    return reply(.failure(.refused(reason: "storage")))
                }
                self?.add(request, to: engine) { result in
                    // Where another request stays in its place, nothing needs its body.
                    if (try? result.get().isKept) != false { spool.remove(name) }
                    reply(result)
                }
            }
        }
    }

    private func check(_ specification: RequestSpecification) throws(QueueServiceError) {
        do throws(RequestValidationError) {
            try specification.check(policy.limits)
        } catch {
            throw QueueServiceError(error)
        }
    }

    private func add(_ request: QueuedRequest, to engine: QueueEngine, reply: @escaping Reply<QueueReceipt>) {
        measureDisk()
        do throws(RequestValidationError) {
            try engine.driver.add(request, makeKey: UniqueKey.make) { [weak self] answer in
                switch answer {
                case .added(let id): reply(.success(QueueReceipt(id: id.rawValue, isKept: false)))
                case .kept(let id): reply(.success(QueueReceipt(id: id.rawValue, isKept: true)))
                case .refused(let refusal):
                    let excess = self?.excess(of: request, refusal, in: engine)
                    reply(.failure(.refused(reason: refusal.rawValue, excess: excess)))
                default: reply(.failure(.refused(reason: "storage")))
                }
            }
        } catch {
            engine.driver.reserve(-request.uploadedBytes, for: request.owner)
            reply(.failure(QueueServiceError(error)))
        }
    }

    package func upload(_ piece: QueueUpload.Piece, for caller: Caller, reply: @escaping Reply<QueueUpload>) {
        attempt(reply) { _ throws(QueueServiceError) in
            whenOpen { [weak self] in self?.receive(piece, from: caller, reply) }
        }
    }

    private func receive(_ piece: QueueUpload.Piece, from caller: Caller, _ reply: @escaping Reply<QueueUpload>) {
        attempt(reply) { engine throws(QueueServiceError) in
            guard let spool = engine.spool else { throw .notAvailable(reason: "this queue keeps no files") }
            let place = QueueUploads.Place(
                spool: spool, driver: engine.driver, isLimited: !isPrivileged(caller))
            measureDisk()
            uploads.receive(piece, of: caller.user, into: place, reply: reply)
        }
    }

    /// The limit that a request would have exceeded.
    private func excess(
        of request: QueuedRequest, _ refusal: QueueReply.Refusal, in engine: QueueEngine
    ) -> QueueExcess? {
        let limits = policy.limits
        let isUsers = refusal == .userLimit
        guard isUsers || refusal == .queueFull else { return nil }
        let count = engine.driver.scheduler.count(of: isUsers ? QueueInput.Client(user: request.owner) : .root)
        let allowed = isUsers ? limits.ownerRequests : limits.requests
        let suffix = isUsers ? "_per_user" : ""
        if count >= allowed {
            return QueueExcess(
                limit: "queue.requests" + suffix, allowed: Int64(allowed), wanted: Int64(count + 1))
        }
        return engine.driver.scheduler.excess(of: request.bytesBesideUpload, for: request.owner, isLimited: isUsers)
            .map(QueueExcess.init)
    }

    // MARK: Changing

    package func hold(_ selection: QueueSelection, for caller: Caller, reply: @escaping Reply<Void>) {
        switch selection {
        case .request(let id): change(id, caller, reply) { .hold(RequestID(rawValue: id), $0, $1) }
        case .all: change(0, caller, reply) { .holdQueue($0, $1) }
        }
    }

    package func release(_ selection: QueueSelection, for caller: Caller, reply: @escaping Reply<Void>) {
        switch selection {
        case .request(let id): change(id, caller, reply) { .release(RequestID(rawValue: id), $0, $1) }
        case .all: change(0, caller, reply) { .releaseQueue($0, $1) }
        }
    }

    package func setFleetHold(_ isHeld: Bool, reason: String?, reply: @escaping Reply<Void>) {
        attempt(reply) { engine throws(QueueServiceError) in
            engine.driver.ask({ .setFleetHold(isHeld, reason: reason, $0) }, { reply(Self.outcome($0, 0)) })
        }
    }

    package func holds(for caller: Caller, reply: @escaping Reply<[QueueHold]>) {
        attempt(reply) { engine throws(QueueServiceError) in
            let client = client(caller)
            // Before the queue is read from its file it has no holds.
            whenOpen { reply(.success(engine.driver.scheduler.holds(for: client))) }
        }
    }

    package func status(for caller: Caller, reply: @escaping Reply<QueueStatus>) {
        attempt(reply) { engine throws(QueueServiceError) in
            let client = client(caller)
            whenOpen {
                let scheduler = engine.driver.scheduler
                reply(
                    .success(
                        QueueStatus(
                            count: scheduler.count(of: client), holds: scheduler.holds(for: client),
                            budgets: scheduler.meteredReports(for: client, at: SystemClock.now.wall))))
            }
        }
    }

    package func cancel(_ id: Int64, for caller: Caller, reply: @escaping Reply<Void>) {
        change(id, caller, reply) { .cancel(RequestID(rawValue: id), $0, $1) }
    }

    /// - Parameter id: What an error names.
    private func change(
        _ id: Int64, _ caller: Caller, _ reply: @escaping Reply<Void>,
        _ command: (QueueInput.Client, QueueInput.Ticket) -> QueueInput
    ) {
        attempt(reply) { engine throws(QueueServiceError) in
            let client = client(caller)
            engine.driver.ask({ command(client, $0) }, { reply(Self.outcome($0, id)) })
        }
    }

    private static func outcome(_ answer: QueueReply, _ id: Int64) -> Result<Void, QueueServiceError> {
        switch answer {
        case .done, .added, .kept, .retried: .success(())
        case .alreadyOver: .failure(.alreadyOver(id))
        case .notFound, .notPermitted: .failure(.notFound(id))
        case .notDead: .failure(.notDead(id))
        case .carried(let carrier): .failure(.carried(id, by: carrier.rawValue))
        case .refused(let refusal): .failure(.refused(reason: refusal.rawValue))
        }
    }

    package func retry(
        _ selection: QueueSelection, reason: String?, for caller: Caller, reply: @escaping Reply<Int>
    ) {
        attempt(reply) { engine throws(QueueServiceError) in
            let client = client(caller)
            var death: DeathReason?
            if let reason {
                death = DeathReason(rawValue: reason)
                guard death != nil else {
                    let words = DeathReason.allCases.map(\.rawValue)
                    throw .invalid(
                        field: "reason",
                        reason: "'\(DisplayText.sanitized(reason))' is no reason of a death: "
                            + words.joined(separator: ", ") + NearestWord.hint(for: reason, among: words))
                }
            }
            let (command, id): ((QueueInput.Ticket) -> QueueInput, Int64) =
                switch selection {
                case .request(let id): ({ .retry(RequestID(rawValue: id), client, $0) }, id)
                case .all: ({ .retryAll(death, client, $0) }, 0)
                }
            engine.driver.ask(command) { answer in
                if case .retried(let count) = answer { return reply(.success(count)) }
                reply(Self.outcome(answer, id).map { 0 })
            }
        }
    }

    // MARK: Watching

    package func watch(
        _ id: Int64?, for caller: Caller, sink: @escaping (QueueNotice) -> Void
    ) throws(QueueServiceError) -> QueueWatch {
        _ = try engine()
        let client = client(caller)
        let number = watch { notice in
            switch notice {
            case .event(let event):
                // Events of the queue as a whole name others' destinations.
                guard let owner = event.owner ?? (client == .root ? 0 : nil), client.mayTouch(owner) else { return }
                if id == nil || event.request?.rawValue == id { sink(notice) }
            case .progress(let progress):
                if progress.id.rawValue == id, client.mayTouch(progress.owner) { sink(notice) }
            case .other: break
            }
        }
        return QueueWatch { [weak self] in self?.unwatch(number) }
    }
}
