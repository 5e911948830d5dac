internal import Logging
internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachRecords

// An attempt for each scrape of `/probe`, as prometheus-blackbox-exporter makes it. Whoever can connect to the metrics
// can ask for one, so only templates that name their targets make any.
extension ProbeServiceHandler {
    /// Makes one attempt. Its result affects no probe's state.
    func scrape(_ order: ScrapeOrder, _ ticket: ScrapeTicket, _ reply: @escaping (ScrapeAnswer) -> Void) {
        let name = order.module ?? ScrapeOrder.usualModule
        guard let module = modules.first(where: { $0.name == name }) else {
            return reply(.refusal("400 Bad Request", "Unknown module \"\(DisplayText.excerpt(name))\""))
        }
        guard let text = order.target, !text.isEmpty else {
            return reply(.refusal("400 Bad Request", "Target parameter is missing"))
        }
        let target: ProbeTarget
        do throws(TargetError) {
            target = try module.scrapeTarget(text)
        } catch {
            return reply(.refusal("400 Bad Request", error.description))
        }
        guard module.scrapeTargets.contains(where: { $0.allows(target) }) else {
            let sentence = "scrape_targets of the module \"\(name)\" do not allow this target"
            return reply(.refusal("403 Forbidden", sentence))
        }
        if let why = ScrapePlaces.refusal(of: ticket.client, beside: scrapes.values.map(\.ticket.client)) {
            return reply(.refusal("503 Service Unavailable", why))
        }
        start(specification(of: module, target, order), ticket, reply)
    }

    /// No one waits for the result any more.
    func endScrape(_ ticket: ScrapeTicket) { scrapes.removeValue(forKey: ObjectIdentifier(ticket))?.attempt.cancel() }

    private func specification(of module: ProbeEntry, _ target: ProbeTarget, _ order: ScrapeOrder) -> ProbeSpecification
    {
        var specification = module.specification("", target)
        specification.timeout = order.timeout(of: specification)
        specification.refusesLocalAddresses = true
        // Which path leads to the target is not known; mostly it is that of the Internet.
        let isMetered = registry.namedStates.first?.state.isMetered ?? true
        return isMetered && !specification.burstsOnMetered ? specification.withoutBurst : specification
    }

    private func start(
        _ specification: ProbeSpecification, _ ticket: ScrapeTicket, _ reply: @escaping (ScrapeAnswer) -> Void
    ) {
        let (id, began) = (ObjectIdentifier(ticket), SystemClock.boot)
        let binding = specification.condition.interface.map { ProbeGate.Binding(name: $0, index: nil) }
        let attempt = start(ProbeTerms(specification), binding) { [weak self] observation in
            self?.scrapes[id] = nil
            let result = ProbeJudge.result(of: observation, specification.expected, evidence: .same)
            let duration = SystemClock.boot - began
            reply(.metrics(ScrapeText.metrics(of: result, specification, duration: duration)))
        }
        // The dictionary keeps the ticket, and so its identifier.
        scrapes[id] = (ticket, attempt)
    }
}

extension ProbeEntry {
    /// A target as a scrape names it: a URL, or what follows the scheme of the first that is allowed.
    func scrapeTarget(_ text: String) throws(TargetError) -> ProbeTarget {
        let isWhole = text.containsUTF8("://")
        let scheme = isWhole ? "" : (scrapeTargets.first?.kind.rawValue ?? "") + "://"
        return try ProbeTarget(scheme + text)
    }
}

extension ProbeEvent {
    /// What the journal gets besides the text.
    var journalMetadata: Logger.Metadata {
        LoggedEvent.probe.metadata([
            "target": HistoryEntry.target(ofProbe: report.name), "probe": report.name, "status": report.state.rawValue,
            "reason": report.last?.outcome.reason,
        ])
    }

    /// The level the event is logged at.
    var level: Logger.Level {
        switch kind {
        case .down: .warning
        case .up: .notice
        case .paused, .resumed: .info
        case .result: .debug
        }
    }

    var text: String {
        switch kind {
        case .up: "probe \(report.name) is up"
        case .down: "probe \(report.name) is down: \(reason)"
        case .paused: "probe \(report.name) is paused: \(report.pause?.rawValue ?? "")"
        case .resumed: "probe \(report.name) resumed"
        case .result: "probe \(report.name): \(report.last?.outcome.word ?? "") \(reason)"
        }
    }

    private var reason: String {
        guard let last = report.last else { return "" }
        return last.detail.isEmpty ? last.outcome.reason ?? "" : last.detail
    }
}

extension HistoryEntry.State {
    /// A probe's event as a state of the target `probe:NAME`, which is unknown while the probe is paused.
    ///
    /// - Returns: `nil` for a single result.
    init?(_ event: ProbeEvent) {
        let report = event.report
        let status: ReachabilityStatus
        switch (event.kind, report.state) {
        case (.result, _): return nil
        case (.paused, _), (_, .unknown): status = .unknown
        case (_, .up): status = .reachable
        case (_, .down): status = .notReachable
        }
        let reason = event.kind == .paused ? report.pause?.rawValue : report.last?.outcome.reason
        self.init(
            target: HistoryEntry.target(ofProbe: report.name), status: status, interface: report.last?.interface,
            reason: status == .reachable ? nil : reason, cause: "probe")
    }
}
