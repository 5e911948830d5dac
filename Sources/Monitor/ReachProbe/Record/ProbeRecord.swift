package import ReachCore
package import ReachRecords

/// Everything that is kept of a configured probe: its state, its uptime and its latencies.
package struct ProbeRecord: Sendable {
    /// Beats kept for the chart. A beat takes 8 bytes.
    package static let beatsKept = 128

    package let terms: ProbeTerms
    package var specification: ProbeSpecification { terms.specification }
    private var health: ProbeHealth
    private var meter: UptimeMeter
    /// When the state began: with the first of the results that made it, since what they show was so then.
    package private(set) var began: Instant
    /// The latest results in a row that are alike.
    private var run: (areFailures: Bool, began: Instant)?
    package private(set) var pause: ProbePause?
    package private(set) var last: ProbeResult?
    package private(set) var counts = Counts()
    /// The requests of bursts: those that were sent, and those of them that were lost.
    package private(set) var packets = (sent: UInt64(0), lost: UInt64(0))
    /// Durations of successful attempts.
    package private(set) var latency = LatencyHistogram(.fine)
    /// Durations of each phase that a conclusive attempt reached, by ``ProbePhase/place``. Created on first use.
    package private(set) var phases: [LatencyHistogram?]
    private var beats: [ProbeReport.Beat] = []
    /// What the archive does not have yet; `nil` without one.
    private var archive: ArchiveFolding?

    package struct Counts: Hashable, Sendable {
        package var ok: UInt64 = 0
        package var fail: UInt64 = 0
        package var inconclusive: UInt64 = 0
    }

    package init(_ specification: ProbeSpecification, at moment: Instant) {
        terms = ProbeTerms(specification)
        health = ProbeHealth(specification.thresholds)
        meter = UptimeMeter(at: moment.boot)
        began = moment
        phases = Array(repeating: nil, count: ProbePhase.allCases.count)
    }

    /// Sets whether the results are archived.
    package mutating func setArchived(_ isArchived: Bool, at moment: Instant) {
        guard isArchived != (archive != nil) else { return }
        archive = isArchived ? ArchiveFolding(specification, at: moment) : nil
        if pause != nil { archive?.change(to: .paused, at: moment) }
    }

    /// What is new for the archive since the last call.
    package mutating func drainArchive(at moment: Instant) -> [ArchiveRow] { archive?.drain(at: moment) ?? [] }

    /// What a later run continues with.
    package func totals(at moment: Instant) -> ProbeTotals {
        var totals = ProbeTotals()
        totals.counts = counts
        totals.uptime = uptime(at: moment.boot)
        totals.latency = latency
        totals.phases = phases
        totals.beats = Array(beats.suffix(Self.beatsKept))
        return totals
    }

    /// Continues with the totals of an earlier run. Its state is not continued: the first results decide it.
    package mutating func restore(_ totals: ProbeTotals) {
        counts = totals.counts
        meter.restore(totals.uptime)
        latency = totals.latency
        phases = totals.phases
        beats = totals.beats
    }

    package var state: ProbeReport.State { health.state }
    /// Consecutive failed attempts.
    package var failures: Int { health.failures }

    /// Whether failures suffice for "down", which was held back.
    package var isHeldUp: Bool { health.isHeldUp }

    /// Reports by the failures so far what was held back.
    ///
    /// - Returns: Whether the probe is down now.
    package mutating func release(at moment: Instant) -> Bool {
        guard health.release() else { return false }
        began = run?.began ?? moment
        if pause == nil { change(to: .fail, at: moment) }
        return true
    }

    /// Adds the result of an attempt.
    ///
    /// - Parameter holdsUp: Whether a failure does not take the probe down yet, since the path may be its reason.
    /// - Returns: The change of state to report; `nil` if the state is the same.
    package mutating func add(_ result: ProbeResult, holdsUp: Bool = false, at moment: Instant) -> ProbeEvent.Kind? {
        last = result
        if let burst = result.burst, result.outcome.word != "inconclusive" {
            packets = (packets.sent + UInt64(burst.sent), packets.lost + UInt64(burst.lost))
        }
        let kind: UptimeMeter.Kind
        let beat: ProbeReport.Beat.Kind
        switch result.outcome {
        case .ok:
            (kind, beat) = (.ok, .ok)
            counts.ok += 1
            latency.add(result.duration)
        case .fail:
            // The time until the path is judged is not charged to the target.
            (kind, beat) = (holdsUp ? .inconclusive : .fail, .fail)
            counts.fail += 1
        case .inconclusive:
            (kind, beat) = (.inconclusive, .inconclusive)
            counts.inconclusive += 1
        }
        if beat != .inconclusive {
            add(phases: result.phases)
            if run?.areFailures != (beat == .fail) { run = (beat == .fail, result.started) }
        }
        archive?.add(result, at: moment)
        if pause == nil { change(to: kind, at: moment) }
        add(ProbeReport.Beat(beat, microseconds: UInt32(clamping: result.duration.microseconds)))
        guard health.add(result.outcome, holdsUp: holdsUp) else { return nil }
        began = run?.began ?? moment
        return health.state == .up ? .up : .down
    }

    /// Pauses the probe, or sets another reason for its pause.
    ///
    /// - Returns: Whether to report it. Another reason for the same pause is not reported.
    package mutating func pause(_ reason: ProbePause, at moment: Instant) -> Bool {
        defer { pause = reason }
        // The path explains the failures.
        if reason == .notValidated { health.forgive() }
        guard pause == nil else { return false }
        change(to: .paused, at: moment)
        add(ProbeReport.Beat(.paused))
        return true
    }

    /// Ends the pause. The state before it may no longer hold, so the time up to the next result counts as
    /// inconclusive.
    ///
    /// - Returns: Whether the probe was paused.
    package mutating func resume(at moment: Instant) -> Bool {
        guard pause != nil else { return false }
        pause = nil
        // What was before the pause says nothing about the time in it.
        run = nil
        change(to: .inconclusive, at: moment)
        return true
    }

    private mutating func change(to kind: UptimeMeter.Kind, at moment: Instant) {
        meter.change(to: kind, at: moment.boot)
        archive?.change(to: kind, at: moment)
    }

    package func report(at moment: Instant, next: BootTime?) -> ProbeReport {
        var report = ProbeReport(
            name: specification.name, target: specification.target.description, state: state, since: began.wall,
            interval: specification.interval)
        report.group = specification.group
        report.pause = pause
        report.next = next.map {
            Timestamp(nanosecondsSince1970: moment.wall.nanosecondsSince1970 + ($0 - moment.boot).nanoseconds)
        }
        report.last = last
        report.uptime = uptime(at: moment.boot)
        report.latency = summary
        report.beats = Array(beats.suffix(Self.beatsKept))
        return report
    }

    package func uptime(at now: BootTime) -> ProbeUptime { meter.uptime(at: now) }

    private var summary: ProbeLatency? {
        guard let median = latency.percentile(0.5), let percentile90 = latency.percentile(0.9),
            let percentile99 = latency.percentile(0.99)
        else { return nil }
        return ProbeLatency(
            count: Int(clamping: latency.count), median: median, percentile90: percentile90, percentile99: percentile99)
    }

    private mutating func add(_ beat: ProbeReport.Beat) {
        // Removing many at a time is cheaper than one for each beat; a report has the latest only.
        if beats.count >= 2 * Self.beatsKept { beats.removeFirst(Self.beatsKept) }
        beats.append(beat)
    }

    private mutating func add(phases reached: ProbePhases) {
        for (phase, duration) in reached.reached {
            var histogram = phases[phase.place] ?? LatencyHistogram(.prometheus)
            phases[phase.place] = nil
            histogram.add(duration)
            phases[phase.place] = histogram
        }
    }
}
