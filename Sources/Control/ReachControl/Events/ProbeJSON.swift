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
        }
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
        key("availability")
        if let availability = uptime.availability { value(availability) } else { value(nil) }
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
