package import ReachCore

extension JSONWriter {
    /// Writes the result of an attempt, as `reach probe --json` prints it.
    ///
    /// - Parameter name: The name of the configured probe; `nil` for an attempt that was ordered by its URL.
    package mutating func probeResult(_ result: ProbeResult, of target: String, named name: String?) {
        object { json in
            json.field("v", 1)
            json.field("type", "probe-result")
            json.times(result.started.wall, result.started.boot)
            json.field("probe", name)
            json.field("target", target)
            json.field("outcome", result.outcome.word)
            json.field("reason", result.outcome.reason)
            json.field("detail", result.detail)
            json.field("duration_us", result.duration.microseconds)
            json.field(
                "phases",
                object: { json in
                    for (phase, duration) in result.phases.reached {
                        json.key(named: phase.rawValue + "_us")
                        json.value(duration.microseconds)
                    }
                })
            json.field("address", result.address)
            json.field("interface", result.interface)
            json.field("http_status", result.httpStatus?.wide)
            json.field("certificate_until", result.certificateEnd?.description)
            json.field("certificate_days", result.certificateDays?.wide)
            if let burst = result.burst { json.field("burst", object: { $0.burst(burst) }) }
        }
    }

    private mutating func burst(_ burst: ProbeBurst) {
        field("sent", burst.sent.wide)
        field("lost", burst.lost.wide)
        field("min_us", burst.trips?.least.microseconds)
        field("p50_us", burst.trips?.median.microseconds)
        field("p90_us", burst.trips?.percentile90.microseconds)
        field("max_us", burst.trips?.most.microseconds)
        field("jitter_us", burst.trips?.jitter.microseconds)
    }

    /// Writes a configured probe, as `reach probes --json` prints it.
    ///
    /// - Parameter hasBeats: Whether to list the latest results; events do not.
    package mutating func probeReport(_ report: ProbeReport, at moment: Instant, hasBeats: Bool) {
        object { json in
            json.field("v", 1)
            json.field("type", "probe-report")
            json.times(moment.wall, moment.boot)
            json.field("probe", report.name)
            if let group = report.group { json.field("group", group) }
            json.field("target", report.target)
            json.field("state", report.state.rawValue)
            json.field("since", report.since)
            json.field("paused", report.pause?.rawValue)
            json.field("interval_ms", report.interval.nanoseconds / 1_000_000)
            json.field("next", report.next?.description)
            json.field("uptime", object: { $0.uptime(report.uptime) })
            json.key("latency")
            json.latency(report.latency)
            json.key("last")
            if let last = report.last {
                json.probeResult(last, of: report.target, named: report.name)
            } else {
                json.value(nil)
            }
            if hasBeats {
                json.field("beats", String(report.beats.map(\.kind.letter)))
                json.field("beats_us", array: { for beat in report.beats { $0.value(Int64(beat.microseconds)) } })
            }
        }
    }

    private mutating func uptime(_ uptime: ProbeUptime) {
        field("ok_ms", uptime.ok.nanoseconds / 1_000_000)
        field("fail_ms", uptime.fail.nanoseconds / 1_000_000)
        field("paused_ms", uptime.paused.nanoseconds / 1_000_000)
        field("inconclusive_ms", uptime.inconclusive.nanoseconds / 1_000_000)
        field("availability", share: uptime.availability)
    }

