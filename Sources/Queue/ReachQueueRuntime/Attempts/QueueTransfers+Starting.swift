internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTransfer

/// How an attempt starts: what an earlier one left, the request as it is sent, and its ways.
extension QueueTransfers {
    func start(_ order: AttemptOrder, _ request: QueuedRequest) {
        let attempt = Running(order, request, began: SystemClock.now)
        running[order.id] = attempt
        let engine: any TransferMaker
        do throws(TransferFailure) {
            engine = try findEngine()
        } catch {
            return refuse(order, as: .local)
        }
        guard let (file, record) = leftover(of: order.id, to: attempt.terms.outputPath) else {
            return transfer(attempt, by: engine, from: nil)
        }
        engine.resumePoint(record: record, of: file) { [weak self] point in
            guard let self, running[order.id] === attempt else { return }
            transfer(attempt, by: engine, from: point)
        }
    }

    /// The file with the beginning of an answer that an earlier attempt left, and the file that records its length.
    func leftover(of id: RequestID, to outputPath: String?) -> (file: String, record: String)? {
        if let path = outputPath {
            let part = downloads.leftover(of: id, to: path, mayBeOlder: spool != nil)
            return part.map { ($0, QueueDownloads.record(of: $0)) }
        }
        guard let spool, leftovers[id] == .begun else { return nil }
        return (spool.path(QueueDirectory.answerName(id)), spool.path(QueueDirectory.recordName(id)))
    }

    /// Forgets a request that is over.
    ///
    /// - Parameter keepsAnswer: Whether its result is kept, and with it the file of its answer.
    func forget(_ id: RequestID, isCancelled: Bool, keepsAnswer: Bool) {
        downloads.forget(id, isCancelled: isCancelled)
        uploads.forget(id, in: spool)
        quota.remove(id)
        // Most requests leave nothing, so the search is saved.
        guard !leftovers.isEmpty, let left = leftovers.removeValue(forKey: id) else { return }
        if left == .useless || !keepsAnswer { spool?.removeAnswer(of: id) }
    }

    private func transfer(_ attempt: Running, by engine: any TransferMaker, from point: ResumePoint?) {
        var transfer: TransferRequest
        do throws(TransferURL.ValidationError) {
            transfer = try TransferRequest(
                attempt, options, spool: spool, resume: point, keptFree: keptFree, lastURL: lastURL)
        } catch {
            return refuse(attempt.order, as: .invalid)
        }
        let (outputPath, isUpload) = (attempt.terms.outputPath, attempt.terms.uploadProtocol != nil)
        transfer.proxy = proxy(for: transfer.url, attempt.specification.destination.proxy)
        // A URL with credentials is not kept.
        lastURL = transfer.url.hasCredentials ? nil : transfer.url
        // A host may have chosen another place for an earlier answer.
        if outputPath != nil, let part = downloads.part(of: attempt.order.id) {
            transfer.sink = .file(FileSink(part: part, resume: point))
        }
        host?.prepare(&transfer, of: attempt.order.id)
        if isUpload { return beginUpload(transfer, attempt, by: engine) }
        if let outputPath, case .file(let sink) = transfer.sink {
            downloads.begin(attempt.order.id, to: outputPath, by: sink)
        }
        if outputPath == nil {
            let others = quota.bytes(of: attempt.request.owner, without: attempt.order.id)
            let room = options.ownerAnswerBytes - min(others, options.ownerAnswerBytes)
            attempt.isShortOfRoom = room < transfer.limit.bodyBytes
            transfer.limit.bodyBytes = min(transfer.limit.bodyBytes, room)
        }
        if let point = transfer.resumePoint {
            attempt.resumedAt = point.offset
            attempt.fromStart = transfer.fromStart
        }
        begin(transfer, attempt, by: engine)
    }

    /// Sends the next exchange of the attempt, if it has one.
    func resumes(_ attempt: Running, after report: TransferReport, by engine: any TransferMaker) -> Bool {
        continueUpload(attempt, after: report, by: engine)
            || report.failure?.reason == .badRange && startOver(attempt, by: engine)
    }

    /// Sends the request again within its attempt, for the whole answer: the server cannot send the rest of what an
    /// earlier attempt left, and would not in the next attempt either.
    private func startOver(_ attempt: Running, by engine: any TransferMaker) -> Bool {
        guard let transfer = attempt.fromStart else { return false }
        (attempt.fromStart, attempt.resumedAt, attempt.isResumed) = (nil, nil, false)
        attempt.progress = ByteProgress()
        begin(transfer, attempt, by: engine)
        return true
    }

    func begin(_ transfer: TransferRequest, _ attempt: Running, by engine: any TransferMaker) {
        if host != nil { attempt.sent = transfer }
        attempt.moved.begin(transfer)
        // The closures capture only these, so that they do not retain the whole order.
        let (id, number) = (attempt.order.id, attempt.order.number)
        let target = RouteTarget(transfer)
        attempt.transfer = engine.start(
            transfer,
            handler: TransferHandler(
                allowsRedirect: { [loopReference] in
                    if !$0.from.isSecure { loopReference.owner?.running[id]?.isRedirectedInTheClear = true }
                    return true
                },
                willSend: { [loopReference] in
                    loopReference.owner?.running[id]?.moved.noteSent()
                    loopReference.owner?.send(.requestSent(id))
                },
                route: { [loopReference] in loopReference.owner?.ways(to: $0, for: target, id) ?? [] },
                hasRoom: { [loopReference] in loopReference.owner?.host?.hasRoom(for: id) ?? true },
                event: { [loopReference] in loopReference.owner?.handle($0, of: id, number) }))
    }

    /// The way to each address by its own route. Also reports the path to the destination to the queue.
    private func ways(to addresses: [IPAddress], for target: RouteTarget, _ id: RequestID) -> [TransferWay] {
        guard let attempt = running[id] else { return [] }
        guard let choice = router(attempt.order, target, addresses) else {
            let families = attempt.order.path.families
            return addresses.filter { families.contains($0.family) }.map { TransferWay($0, by: target.interface) }
        }
        // After a redirect the addresses are those of another host.
        guard let destination = choice.destination else { return choice.ways }
        if let path = choice.path { attempt.path = path }
        send(.attemptRouted(id, choice.path, destination))
        return choice.ways
    }

    /// - Parameter wanted: What the request asks for.
    func proxy(for url: TransferURL, _ wanted: RequestProxy) -> TransferProxy {
        switch wanted {
        case .none: .none
        case .server(let text): (try? TransferURL(proxy: text)).map { .explicit($0) } ?? .none
        case .usual: host?.proxy(for: url) ?? options.proxies.proxy(for: url)
        }
    }

    private func refuse(_ order: AttemptOrder, as kind: AttemptFault.Kind) {
        removeRunning(order.id)
        send(.ended(order.id, .failed(AttemptFault(kind))))
    }

    func findEngine() throws(TransferFailure) -> any TransferMaker {
        if let engine { return engine }
        let made = try makeEngine()
        (made as? TransferEngine)?.resolver.route = serverRoute
        engine = made
        return made
    }
}
