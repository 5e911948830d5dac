package import ReachCore

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
