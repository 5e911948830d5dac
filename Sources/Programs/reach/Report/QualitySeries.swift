internal import ReachCore
internal import ReachRecords

/// What one line was like in the period of a report, in parts of equal length.
struct QualitySeries {
    /// One part of the period. The percentiles are those of what was measured while the line was idle.
    struct Part {
        let from: Timestamp
        let to: Timestamp
        var packets = 0
        var lost = 0
        var trips: QualityPeriod.Trips?

        /// `nil` if nothing was measured.
        var loss: Double? { packets == 0 ? nil : Double(lost) / Double(packets) }
    }

    let interface: String
    let parts: [Part]
    /// The whole period as one part.
    let whole: Part

    private static let mostParts = 230
    /// What a line is measured for at a time, below which parts would have gaps.
    private static let shortestPart = Duration.seconds(300)

    /// The lines that were measured, by their names.
    static func list(_ log: HistoryLog, _ clock: HistoryClock, from: Timestamp, to: Timestamp) -> [QualitySeries] {
        var periods: [String: [(end: Timestamp, period: QualityPeriod)]] = [:]
        for entry in log.entries {
            guard case .quality(let period) = entry.content else { continue }
            let end = clock.time(of: entry)
            if end > from, end <= to { periods[period.interface, default: []].append((end, period)) }
        }
        return periods.sorted { $0.key < $1.key }.map { QualitySeries($0.key, $0.value, from: from, to: to) }
    }

    private init(
        _ interface: String, _ periods: [(end: Timestamp, period: QualityPeriod)], from: Timestamp, to: Timestamp
    ) {
        self.interface = interface
        let length = to.nanosecondsSince1970 - from.nanosecondsSince1970
        let count = Int64(max(1, min(Int64(Self.mostParts), length / Self.shortestPart.nanoseconds)))
        func time(_ number: Int64) -> Timestamp {
            // Not length * number, which overflows for long periods.
            Timestamp(nanosecondsSince1970: from.nanosecondsSince1970 + length / count * number)
        }
        var groups = [[QualityPeriod]](repeating: [], count: Int(count))
        for (end, period) in periods {
            let place = (end.nanosecondsSince1970 - from.nanosecondsSince1970 - 1) / max(1, length / count)
            groups[Int(min(max(0, place), count - 1))].append(period)
        }
        parts = groups.enumerated().map { number, group in
            Part(group, from: time(Int64(number)), to: time(Int64(number) + 1))
        }
        whole = Part(periods.map(\.period), from: from, to: to)
    }
}

extension QualitySeries.Part {
    fileprivate init(_ periods: [QualityPeriod], from: Timestamp, to: Timestamp) {
        self.init(
            from: from, to: to, packets: periods.reduce(0) { $0 + $1.packets }, lost: periods.reduce(0) { $0 + $1.lost }
        )
        let all = periods.compactMap(\.trips)
        let medians = all.map(\.median).sorted()
        guard !medians.isEmpty, let low = all.map(\.low).min(), let high = all.map(\.high).max() else { return }
        trips = QualityPeriod.Trips(low: low, median: medians[medians.count / 2], high: high)
    }
}

extension QualitySeries.Part {
    /// Packets, loss and percentiles, for people; `nil` for what is not known.
    var figures: [String?] {
        ["\(packets)", loss.map(PercentText.roundedUp)]
            + [trips?.low, trips?.median, trips?.high].map { $0.map(DurationText.milliseconds) }
    }
}
