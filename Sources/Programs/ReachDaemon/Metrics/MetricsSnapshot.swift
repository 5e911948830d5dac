internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe

/// The values of the metrics at one moment. Taking it on the engine's thread costs microseconds, since it shares the
/// large values; another thread writes it as text.
struct MetricsSnapshot: Sendable {
    let moment = SystemClock.now
    let version: String
    /// The states of the Internet and of the configured targets, with their names.
    var states: [(name: String, state: ReachabilityState)] = []
    var probes: [ProbeController.Entry] = []
    /// What is proved of the Internet over each link with a default route.
    var links: [String: LinkReport.Proof] = [:]
    var resyncs: UInt64 = 0
    /// Whether the kernel can be observed.
    var isObserving = true
    var control: ControlServer.Statistics?
    /// `nil` without a journal.
    var journal: JournalStatistics?
    /// `nil` where silence is not looked for.
    var silence: SilenceStatistics?
    /// `nil` without a queue.
    var queue: QueueMetrics?

    /// The metrics as text.
    func text(_ format: MetricWriter.Format = .prometheus) -> [UInt8] {
        var writer = MetricWriter(format)
        writeDaemon(&writer)
        writeTargets(&writer)
        if !links.isEmpty { writeLinks(&writer) }
        if !probes.isEmpty { writeProbes(&writer) }
        if let queue { writeQueue(queue, &writer) }
        writer.end()
        return writer.bytes
    }

    // MARK: - The daemon

    private func writeDaemon(_ writer: inout MetricWriter) {
        writer.family("reach_build_info", .gauge, "The version of reachd; always 1.")
        writer.sample([("version", version)], 1 as UInt64)
        writer.family("reach_kernel_observed", .gauge, "Whether the kernel can be observed.")
        writer.sample([], isObserving ? 1 as UInt64 : 0)
        writer.family(
            "reach_kernel_resyncs_total", .counter, "How often kernel notifications were lost and all was read again.")
        writer.sample([], resyncs)
        writer.family("reach_control_connections", .gauge, "Clients of the control socket.")
        writer.sample([], UInt64(control?.connections ?? 0))
        writer.family(
            "reach_control_dropped_events_total", .counter, "Events that clients were too slow to read.")
        writer.sample([], control?.droppedEvents ?? 0)
        if let journal { writeJournal(journal, &writer) }
        if let silence { writeSilence(silence, &writer) }
        let usage = ProcessUsage.now
        writer.family("process_cpu_seconds_total", .counter, "User and system CPU time spent in seconds.")
        writer.sample([], usage.cpuSeconds)
        writer.family("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.")
        writer.sample([], usage.residentBytes)
    }

    private func writeJournal(_ journal: JournalStatistics, _ writer: inout MetricWriter) {
        writer.family("reach_journal_bytes", .gauge, "Bytes of the journal's files.")
        writer.sample([], UInt64(max(0, journal.bytes)))
        writer.family("reach_journal_events_total", .counter, "Events written to the journal.")
        writer.sample([], journal.written)
        writer.family(
            "reach_journal_dropped_events_total", .counter, "Events that could not be written to the journal.")
        writer.sample([], journal.lost)
    }

    private func writeSilence(_ silence: SilenceStatistics, _ writer: inout MetricWriter) {
        writer.family(
            "reach_silence_surveys_total", .counter, "Looks at TCP sockets after a retransmission timeout.")
        writer.sample([], silence.surveys)
        writer.family("reach_silence_tests_total", .counter, "Tests of paths on which nothing was received any more.")
        writer.sample([], silence.tests)
        writer.family("reach_silence_found_total", .counter, "Tests that nothing answered, so the path was closed.")
        writer.sample([], silence.silent)
        writer.family(
            "reach_silence_calls_total", .counter, "Connections that tested whether a silent path answers again.")
        writer.sample([], silence.calls)
    }

    // MARK: - Links

