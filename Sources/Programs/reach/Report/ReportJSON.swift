internal import ReachControl
internal import ReachCore
internal import ReachRecords

extension JSONWriter {
    /// A report, as `reach report --json` prints it.
    mutating func report(_ report: Report, at now: Instant) {
        object { json in
            json.field("v", 1)
            json.field("type", "report")
            json.times(now.wall, now.boot)
            json.field("host", report.host)
            json.field("title", report.labels.title)
            json.field("customer", report.labels.customer)
            json.field("public_address", report.labels.publicAddress)
            json.field("from", report.from)
            json.field("to", report.to)
            json.field("zone", report.zoneNames)
            json.objects("links", report.facts.links) { json, link in
                json.field("interface", link.interface)
                json.field("class", link.linkClass)
                json.field("path_ms", link.duration.milliseconds)
                json.field("share", share: link.share)
            }
            json.objects("gateways", report.facts.gateways) { json, gateway in
                json.field("address", gateway.address)
                json.field("interface", gateway.interface)
            }
            json.field("clock", object: { $0.clock(report.facts.clock) })
            json.field("targets", array: { json in for figures in report.targets { json.figures(figures.summary) } })
            json.field("outages", array: { json in for outage in report.outages { json.outage(outage) } })
            json.field("hours", array: { json in for mapped in report.mapped { json.hours(mapped) } })
            json.field("probes", array: { json in for series in report.probes.value ?? [] { json.series(series) } })
            json.field("archives", array: { json in for series in report.archives { json.archive(series) } })
            json.field("lines", array: { json in for series in report.lines { json.line(series) } })
            json.key("queue")
            json.tally(report.queue.value)
            json.field(
                "metered", array: { json in for link in report.meteredBytes.value ?? [] { json.metered(link) } })
            json.field("not_recorded", object: { $0.absences(report) })
            json.field("notes", report.notes)
        }
    }

    private mutating func line(_ series: QualitySeries) {
        object { json in
            json.field("interface", series.interface)
            json.field("parts", array: { json in for part in series.parts where part.packets > 0 { json.part(part) } })
        }
    }

    private mutating func part(_ part: QualitySeries.Part) {
        object { json in
            json.field("from", part.from)
            json.field("to", part.to)
            json.field("packets", part.packets.wide)
            json.field("lost", part.lost.wide)
            json.field("low_us", part.trips?.low.microseconds)
            json.field("median_us", part.trips?.median.microseconds)
            json.field("high_us", part.trips?.high.microseconds)
        }
    }

    private mutating func figures(_ summary: HistorySummary) {
        object { json in
            json.field("target", summary.target)
            json.field("availability", share: summary.uptime)
            json.field("outages", summary.outages.count.wide)
            json.field("up_ms", summary.up.milliseconds)
            json.field("down_ms", summary.down.milliseconds)
            json.field("longest_ms", summary.longestOutage?.milliseconds)
            json.field("unknown_ms", summary.unknown.milliseconds)
            json.field("not_observed_ms", summary.notObserved.milliseconds)
        }
    }

    private mutating func outage(_ outage: RecordedOutage) {
        object { json in
            json.field("target", outage.target)
            json.field("from", outage.from)
            json.key("to")
            if outage.isOpen { json.value(nil) } else { json.value(outage.to) }
            json.field("down_ms", outage.duration.milliseconds)
            json.field("layer", outage.cause.layer.rawValue)
            json.field("evidence", outage.cause.evidence)
            json.field("root_cause", outage.rootCause)
            json.field("root_interface", outage.rootInterface)
            json.field("interface", outage.interface)
            json.field("class", outage.linkClass)
            json.field("sentence", outage.sentence)
            json.field("waiting", outage.waiting?.wide)
            json.field("gateway", outage.gateway)
            json.key("tests")
            if let tests = outage.tests { json.tests(tests) } else { json.value(nil) }
        }
    }

    private mutating func tests(_ tests: OutageEvidence) {
        object { json in
            json.field("outcome", tests.outcome)
            json.field("party", tests.party)
            json.field("text", tests.text)
            json.field("steps", tests.steps)
        }
    }