    private mutating func latency(_ latency: ProbeLatency?) {
        guard let latency else { return value(nil) }
        object { json in
            json.field("count", latency.count.wide)
            json.field("p50_us", latency.median.microseconds)
            json.field("p90_us", latency.percentile90.microseconds)
            json.field("p99_us", latency.percentile99.microseconds)
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

extension ProbeResult {
    /// Reads a result that ``JSONWriter/probeResult(_:of:named:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    init(_ reader: StatusReader) throws(StatusReadingError) {
        let reason = try reader.optional("reason", \.string)
        guard let outcome = Outcome(word: try reader.value("outcome", \.string), reason: reason) else {
            throw reader.fault("outcome")
        }
        self.init(
            outcome, detail: try reader.optional("detail", \.string) ?? "", started: try reader.moment(),
            duration: try reader.microseconds("duration_us"))
        let spent = try reader.object("phases")
        for phase in ProbePhase.allCases {
            if let microseconds: Int64 = try spent.number(phase.rawValue + "_us") {
                phases[phase] = .microseconds(microseconds)
            }
        }
        address = try reader.address("address")
        interface = try reader.optional("interface", \.string)
        httpStatus = try reader.number("http_status")
        certificateEnd = try reader.optionalTime("certificate_until")
        if try reader.optional("burst", \.object) != nil { burst = try ProbeBurst(reader.object("burst")) }
    }
}

extension ProbeBurst {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let sent: Int = try reader.number("sent"), let lost: Int = try reader.number("lost") else {
            throw reader.fault("burst")
        }
        self.init(sent: sent, lost: lost, trips: nil)
        guard try reader.optional("p50_us", \.integer) != nil else { return }
        trips = Trips(
            least: try reader.microseconds("min_us"), median: try reader.microseconds("p50_us"),
            percentile90: try reader.microseconds("p90_us"), most: try reader.microseconds("max_us"))
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

extension ProbeAnswer {
    /// Reads a result that ``JSONWriter/probeResult(_:of:named:)`` wrote, with the probe's name and URL.
    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        self.init(
            target: try reader.value("target", \.string), name: try reader.optional("probe", \.string),
            result: try ProbeResult(reader))
    }
}

extension ProbeReport {
    /// Reads a report that ``JSONWriter/probeReport(_:at:hasBeats:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    init(_ reader: StatusReader) throws(StatusReadingError) {
        self.init(
            name: try reader.value("probe", \.string), target: try reader.value("target", \.string),
            state: try reader.word("state") ?? .unknown, since: try reader.time("since"),
            interval: .milliseconds(try reader.value("interval_ms", \.integer)))
        group = try reader.optional("group", \.string)
        // A reason that this version does not know is still a pause.
        pause = try reader.optional("paused", \.string).map { ProbePause(rawValue: $0) ?? .noPath }
        next = try reader.optionalTime("next")
        uptime = try ProbeUptime(reader.object("uptime"))
        if try reader.optional("latency", \.object) != nil { latency = try ProbeLatency(reader.object("latency")) }
        if try reader.optional("last", \.object) != nil { last = try ProbeResult(reader.object("last")) }
        let letters = try reader.optional("beats", \.string) ?? ""
        let durations = try reader.optional("beats_us", \.array) ?? []
        beats = zip(letters, durations).map { letter, duration in
            Beat(Beat.Kind(letter: letter) ?? .inconclusive, microseconds: UInt32(clamping: duration.integer ?? 0))
        }
    }
}

extension ProbeUptime {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        self.init()
        ok = .milliseconds(try reader.value("ok_ms", \.integer))
        fail = .milliseconds(try reader.value("fail_ms", \.integer))
        paused = .milliseconds(try reader.value("paused_ms", \.integer))
        inconclusive = .milliseconds(try reader.value("inconclusive_ms", \.integer))
    }
}

extension ProbeLatency {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let count: Int = try reader.number("count") else { throw reader.fault("count") }
        self.init(
            count: count, median: try reader.microseconds("p50_us"),
            percentile90: try reader.microseconds("p90_us"), percentile99: try reader.microseconds("p99_us"))
    }
}

extension StatusReader {
    fileprivate func microseconds(_ name: String) throws(StatusReadingError) -> Duration {
        .microseconds(try value(name, \.integer))
    }

    fileprivate func optionalTime(_ name: String) throws(StatusReadingError) -> Timestamp? {
        guard let text = try optional(name, \.string) else { return nil }
        guard let time = Timestamp(text) else { throw fault(name) }
        return time
    }
}
