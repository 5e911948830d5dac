package import ReachControl
package import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachQueueRuntime
internal import ReachTOML

/// Answers the calls of the control socket's clients.
extension Daemon: ControlService {
    package func status(of target: Target, for caller: Caller, reply: @escaping Reply<ReachabilityState>) {
        records.noteAlive()
        registry.queryState(of: target, for: caller.user) { state, _ in reply(.success(state)) }
    }

    package func watch(
        _ target: Target, for caller: Caller, sink: @escaping (TargetEvent) -> Void
    ) throws(MonitorError) -> ControlWatch {
        records.noteAlive()
        let watch = registry.watch(target, for: caller.user, sink)
        let number = target == .internet ? internetSinks.add(sink) : nil
        return ControlWatch(
            state: { [registry] in registry.state(of: watch) },
            cancel: { [registry, weak self] in
                registry.end(watch)
                if let number { self?.internetSinks[number] = nil }
            })
    }

    package func probes(after: Int, limit: Int, for caller: Caller, reply: @escaping Reply<ProbePage>) {
        reply(.success(probes?.page(after: after, limit: limit) ?? ProbePage(reports: [], isLast: true)))
    }

    package func probe(_ order: ProbeOrder, for caller: Caller, reply: @escaping Reply<ProbeAnswer>) {
        guard let probes else { return reply(.failure(.notAvailable(reason: "the daemon is starting"))) }
        probes.probe(order, for: caller.user, reply)
    }

    package func seekPath() -> () -> Void { registry.engine.seekPath() }

    package var networkNames: [String] {
        configuration.networks.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    package var targets: [(name: String, target: Target)] { configuration.targets.map { ($0.name, $0.target) } }

    package func links(for caller: Caller, reply: @escaping Reply<[LinkReport]>) {
        let options = registry.engineOptions
        queries.run(for: caller.user) { () throws(NetlinkError) in
            try KernelSnapshot(options: options, wantsWireless: true).links()
        } reply: { [registry] result in
            let (internet, proofs) = (registry.namedStates.first?.state, registry.linkProofs)
            let proved = result.map { reports in
                reports.map { report in
                    var proved = report
                    proved.adopt(internet, proofs: proofs)
                    return proved
                }
            }
            reply(proved.mapError(Self.observationFailure))
        }
    }

    package func explain(_ target: Target, for caller: Caller, reply: @escaping Reply<Explanation>) {
        let target = configuration.targets[named: target.description] ?? target
        // Without a thread that waits for the resolver: clients have few.
        registry.resolveName(of: target, for: caller.user) { [weak self] resolution in
            self?.explain(target, resolution, for: caller, reply: reply)
        }
    }

    private func explain(
        _ target: Target, _ resolution: NameAnswer?, for caller: Caller, reply: @escaping Reply<Explanation>
    ) {
        let options = registry.engineOptions
        let proved = registry.connectivityReport(on: target)
        let checks = registry.lastChecks(of: target)
        let reported = registry.namedStates.first { $0.state.target == target }?.state
        let memory = registry.engine.memory(of: target.watched)
        queries.run(for: caller.user) { () throws(NetlinkError) in
            try Explainer(options: options, memory: memory, wantsWireless: true).explain(
                target, resolution: resolution, proved: proved, checks: checks, reported: reported)
        } reply: {
            reply($0.mapError(Self.observationFailure))
        }
    }

    private static func observationFailure(_ error: NetlinkError) -> MonitorError {
        .cannotObserve(reason: error.description)
    }

    package func journal(
        _ query: JournalQuery, of owner: UInt32?, for caller: Caller, reply: @escaping Reply<JournalSlice>
    ) {
        guard let journal = records.journal else { return reply(.failure(Self.noJournal)) }
        journal.read(query, of: owner, for: caller.user, reply: reply)
    }

    package func followJournal(_ handler: @escaping () -> Void) throws(MonitorError) -> () -> Void {
        guard let journal = records.journal else { throw Self.noJournal }
        let number = journal.follow(handler)
        return { [weak journal] in journal?.unfollow(number) }
    }

    private static let noJournal = MonitorError.notAvailable(
        reason: "this daemon keeps no journal: [journal] events names none")

    package func testHooks(for caller: Caller, reply: @escaping Reply<HookTestReport>) {
        guard let hooks else { return reply(.failure(.notAvailable(reason: "the daemon is starting"))) }
        let event = HookEvent.test(of: registry.namedStates.first { $0.name == "internet" }?.state, at: SystemClock.now)
        hooks.test(event, with: targetHooks.programs) { reply(.success($0)) }
    }

    package func reload(for caller: Caller, reply: @escaping Reply<[String]>) {
        if let error = reload() {
            reply(.failure(.badConfiguration(reason: error.description)))
        } else {
            reply(.success(waitingKeys))
        }
    }
}
