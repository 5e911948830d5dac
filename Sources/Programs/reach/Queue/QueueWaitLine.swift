internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachTerminal

/// The state of an awaited request, as one line.
struct QueueWaitLine {
    private var explanation: RequestReport?
    private var links: [String] = []
    private var progress: AttemptProgress?
    private var rate = TransferRate()
    /// The reason why the state is unknown.
    var away: String?

    mutating func update(_ explanation: RequestReport, links: [LinkReport], at now: BootTime) {
        self.explanation = explanation
        self.links = Self.candidates(links, for: explanation)
        if let running = explanation.running { update(running, at: now) } else { progress = nil }
    }

    mutating func update(_ progress: AttemptProgress, at now: BootTime) {
        if self.progress?.began != progress.began { rate = TransferRate() }
        self.progress = progress
        rate.add(progress.bytes.sent + progress.bytes.received, at: now)
    }

    /// At most `width` - 1 columns, since a terminal may wrap after the last one.
    func text(_ words: QueueText, _ bar: QueueProgressText, width: Int, at now: Instant) -> String {
        let width = max(1, width - 1)
        if let away { return cut(DisplayText.sanitized("\(away); reconnecting"), width) }
        if let progress { return bar.line(progress, rate: rate.bytesPerSecond(at: now.boot), width: width) }
        guard let explanation else { return "" }
        return cut(words.waiting(explanation, links: links, at: now), width)
    }

    private func cut(_ text: String, _ width: Int) -> String {
        DisplayWidth.cut(text, to: width, mark: TerminalStyle.isUnicode ? "…" : "~")
    }

    /// Links that would satisfy the condition if they worked, with their faults: `wlan0 no-carrier`.
    private static func candidates(_ links: [LinkReport], for explanation: RequestReport) -> [String] {
        let condition = explanation.condition
        let fitting = links.filter { report in
            report.linkClass != .loopback && !report.isBackground && condition.wouldAllow(report, among: links)
        }
        return fitting.compactMap { report in
            report.trouble.map { trouble in
                "\(report.link.name) \(report.link.isUp ? trouble.rawValue : "down")"
            }
        }.prefix(2).map { $0 }
    }
}

/// The recent rate in bytes per second, from samples of a count.
struct TransferRate {
    /// The time that is averaged: long enough that the rate does not jump, short enough that a stall is visible.
    private static let window: Duration = .seconds(5)

    private var samples: [(time: BootTime, bytes: Int64)] = []

    /// Adds a sample. A lower count than before is a new attempt, which starts again.
    mutating func add(_ bytes: Int64, at time: BootTime) {
        if let last = samples.last, bytes < last.bytes || time < last.time { samples = [] }
        samples.append((time, bytes))
        while samples.count > 2, samples[1].time + Self.window < time { samples.removeFirst() }
    }

    /// - Returns: `nil` until there are two samples.
    func bytesPerSecond(at now: BootTime) -> Int64? {
        guard let first = samples.first, let last = samples.last, samples.count > 1 else { return nil }
        // The time since the last sample counts too, so a stall lowers the rate.
        let milliseconds = (max(now, last.time) - first.time).nanoseconds / 1_000_000
        return milliseconds > 0 ? (last.bytes - first.bytes) * 1000 / milliseconds : nil
    }
}
