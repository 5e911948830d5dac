internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// One running probe: waits for its tick, its turn and its path, makes attempts, and records their results.
final class ProbeTask {
    /// An attempt, and what it began with.
    private struct Running {
        var attempt: (any ProbeAttempt)?
        let began: Instant
        let choice: ProbeStates.Watched
        /// By that choice.
        let state: ReachabilityState?
        var evidence = PathContinuity.same
    }

    var specification: ProbeSpecification { record.terms.specification }
    private(set) var record: ProbeRecord
    private(set) var schedule: ProbeSchedule
    /// How much earlier an attempt may start, together with another one.
    var tolerance: Duration = .zero
    private unowned let controller: ProbeController
    /// The last one that was set, which may have fired.
    private var timer: (id: TimerQueue.ID, deadline: BootTime)?
    private var running: Running?
    private var states = ProbeStates()
    private var unwatch: [() -> Void] = []
    /// When the first of the failures in a row ended that an outage of the path may explain.
    private var suspectSince: BootTime?
    private var lastSuccess: BootTime?
    private lazy var releaseTimer = DeadlineTimer(on: controller.loop) { [unowned self] in reconsider() }

    /// - Parameter totals: Those of an earlier run.
    init(
        _ specification: ProbeSpecification, of controller: ProbeController, at moment: Instant,
        totals: ProbeTotals? = nil
    ) {
        self.controller = controller
        var record = ProbeRecord(specification, at: moment)
        if let totals { record.restore(totals) }
        record.setArchived(controller.isArchived, at: moment)
        self.record = record
        let grid = ProbeGrid(
            interval: specification.interval, machine: controller.environment.machine, probe: specification.name)
        schedule = ProbeSchedule(
            interval: specification.interval, failingInterval: specification.failingInterval, grid: grid,
            now: moment.boot)
    }

    func begin() {
        let watched = specification.watchedTarget
        unwatch.append(
            controller.environment.watch(watched, nil) { [weak self] event in self?.handle(event, of: .target) })
        if let condition = specification.pathCondition {
            unwatch.append(
                controller.environment.watch(watched, condition) { [weak self] event in
                    self?.handle(event, of: .chosen)
                })
        }
        let asked = specification.target.reachabilityTarget
        if specification.condition.interface != nil {
            unwatch.append(
                controller.environment.watch(asked, nil) { [weak self] event in self?.handle(event, of: .unbound) })
        }
        if case .name = asked.subject {
            unwatch.append(
                controller.environment.watch(.internet, nil) { [weak self] event in
                    self?.handle(event, of: .internet)
                })
        }
        arm()
    }

    /// Ends the probe. No event follows.
    func end() {
        unwatch.forEach { $0() }
        unwatch = []
        cancelTimer()
        releaseTimer.cancel()
        running?.attempt?.cancel()
        running = nil
        controller.release(self)
    }

    func report(at moment: Instant) -> ProbeReport { record.report(at: moment, next: schedule.deadline) }

    func setArchived(_ isArchived: Bool, at moment: Instant) { record.setArchived(isArchived, at: moment) }

    func drainArchive(at moment: Instant) -> [ArchiveRow] { record.drainArchive(at: moment) }

    // MARK: - Time

    private func arm() {
        let deadline = schedule.deadline
        guard deadline != timer?.deadline else { return }
        cancelTimer()
        guard let deadline else { return }
        let id = controller.loop.schedule(at: deadline, tolerance: tolerance) { [weak self] in
            guard let self else { return }
            // It may be called a little before the deadline.
            if schedule.timeReached(at: max(deadline, SystemClock.boot)) { controller.request(self) }
            arm()
        }
        timer = (id, deadline)
    }

    private func cancelTimer() {
        if let timer { controller.loop.cancel(timer.id) }
        timer = nil
    }

    /// Starts the attempt that is due, once there is room for it.
    func startAttempt() {
        guard case .open(let binding) = gate else { return finish(nil) }
        let now = SystemClock.now
        schedule.begin(at: now.boot)
        running = Running(began: now, choice: states.choice, state: states[states.choice])
        let attempt = controller.environment.start(record.terms.overPath(isMetered: mayBeMetered), binding) {
            [weak self] observation in
            guard let self else { return }
            finish(
                ProbeJudge.result(of: observation, specification.expected, evidence: running?.evidence ?? .same) {
                    [state = running?.state] in state?.hasPath(to: $0) ?? false
                })
        }
        running?.attempt = attempt
    }

    /// Whether an attempt now costs money, or may.
    var mayBeMetered: Bool { states.mayBeMetered }

