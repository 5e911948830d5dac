internal import ReachCore
internal import ReachLoop
internal import ReachProbe

extension MetricsSnapshot {
    func writeProbes(_ writer: inout MetricWriter) {
        writeStates(&writer)
        writeResults(&writer)
        writeBursts(&writer)
        writeTimes(&writer)
        writePhases(&writer)
    }

    private func each(_ body: (ProbeRecord, MetricLabels) -> Void) {
        for entry in probes { body(entry.record, entry.record.labels) }
    }

    private func writeStates(_ writer: inout MetricWriter) {
        writer.family("reach_probe_info", .gauge, "What the probe is sent to; always 1.")
        each { record, labels in
            let target = record.specification.target
            writer.sample(labels + [("kind", target.kind.rawValue), ("target", target.description)], 1 as UInt64)
        }
        writer.family("reach_probe_up", .gauge, "Whether the target is up; missing until results have decided.")
        each { record, labels in
            if record.state != .unknown { writer.sample(labels, record.state == .up ? 1 as UInt64 : 0) }
        }
        writer.family("reach_probe_paused", .gauge, "Whether the probe is paused because there is no path.")
        each { writer.sample($1, $0.pause == nil ? 0 as UInt64 : 1) }
    }

    private func writeResults(_ writer: inout MetricWriter) {
        writer.family("reach_probe_results_total", .counter, "Attempts by outcome.")
        each { record, labels in
            writer.sample(labels + [("outcome", "ok")], record.counts.ok)
            writer.sample(labels + [("outcome", "fail")], record.counts.fail)
            writer.sample(labels + [("outcome", "inconclusive")], record.counts.inconclusive)
        }
        writer.family(
            "reach_probe_skipped_total", .counter, "Attempts skipped because the previous one was still running.")
        for entry in probes { writer.sample(entry.record.labels, entry.skipped) }
        writer.family("reach_probe_last_duration_seconds", .gauge, "How long the latest attempt took.")
        each { record, labels in record.last.map { writer.sample(labels, $0.duration.inSeconds) } }
        writer.family("reach_probe_http_status_code", .gauge, "The HTTP status of the latest attempt.")
        each { record, labels in
            if let status = record.last?.httpStatus { writer.sample(labels, Double(status)) }
        }
        writer.family(
            "reach_probe_certificate_end_timestamp_seconds", .gauge, "When the server's certificate expires.")
        each { record, labels in
            record.last?.certificateEnd.map { writer.sample(labels, Double($0.nanosecondsSince1970 / 1_000_000_000)) }
        }
    }

    /// Only of probes whose attempts send several requests.
    private func writeBursts(_ writer: inout MetricWriter) {
        guard probes.contains(where: { $0.record.specification.burst != nil }) else { return }
        writer.family("reach_probe_packets_total", .counter, "Requests of bursts by their end.")
        each { record, labels in
            guard record.specification.burst != nil else { return }
            writer.sample(labels + [("end", "answered")], record.packets.sent - record.packets.lost)
            writer.sample(labels + [("end", "lost")], record.packets.lost)
        }
        writer.family("reach_probe_loss_ratio", .gauge, "The share of the latest burst's requests that were lost.")
        each { record, labels in record.last?.burst?.lossShare.map { writer.sample(labels, $0) } }
        writer.family("reach_probe_jitter_seconds", .gauge, "The jitter of the latest burst's round trips.")
        each { record, labels in record.last?.burst?.trips.map { writer.sample(labels, $0.jitter.inSeconds) } }
        writer.family("reach_probe_round_trip_seconds", .gauge, "The round trips of the latest burst.")
        each { record, labels in
            guard let trips = record.last?.burst?.trips else { return }
            for (figure, time) in trips.figures { writer.sample(labels + [("figure", figure)], time.inSeconds) }
        }
    }

    private func writeTimes(_ writer: inout MetricWriter) {
        writer.family(
            "reach_probe_observed_seconds_total", .counter, "How long the latest result was of each kind.")
        each { record, labels in
            let uptime = record.uptime(at: moment.boot)
            writer.sample(labels + [("result", "ok")], uptime.ok.inSeconds)
            writer.sample(labels + [("result", "fail")], uptime.fail.inSeconds)
            writer.sample(labels + [("result", "paused")], uptime.paused.inSeconds)
            writer.sample(labels + [("result", "inconclusive")], uptime.inconclusive.inSeconds)
        }
        writer.family("reach_probe_latency_seconds", .summary, "How long successful attempts took.")
        each { record, labels in
            for (quantile, fraction) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)] {
                let value = record.latency.percentile(fraction)?.inSeconds ?? .nan
                writer.sample(labels + [("quantile", quantile)], value)
            }
            writer.sample(labels, record.latency.sum.inSeconds, suffix: "_sum")
            writer.sample(labels, record.latency.count, suffix: "_count")
        }
    }

    private func writePhases(_ writer: inout MetricWriter) {
        writer.family(
            "reach_probe_phase_duration_seconds", .histogram,
            "How long each phase took, over the attempts that reached it.")
        let ends = LatencyHistogram.Bounds.prometheus.seconds.map { [("le", $0.description)] as MetricLabels }
        each { record, labels in
            for phase in ProbePhase.allCases {
                guard let histogram = record.phases[phase.place] else { continue }
                writer.histogram(labels + [("phase", phase.rawValue)], histogram, ends: ends + [[("le", "+Inf")]])
            }
        }
    }
}

extension ProbeRecord {
    /// The labels of a probe's metrics.
    fileprivate var labels: MetricLabels {
        let labels: MetricLabels = [("probe", specification.name)]
        return specification.group.map { labels + [("group", $0)] } ?? labels
    }
}

extension MetricWriter {
    fileprivate mutating func histogram(
        _ labels: MetricLabels, _ histogram: LatencyHistogram, ends: [MetricLabels]
    ) {
        var total: UInt64 = 0
        for (count, end) in zip(histogram.counts, ends) {
            total += UInt64(count)
            sample(labels + end, total, suffix: "_bucket")
        }
        sample(labels, histogram.sum.inSeconds, suffix: "_sum")
        sample(labels, histogram.count, suffix: "_count")
    }
}
