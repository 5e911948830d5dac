internal import ReachCore
internal import ReachProbe

/// The metrics of one attempt, with the names and values of prometheus-blackbox-exporter, so that dashboards and alerts
/// for it fit.
enum ScrapeText {
    /// - Parameter duration: From the beginning of the attempt to its end.
    static func metrics(
        of result: ProbeResult, _ specification: ProbeSpecification, duration: Duration
    ) -> [UInt8] {
        var writer = MetricWriter()
        func gauge(_ name: StaticString, _ help: StaticString, _ value: Double) {
            writer.family(name, .gauge, help)
            writer.sample([], value)
        }
        let phases = result.phases
        gauge(
            "probe_dns_lookup_time_seconds", "How long the resolution of the name took.",
            phases[.resolve]?.inSeconds ?? 0)
        gauge("probe_duration_seconds", "How long the attempt took.", duration.inSeconds)
        if let address = result.address {
            gauge("probe_ip_addr_hash", "A hash of the address that was used.", Double(hash(of: address)))
        }
        gauge(
            "probe_ip_protocol", "Whether that address is one of IPv4 or IPv6; 0 without one.",
            result.address.map { $0.family == .ipv4 ? 4 : 6 } ?? 0)
        switch specification.target.kind {
        case .http, .https: web(result, &writer)
        case .icmp: echoes(result, &writer)
        case .tcp, .tls, .dns: break
        }
        if let end = result.certificateEnd {
            gauge(
                "probe_ssl_earliest_cert_expiry", "When the first certificate expires, in seconds since 1970.",
                Double(end.nanosecondsSince1970 / 1_000_000_000))
        }
        if case .inconclusive = result.outcome {
            gauge("reach_probe_inconclusive", "That this machine could not test the target.", 1)
        }
        gauge("probe_success", "Whether the target fulfilled all expectations.", result.outcome == .ok ? 1 : 0)
        return writer.bytes
    }

    private static func web(_ result: ProbeResult, _ writer: inout MetricWriter) {
        writer.family("probe_failed_due_to_regex", .gauge, "Whether the body is not as expected.")
        writer.sample([], result.outcome == .fail(.body) ? 1 as UInt64 : 0)
        writer.family("probe_http_duration_seconds", .gauge, "How long each phase took.")
        for phase in ProbePhase.allCases {
            writer.sample([("phase", phase.rawValue)], result.phases[phase]?.inSeconds ?? 0)
        }
        writer.family("probe_http_redirects", .gauge, "How many redirects were followed.")
        writer.sample([], 0 as UInt64)
        writer.family("probe_http_ssl", .gauge, "Whether the answer came by TLS.")
        writer.sample([], result.phases[.tls] != nil ? 1 as UInt64 : 0)
        writer.family("probe_http_status_code", .gauge, "The status of the answer; 0 without one.")
        writer.sample([], UInt64(result.httpStatus ?? 0))
    }

    private static func echoes(_ result: ProbeResult, _ writer: inout MetricWriter) {
        writer.family("probe_icmp_duration_seconds", .gauge, "How long each phase took.")
        writer.sample([("phase", "resolve")], result.phases[.resolve]?.inSeconds ?? 0)
        // The socket is made while the time of the round trip does not run.
        writer.sample([("phase", "setup")], 0.0)
        writer.sample([("phase", "rtt")], result.phases[.processing]?.inSeconds ?? 0)
        guard let burst = result.burst, let loss = burst.lossShare else { return }
        writer.family("reach_probe_loss_ratio", .gauge, "The share of requests that were lost.")
        writer.sample([], loss)
        guard let trips = burst.trips else { return }
        writer.family("reach_probe_jitter_seconds", .gauge, "The jitter of the round trips.")
        writer.sample([], trips.jitter.inSeconds)
        writer.family("reach_probe_round_trip_seconds", .gauge, "The round trips.")
        for (figure, time) in trips.figures { writer.sample([("figure", figure)], time.inSeconds) }
    }

    /// FNV-1a, as the other exporter has it: a change means that another address answers.
    private static func hash(of address: IPAddress) -> UInt32 {
        address.bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}

extension Duration {
    /// The duration as Prometheus has it.
    var inSeconds: Double { self / .seconds(1) }
}

extension ProbeBurst.Trips {
    /// The round trips with their names in labels.
    var figures: [(name: String, time: Duration)] {
        [("min", least), ("p50", median), ("p90", percentile90), ("max", most)]
    }
}