    private mutating func clock(_ clock: ClockFacts) {
        key("synchronized")
        if let isSynchronized = clock.isSynchronized { value(isSynchronized) } else { value(nil) }
        field("steps", clock.steps.wide)
        field("largest_step_ms", clock.largest.milliseconds)
    }

    private mutating func hours(_ mapped: Report.HourMapOfTarget) {
        object { json in
            json.field("target", mapped.target)
            json.field("earlier_days", mapped.map.earlierDays.wide)
            json.objects("days", mapped.map.days) { json, day in
                json.field("date", day.date)
                json.field("up_s", array: { json in for hour in day.hours { json.value(hour.up.whole) } })
                json.field(
                    "down_s", array: { json in for hour in day.hours { json.value(hour.down.whole) } })
            }
        }
    }

    private mutating func series(_ series: ProbeSeries) {
        object { json in
            json.field("probe", series.name)
            json.field("target", series.target)
            json.field("whole", object: { $0.part(series.whole) })
            json.field(
                "parts", array: { json in for part in series.parts { json.object { $0.part(part) } } })
        }
    }

    private mutating func part(_ part: ProbeSeries.Part) {
        field("from", part.from)
        field("to", part.to)
        field("ok", part.ok.wide)
        field("failed", part.failed.wide)
        field("inconclusive", part.inconclusive.wide)
        field("loss", share: part.loss)
        field("p50_us", part.median.map { $0.microseconds })
        field("p90_us", part.percentile90.map { $0.microseconds })
        field("p99_us", part.percentile99.map { $0.microseconds })
    }

    private mutating func archive(_ series: ArchiveSeries) {
        object { json in
            json.field("probe", series.name)
            json.field("target", series.target)
            json.field("whole", object: { $0.part(series.whole) })
            json.field("parts", array: { json in for part in series.parts { json.object { $0.part(part) } } })
        }
    }

    private mutating func part(_ part: ArchiveSeries.Part) {
        field("from", part.from)
        field("to", part.to)
        field("availability", share: part.availability)
        field("ok_ms", part.ok.milliseconds)
        field("fail_ms", part.fail.milliseconds)
        field("paused_ms", part.paused.milliseconds)
        field("inconclusive_ms", part.inconclusive.milliseconds)
        field("ok", part.answered.wide)
        field("failed", part.failed.wide)
        field("loss", share: part.loss)
        field("min_us", part.least?.microseconds)
        field("mean_us", part.mean?.microseconds)
        field("max_us", part.most?.microseconds)
    }

    private mutating func tally(_ tally: QueueTally?) {
        guard let tally else { return value(nil) }
        object { json in
            json.field("queued", tally.queued.wide)
            json.field("done", tally.done.wide)
            json.field("dead", tally.dead.wide)
            json.field("cancelled", tally.cancelled.wide)
            json.field("retries", tally.retries.wide)
            json.field("interrupted", tally.interrupted.wide)
            json.field("left", tally.left.wide)
            json.objects("deaths", tally.deaths.sorted { $0.key < $1.key }) { json, death in
                json.field("reason", death.key)
                json.field("count", death.value.wide)
            }
            json.field("median_wait_ms", tally.medianWait?.milliseconds)
            json.field("longest_wait_ms", tally.longestWait?.milliseconds)
        }
    }

    private mutating func metered(_ link: MeteredTraffic.Hour) {
        object { json in
            json.field("interface", link.interface as String?)
            json.field("class", link.linkClass as String?)
            json.field("received_bytes", link.received)
            json.field("sent_bytes", link.sent)
        }
    }

    private mutating func absences(_ report: Report) {
        if case .absent(let why) = report.probes { field("probes", why) }
        if case .absent(let why) = report.queue { field("queue", why) }
        if case .absent(let why) = report.meteredBytes { field("metered_bytes", why) }
    }
}

extension Double {
    fileprivate var whole: Int64 { Int64(rounded()) }
}
