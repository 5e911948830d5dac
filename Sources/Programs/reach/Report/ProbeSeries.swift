internal import ReachCore

/// The attempts of one probe in equal parts of a period.
struct ProbeSeries {
    struct Part: Hashable {
        let from: Timestamp
        let to: Timestamp
        var ok = 0
        var failed = 0
        var inconclusive = 0
        /// The durations of the attempts that were ok.
        var median: Duration?
        var percentile90: Duration?
        var percentile99: Duration?

        /// The share of the attempts that failed, of those that prove something; `nil` if none does.
        var loss: Double? { ok + failed > 0 ? Double(failed) / Double(ok + failed) : nil }
    }

    let name: String
    let target: String
    /// The parts in order, without a gap.
    let parts: [Part]
    /// All parts as one.
    let whole: Part

    /// An attempt, with its duration in microseconds.
    struct Attempt: Hashable {
        enum Outcome: Hashable { case ok, failed, inconclusive }

        let time: Timestamp
        var outcome: Outcome
        let microseconds: UInt32
    }

    init(_ name: String, target: String, _ attempts: [Attempt], from: Timestamp, to: Timestamp) {
        self.name = name
        self.target = target
        let width = Self.width(of: to.nanosecondsSince1970 - from.nanosecondsSince1970)
        var parts: [Part] = []
        var sorted = attempts.filter { from <= $0.time && $0.time < to }.sorted { $0.time < $1.time }[...]
        whole = Part(from: from, to: to, sorted)
        var start = from.nanosecondsSince1970
        while start < to.nanosecondsSince1970 {
            let end = min(start + width, to.nanosecondsSince1970)
            let inside = sorted.prefix { $0.time.nanosecondsSince1970 < end }
            sorted = sorted.dropFirst(inside.count)
            parts.append(
                Part(
                    from: Timestamp(nanosecondsSince1970: start), to: Timestamp(nanosecondsSince1970: end), inside))
            start = end
        }
        self.parts = parts
    }

    /// The most parts, so that the points of a chart do not touch.
    static let mostParts = 96
    /// Seconds that people count in.
    private static let widths: [Int64] = [60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000]

    /// The shortest of the widths of which at most ``mostParts`` fill the period, in nanoseconds.
    static func width(of period: Int64) -> Int64 {
        let nanoseconds = widths.map { $0 * 1_000_000_000 }
        return nanoseconds.first { period / $0 < Int64(mostParts) } ?? max(1, period / Int64(mostParts) + 1)
    }
}

extension ProbeSeries.Part {
    fileprivate init(from: Timestamp, to: Timestamp, _ attempts: some Sequence<ProbeSeries.Attempt>) {
        self.init(from: from, to: to)
        var durations: [UInt32] = []
        for attempt in attempts {
            switch attempt.outcome {
            case .ok:
                ok += 1
                durations.append(attempt.microseconds)
            case .failed: failed += 1
            case .inconclusive: inconclusive += 1
            }
        }
        durations.sort()
        // The smallest duration that at least this share of the attempts did not exceed.
        func percentile(_ share: Double) -> Duration? {
            guard !durations.isEmpty else { return nil }
            let rank = Int((share * Double(durations.count)).rounded(.up))
            return .microseconds(Int64(durations[max(0, rank - 1)]))
        }
        (median, percentile90, percentile99) = (percentile(0.5), percentile(0.9), percentile(0.99))
    }
}

extension ProbeSeries.Part {
    /// Attempts, loss and percentiles, for people; `nil` for what is not known.
    var figures: [String?] {
        ["\(ok + failed)", loss.map(PercentText.roundedUp)]
            + [median, percentile90, percentile99].map { $0.map(DurationText.milliseconds) }
    }
}