    /// - Parameter result: `nil` if the attempt never started.
    private func finish(_ result: ProbeResult?) {
        running = nil
        controller.release(self)
        let now = SystemClock.now
        let failuresBefore = record.failures
        if let result {
            note(result, at: now.boot)
            let kind = record.add(result, holdsUp: isPathUnsettled(at: now.boot), at: now)
            controller.emit(.result, self, at: now)
            if let kind { controller.emit(kind, self, at: now) }
        }
        let hasFailed = if case .fail = result?.outcome { true } else { false }
        if let result, (failuresBefore == 0) != (record.failures == 0) {
            controller.onTurn(specification.target, result)
        }
        if let result, let family = result.witness(of: specification) { controller.onWitness(family) }
        schedule.finish(failures: hasFailed ? record.failures : 0, at: now.boot)
        arm()
        reconsider()
    }

    // MARK: - One outage of the path, and not one of each probe

    private func note(_ result: ProbeResult, at now: BootTime) {
        if result.outcome == .ok { lastSuccess = now }
        if result.suggestsOutage(for: specification.target) {
            suspectSince = suspectSince ?? now
        } else if result.outcome.word != "inconclusive" {
            suspectSince = nil
        }
    }

    /// Whether a check decides soon if the path is the reason of the failures, so that they do not count yet.
    private func isPathUnsettled(at now: BootTime) -> Bool {
        guard let since = suspectSince, now < since + controller.environment.longestCheck() else { return false }
        return states.farPaths.contains { controller.environment.isUnsettled($0.interface, $0.family, since) }
    }

    /// Whether an outage of the path explains that attempts fail: none has succeeded since it began.
    private var isExplainedByPath: Bool {
        guard record.pause == .notValidated || suspectSince != nil && record.state != .down else { return false }
        let paths = states.farPaths
        return !paths.isEmpty
            && paths.allSatisfy { path in
                guard let began = controller.trouble(of: path.interface, path.family) else { return false }
                return lastSuccess.map { $0 <= began } ?? true
            }
    }

    /// Decides what waited for a check of the path, or for something that a condition requires.
    func reconsider() {
        applyGate()
        guard record.isHeldUp, record.pause == nil else { return releaseTimer.cancel() }
        let now = SystemClock.now
        if isPathUnsettled(at: now.boot) {
            releaseTimer.set(to: suspectSince.map { $0 + controller.environment.longestCheck() })
        } else if record.release(at: now) {
            releaseTimer.cancel()
            controller.emit(.down, self, at: now)
        }
    }

    // MARK: - The path

    var gate: ProbeGate {
        let gate = ProbeGate.decide(
            specification.condition, target: states[.target], chosen: states[.chosen], unbound: states[.unbound],
            internet: states[.internet], survey: controller.survey)
        if case .open = gate, isExplainedByPath { return .closed(.notValidated) }
        return gate
    }

    private func applyGate() { if case .closed(let reason) = gate { pause(reason) } else { resume() } }

    private func handle(_ event: TargetEvent, of watched: ProbeStates.Watched) {
        switch event {
        case .wake: running?.evidence = .slept
        case .change(let change):
            // Whether the target answers is what attempts find out.
            states.note(change.state, of: watched)
            if let running, running.evidence == .same, running.choice == watched, let before = running.state,
                let state = states[watched], !state.leadsTheSameWay(as: before)
            {
                self.running?.evidence = .changed
            }
            applyGate()
        case .resync, .notice, .probe: break
        }
    }

    private func pause(_ reason: ProbePause) {
        let now = SystemClock.now
        schedule.pause(at: now.boot)
        arm()
        controller.release(self)
        if let running {
            self.running = nil
            running.attempt?.cancel()
            _ = record.add(interruption(of: running, at: now, reason), at: now)
            controller.emit(.result, self, at: now)
        }
        if record.pause(reason, at: now) { controller.emit(.paused, self, at: now) }
    }

    private func interruption(of running: Running, at now: Instant, _ reason: ProbePause) -> ProbeResult {
        let detail =
            reason == .notValidated
            ? "the Internet ceased to answer over the path during the attempt" : "the path went away during the attempt"
        return ProbeResult(
            .inconclusive(.pathLost), detail: detail, started: running.began, duration: now.boot - running.began.boot)
    }

    private func resume() {
        guard schedule.isPaused else { return }
        let now = SystemClock.now
        let isDue = schedule.resume(at: now.boot)
        suspectSince = nil
        if record.resume(at: now) { controller.emit(.resumed, self, at: now) }
        arm()
        if isDue { controller.request(self) }
    }
}
