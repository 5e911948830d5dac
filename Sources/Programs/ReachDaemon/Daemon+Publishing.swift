internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachRecords

/// What the daemon publishes of all its parts: metrics, its page, and the events of probes.
extension Daemon {
    func startProbes() {
        let file = (stateDirectory?.path).map { [log] in
            ProbeTotalsFile(stateDirectory: $0) { log.warning("\($0)") }
        }
        let handler = ProbeServiceHandler(loop: loop, registry: registry, transfers: transfers, file: file) {
            [unowned self] in handle($0)
        }
        probes = handler
        handler.apply(configuration)
        metrics = MetricsPublisher(on: loop) { [unowned self] in snapshot }
        metrics?.onWarning = { [log] in log.warning("metrics disabled: \($0)") }
        metrics?.onScrape = { [unowned handler] order, ticket, reply in
            handler.scrape(order, ticket, reply)
        }
        metrics?.onScrapeEnd = { [unowned handler] ticket in handler.endScrape(ticket) }
        metrics?.apply(configuration.metrics)
        applyPage()
    }

    /// Follows what the page shows only where there is one.
    func applyPage() {
        guard page != nil || configuration.page.directory != nil else { return }
        let publisher = page ?? makePage()
        page = publisher
        publisher.apply(configuration.page.directory)
    }

    private func makePage() -> PagePublisher {
        let publisher = PagePublisher(on: loop) { [unowned self] in pageSnapshot }
        publisher.onNotice = { [log] in log.warning("\($0)") }
        publisher.onPage = { FreeMemory.release() }
        _ = queue.watch { [weak publisher] in if case .event = $0 { publisher?.note(.state) } }
        _ = registry.engine.watchNetwork { [weak publisher] _ in publisher?.note(.state) }
        return publisher
    }

    var pageSnapshot: PageSnapshot {
        var snapshot = PageSnapshot(version: options.version, options: registry.engineOptions)
        snapshot.states = provedStates
        snapshot.proofs = registry.linkProofs
        snapshot.probes = probes?.reports ?? []
        snapshot.queue = queue.metrics
        if records.hasHistory { snapshot.history = (stateDirectory?.path).map { HistoryFiles(directory: $0) } }
        return snapshot
    }

    /// The states of the Internet and of the configured targets, with what is proved of their ways.
    private var provedStates: [(name: String, state: ReachabilityState)] {
        registry.namedStates.map { ($0.name, $0.state.proved(by: internet.state)) }
    }

    private func handle(_ event: ProbeEvent) {
        page?.note(event.kind == .result ? .figure : .state)
        log.log(level: event.level, "\(event.text)", metadata: event.journalMetadata)
        records.record(event)
        let target = HistoryEntry.target(ofProbe: event.report.name)
        hooks?.handle(event, outage: records.latestOutage(of: target), works: records.use(of: target).works)
        for sink in internetSinks.values { sink(.probe(event)) }
    }

    private var snapshot: MetricsSnapshot {
        var snapshot = MetricsSnapshot(version: options.version)
        snapshot.states = provedStates
        snapshot.links = registry.linkProofs
        snapshot.probes = probes?.records ?? []
        snapshot.resyncs = registry.resyncs
        snapshot.isObserving = registry.engine.observationError == nil
        snapshot.control = controlStatistics
        snapshot.journal = records.journal?.statistics
        snapshot.silence = registry.silenceStatistics
        snapshot.queue = queue.metrics
        return snapshot
    }
}
