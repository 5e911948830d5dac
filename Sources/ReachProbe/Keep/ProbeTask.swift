internal import ReachCore
internal import ReachLoop

/// One configured probe at work: waits for its tick, for its turn and for its path, and keeps what comes of it.
final class ProbeTask {
    let specification: ProbeSpecification
    private(set) var record: ProbeRecord
    private(set) var schedule: ProbeSchedule
    private unowned let keeper: ProbeController
    private var timer: TimerQueue.ID?
    private var attempt: (any ProbeAttempt)?
    private var attemptBegan: Instant?
    /// The state when the attempt began.
    private var stateAtStart: ReachabilityState?
    private var evidence = PathEvidence.same
    private var target: ReachabilityState?
    private var internet: ReachabilityState?
    private var unwatch: [() -> Void] = []

    init(_ specification: ProbeSpecification, of keeper: ProbeController, at moment: Instant) {
        self.specification = specification
        self.keeper = keeper
        record = ProbeRecord(specification, at: moment)
        let grid = ProbeGrid(
            interval: specification.interval, machine: keeper.surroundings.machine, probe: specification.name)
        schedule = ProbeSchedule(
            interval: specification.interval, failingInterval: specification.failingInterval, grid: grid,
            now: moment.boot)
    }

    func begin() {
        let watched = specification.watchedTarget
        unwatch.append(keeper.surroundings.watch(watched) { [weak self] news in self?.take(news, isTarget: true) })
        if case .name = watched.subject {
            unwatch.append(
                keeper.surroundings.watch(.internet) { [weak self] news in self?.take(news, isTarget: false) })
        }
        arm()
    }

    /// Nothing is told after this.
    func end() {
        unwatch.forEach { $0() }
        unwatch = []
        timer.map(keeper.loop.cancel)
        timer = nil
        attempt?.cancel()
        attempt = nil
        keeper.leave(self)
    }

    func report(at moment: Instant) -> ProbeReport { record.report(at: moment, next: schedule.deadline) }

    // MARK: - Time

    private func arm() {
        timer.map(keeper.loop.cancel)
        timer = schedule.deadline.map { deadline in
            keeper.loop.schedule(at: deadline) { [weak self] in
                guard let self else { return }
                timer = nil
                if schedule.timeReached(at: SystemClock.boot) { keeper.ask(self) }
                arm()
            }
        }
    }

    /// There is room: the attempt that was due begins.
    func go() {
        guard case .open(let binding) = gate else { return finish(nil) }
        let now = SystemClock.now
        schedule.begin(at: now.boot)
        attemptBegan = now
        evidence = .same
        stateAtStart = target
        attempt = keeper.surroundings.start(specification, binding) { [weak self] observation in
            guard let self else { return }
            finish(ProbeJudge.result(of: observation, specification.conditions, evidence: evidence))
        }
    }

    /// - Parameter result: `nil` where the attempt never began.
    private func finish(_ result: ProbeResult?) {
        attempt = nil
        keeper.leave(self)
        let now = SystemClock.now
        let failuresBefore = record.failures
        if let result {
            let kind = record.take(result, at: now)
            keeper.tell(.result, self, at: now)
            if let kind { keeper.tell(kind, self, at: now) }
        }
        let hasFailed = if case .fail = result?.outcome { true } else { false }
        if let result, (failuresBefore == 0) != (record.failures == 0) {
            keeper.whenTurned(specification.target, result)
        }
        schedule.finish(failures: hasFailed ? record.failures : 0, at: now.boot)
        arm()
    }

    // MARK: - The path

    private var gate: ProbeGate { ProbeGate.decide(specification.way, target: target, internet: internet) }

    private func take(_ news: ProbeEnvironment.PathEvent, isTarget: Bool) {
        switch news {
        case .woke: if attempt != nil { evidence = .slept }
        case .state(let state):
            if isTarget { target = state } else { internet = state }
            if isTarget, evidence == .same, let stateAtStart, !state.leadsTheSameWay(as: stateAtStart) {
                evidence = .changed
            }
            if case .closed(let reason) = gate { pause(reason) } else { resume() }
        }
    }

    private func pause(_ reason: ProbePause) {
        let now = SystemClock.now
        schedule.pause(at: now.boot)
        arm()
        keeper.leave(self)
        if let attempt {
            self.attempt = nil
            attempt.cancel()
            _ = record.take(interruption(at: now), at: now)
            keeper.tell(.result, self, at: now)
        }
        if record.pause(reason, at: now) { keeper.tell(.paused, self, at: now) }
    }

    private func interruption(at now: Instant) -> ProbeResult {
        let started = attemptBegan ?? now
        return ProbeResult(
            .inconclusive(.pathLost), detail: "the path went away during the attempt", started: started,
            duration: now.boot - started.boot)
    }

    private func resume() {
        guard schedule.isPaused else { return }
        let now = SystemClock.now
        let isDue = schedule.resume(at: now.boot)
        if record.resume(at: now) { keeper.tell(.resumed, self, at: now) }
        arm()
        if isDue { keeper.ask(self) }
    }
}
