package import ReachClient
package import ReachCore

extension JSONWriter {
    /// Writes the result of an attempt, as `reach probe --json` prints it.
    ///
    /// - Parameter name: The name of the configured probe; `nil` for an attempt that was ordered by its URL.
    package mutating func probeResult(_ result: ProbeResult, of target: String, named name: String?) {
        ProbeAnswer(target: target, name: name, result: result).write(to: &self)
    }

    /// Writes a configured probe, as `reach probes --json` prints it.
    ///
    /// - Parameter hasBeats: Whether to list the latest results; events do not.
    package mutating func probeReport(_ report: ProbeReport, at moment: Instant, hasBeats: Bool) {
        var report = report
        line("probe-report", at: moment) { json in
            report.members(&json)
            if hasBeats { report.beatMembers(&json) }
        }
    }
}

extension EncodedEvent {
    /// An event of a configured probe.
    package static func probe(_ event: ProbeEvent) -> EncodedEvent {
        EncodedEvent("probe", at: event.moment) { json in
            json.field("event", event.kind.rawValue)
            json.key("probe")
            json.probeReport(event.report, at: event.moment, hasBeats: false)
        }
    }
}

extension ProbeEvent {
    /// Reads an event of type `probe`; its report has no beats.
    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        guard let kind: Kind = try reader.word("event") else { throw reader.fault("event") }
        self.init(kind, at: try reader.moment(), report: try ProbeReport(reader.object("probe")))
    }
}

/// A result, with the probe's name and URL.
extension ProbeAnswer: JSONObject {
    package static var blank: ProbeAnswer { ProbeAnswer(target: "", name: nil, result: .blank) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.optional("probe", &name)
        line.member("target", &target)
        result.members(&line)
    }

    package func write(to json: inout JSONWriter) { json.line("probe-result", at: result.started, writeMembers) }
}

extension ProbeResult: JSONObject {
    package static var blank: ProbeResult { ProbeResult(.ok, started: .blank, duration: .zero) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        if line.isReading { line.moment(&started) }
        var (outcome, reason) = (outcome, outcome.reason)
        line.member("outcome", &outcome)
        line.optional("reason", &reason)
        self.outcome = Outcome(word: outcome.word, reason: reason) ?? outcome
        line.optional("detail", &detail)
        line.microseconds("duration_us", &duration)
        line.member("phases", &phases)
        line.optional("address", &address)
        line.optional("interface", &interface)
        line.optional("http_status", &httpStatus)
        line.optional("certificate_until", &certificateEnd)
        var days = certificateDays
        line.optional("certificate_days", &days)
        line.optional("burst", &burst, else: .missing)
    }
}

extension ProbeResult.Outcome: JSONText {
    package init?(text: String) { self.init(word: text, reason: nil) }
    package var text: String { word }
}

extension ProbePhases: JSONMember {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        self.init()
        let reader = try StatusReader(json, path: key)
        for phase in ProbePhase.allCases {
            let microseconds: Int64? = try reader.number(phase.rawValue + "_us")
            self[phase] = microseconds.map { .microseconds($0) }
        }
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            for (phase, duration) in reached {
                json.key(named: phase.rawValue + "_us")
                json.value(duration.microseconds)
            }
        }
    }
}

extension ProbeBurst: JSONObject {
    package static var blank: ProbeBurst { ProbeBurst(sent: 0, lost: 0, trips: nil) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("sent", &sent)
        line.member("lost", &lost)
        var (least, median, jitter) = (trips?.least, trips?.median, trips?.jitter)
        var (percentile90, most) = (trips?.percentile90, trips?.most)
        line.microseconds("min_us", &least)
        line.microseconds("p50_us", &median)
        line.microseconds("p90_us", &percentile90)
        line.microseconds("max_us", &most)
        line.microseconds("jitter_us", &jitter)
        guard let least, let median, let percentile90, let most else { return }
        trips = Trips(least: least, median: median, percentile90: percentile90, most: most)
    }
}

extension ProbeReport: JSONObject {
    package static var blank: ProbeReport {
        ProbeReport(name: "", target: "", state: .unknown, since: Instant.blank.wall, interval: .zero)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("probe", &name)
        line.optional("group", &group, else: .missing)
        line.member("target", &target)
        line.optionalWord("state", &state, unknown: .unknown)
        line.member("since", &since)
        // A reason that this version does not know is still a pause.
        line.word("paused", &pause, unknown: .noPath)
        line.milliseconds("interval_ms", &interval)
        line.optional("next", &next)
        line.member("uptime", &uptime)
        line.optional("latency", &latency)
        var answer = last.map { ProbeAnswer(target: target, name: name, result: $0) }
        line.optional("last", &answer)
        last = answer?.result
        if line.isReading { beatMembers(&line) }
    }

    fileprivate mutating func beatMembers(_ line: inout some JSONMembers & ~Copyable) {
        var (letters, durations) = (String(beats.map(\.kind.letter)), beats.map(\.microseconds))
        line.optional("beats", &letters)
        line.optional("beats_us", &durations)
        beats = zip(letters, durations).map { Beat(Beat.Kind(letter: $0) ?? .inconclusive, microseconds: $1) }
    }
}

extension ProbeReport.Beat.Kind {
    /// One letter for each kind, which keeps the charts of a thousand probes short.
    var letter: Character {
        switch self {
        case .ok: "o"
        case .fail: "f"
        case .inconclusive: "i"
        case .paused: "p"
        }
    }

    init?(letter: Character) {
        guard let kind = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = kind
    }
}

extension ProbeUptime: JSONObject {
    package static var blank: ProbeUptime { ProbeUptime() }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.milliseconds("ok_ms", &ok)
        line.milliseconds("fail_ms", &fail)
        line.milliseconds("paused_ms", &paused)
        line.milliseconds("inconclusive_ms", &inconclusive)
        var share = availability
        line.optional("availability", &share)
    }
}

extension ProbeLatency: JSONObject {
    package static var blank: ProbeLatency {
        ProbeLatency(count: 0, median: .zero, percentile90: .zero, percentile99: .zero)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("count", &count)
        line.microseconds("p50_us", &median)
        line.microseconds("p90_us", &percentile90)
        line.microseconds("p99_us", &percentile99)
    }
}