    private func writeLinks(_ writer: inout MetricWriter) {
        let links = links.sorted { $0.key < $1.key }
        writer.family(
            "reach_link_connectivity", .gauge,
            "What checks have proved of the Internet over a link: 1 for the current result.")
        for (name, proof) in links {
            let words = Connectivity.allCases.map(\.rawValue)
            writer.states([("interface", name)], "connectivity", words, proof.connectivity.rawValue)
        }
        writer.family(
            "reach_link_round_trip_seconds", .gauge,
            "How long servers took to accept a connection over the link, at best.")
        for (name, proof) in links {
            if let time = proof.roundTrip { writer.sample([("interface", name)], time / .seconds(1)) }
        }
        writer.family("reach_link_checked_timestamp_seconds", .gauge, "When the last check over the link ended.")
        for (name, proof) in links {
            guard let time = proof.checked else { continue }
            writer.sample([("interface", name)], Double(time.nanosecondsSince1970) / 1e9)
        }
        writeQualities(links.compactMap { link in link.value.quality.map { (link.key, $0) } }, &writer)
        let traffic = links.compactMap { link in LinkCounters.traffic(of: link.key).map { (link.key, $0) } }
        writer.family("reach_link_received_bytes_total", .counter, "Bytes that came in over the link.")
        for (name, bytes) in traffic { writer.sample([("interface", name)], bytes.received) }
        writer.family("reach_link_sent_bytes_total", .counter, "Bytes that left over the link.")
        for (name, bytes) in traffic { writer.sample([("interface", name)], bytes.sent) }
    }

    private func writeQualities(_ links: [(name: String, quality: LineQuality)], _ writer: inout MetricWriter) {
        guard !links.isEmpty else { return }
        writer.family("reach_link_quality", .gauge, "What the line is like: 1 for the current word.")
        for (name, quality) in links {
            let words = LineQuality.Word.allCases.map(\.rawValue)
            writer.states([("interface", name)], "quality", words, quality.word.rawValue)
        }
        writer.family("reach_link_loss_ratio", .gauge, "The share of the line's packets that were lost.")
        for (name, quality) in links { writer.sample([("interface", name)], Double(quality.lossPermille) / 1000) }
        writer.family(
            "reach_link_line_seconds", .gauge,
            "The median of the line's round trips while it was idle, and their jitter.")
        for (name, quality) in links {
            for (figure, time) in [("round_trip", quality.roundTrip), ("jitter", quality.jitter)] {
                if let time { writer.sample([("interface", name), ("figure", figure)], time / .seconds(1)) }
            }
        }
    }

    // MARK: - Targets

    private func writeTargets(_ writer: inout MetricWriter) {
        if let epoch = states.map(\.state.epoch).max() {
            writer.family(
                "reach_network_epoch", .gauge, "Increases when the Internet's path, source or gateway changes.")
            writer.sample([], epoch)
        }
        writer.family(
            "reach_target_status", .gauge, "Whether the kernel has a path to the target: 1 for the current status.")
        for (name, state) in states {
            let words = ReachabilityStatus.allCases.map(\.rawValue)
            writer.states([("target", name)], "status", words, state.status.rawValue)
        }
        writer.family("reach_target_class", .gauge, "What kind of link carries the path: 1 for the current kind.")
        for (name, state) in states {
            let words = LinkClass.allCases.map(\.rawValue)
            writer.states([("target", name)], "class", words, state.linkClass?.rawValue)
        }
        writer.family(
            "reach_target_connectivity", .gauge, "What connectivity checks have proved: 1 for the current result.")
        for (name, state) in states {
            let words = Connectivity.allCases.map(\.rawValue)
            writer.states([("target", name)], "connectivity", words, state.connectivity.rawValue)
        }
        writer.family(
            "reach_target_connectivity_reason", .gauge,
            "Why the Internet does not answer, where more is proved: 1 for the current reason.")
        for (name, state) in states {
            let words = [Reason.nameNotResolved.rawValue]
            writer.states([("target", name)], "reason", words, state.connectivityReason?.rawValue)
        }
        writer.family("reach_target_metered", .gauge, "Whether the path costs money or is capped.")
        for (name, state) in states { writer.sample([("target", name)], state.isMetered ? 1 as UInt64 : 0) }
        writer.family("reach_target_status_since_timestamp_seconds", .gauge, "When the status last changed.")
        for (name, state) in states {
            writer.sample([("target", name)], Double(state.since.nanosecondsSince1970) / 1e9)
        }
        writer.family(
            "reach_target_flaps_total", .counter, "How often the target became unreachable and reachable again.")
        for (name, state) in states { writer.sample([("target", name)], UInt64(max(0, state.flaps))) }
    }
}

/// The CPU time and memory of this process, from the kernel.
struct ProcessUsage {
    var cpuSeconds = 0.0
    var residentBytes: UInt64 = 0

    static var now: ProcessUsage {
        var usage = ProcessUsage()
        var times = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &times) == 0 {
            usage.cpuSeconds = seconds(times.ru_utime) + seconds(times.ru_stime)
        }
        let words = SmallFile.words("/proc/self/statm")
        if words.count > 1, let pages = UInt64(words[1]) {
            usage.residentBytes = pages * UInt64(sysconf(CInt(_SC_PAGESIZE)))
        }
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
