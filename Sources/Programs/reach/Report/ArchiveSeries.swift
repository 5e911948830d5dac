internal import ReachControl
internal import ReachCore
internal import ReachRecords

/// What the archive has of one probe, in equal parts of a period.
struct ArchiveSeries {
    struct Part: Hashable {
        let from: Timestamp
        let to: Timestamp
        /// How long the latest result was of each kind; what is left was not observed.
        var ok: Duration = .zero
        var fail: Duration = .zero
        var paused: Duration = .zero
        var inconclusive: Duration = .zero
        var answered = 0
        var failed = 0
        /// The share of requests that were lost; `nil` without an attempt.
        var loss: Double?
        /// The durations of attempts that were ok; `nil` without any.
        var least: Duration?
        var mean: Duration?
        var most: Duration?

        /// The share of the known time in which the target worked; `nil` if nothing is known.
        var availability: Double? { ok + fail > .zero ? ok / (ok + fail) : nil }
    }

    let name: String
    let target: String
    /// The parts in order, without a gap.
    let parts: [Part]
    /// All parts as one.
    let whole: Part

    /// - Parameter now: The present, since which finer rows are kept for a time only.
    init(_ archive: ProbeArchive, from: Timestamp, to: Timestamp, now: Timestamp) {
        (name, target) = (archive.probe, archive.target)
        let second: Int64 = 1_000_000_000
        let (start, end) = (from.nanosecondsSince1970, to.nanosecondsSince1970)
        var width = ProbeSeries.width(of: end - start)
        // The finest rows that still have the beginning, but none finer than the parts; those are all in the coarser
        // ones, too.
        let age = now.nanosecondsSince1970 - start
        let kept = ArchiveLevel.allCases.filter { age <= $0.step * Int64($0.capacity) * second }
        let level =
            kept.last { $0.step * second <= width } ?? kept.first ?? .twoHours
        width = max(width, level.step * second)
        var rows = (archive.rows[level] ?? []).filter { $0.from < to && from < $0.to }[...]
        whole = Part(from: from, to: to, rows)
        var parts: [Part] = []
        var place = start
        while place < end {
            let limit = min(place + width, end)
            // A row belongs to the part that has its middle.
            let half = level.step * second / 2
            let inside = limit == end ? rows : rows.prefix { $0.from.nanosecondsSince1970 + half < limit }
            rows = rows.dropFirst(inside.count)
            parts.append(
                Part(
                    from: Timestamp(nanosecondsSince1970: place), to: Timestamp(nanosecondsSince1970: limit), inside))
            place = limit
        }
        self.parts = parts
    }

    /// Reads the archives in the directory of the history, of those probes that were observed in a period. Blocks on
    /// the disk.
    static func read(in directory: String, from: Timestamp, to: Timestamp, now: Timestamp) -> [ArchiveSeries] {
        ProbeArchiveFile.probes(in: directory).compactMap { probe in
            let archive = ProbeArchiveFile(directory: directory, probe: probe).read()
            return archive.map { ArchiveSeries($0, from: from, to: to, now: now) }
        }.filter { $0.parts.contains { $0.availability != nil || $0.paused > .zero } }
    }
}

extension ArchiveSeries.Part {
    fileprivate init(from: Timestamp, to: Timestamp, _ rows: ArraySlice<ArchiveRow>) {
        self.init(from: from, to: to)
        var (lost, sum) = (0, 0)
        for row in rows {
            // A row's time in its own parts.
            func time(_ parts: Int) -> Duration { .seconds(row.level.step) * parts / ArchiveRow.wholeTime }
            (ok, fail) = (ok + time(row.ok), fail + time(row.fail))
            (paused, inconclusive) = (paused + time(row.paused), inconclusive + time(row.inconclusive))
            (answered, failed) = (answered + row.answered, failed + row.failed)
            lost += row.lost * (row.answered + row.failed)
            guard row.answered > 0 else { continue }
            sum += row.mean * row.answered
            least = min(least ?? .microseconds(row.least), .microseconds(row.least))
            most = max(most ?? .zero, .microseconds(row.most))
        }
        if answered + failed > 0 { loss = Double(lost) / 10_000 / Double(answered + failed) }
        if answered > 0 { mean = .microseconds(sum / answered) }
    }
}

extension ArchiveSeries.Part {
    /// The class of its cell in a picture.
    var level: TimeShare.Level {
        let second = Duration.seconds(1)
        return TimeShare(
            up: ok / second, down: fail / second, unknown: (paused + inconclusive) / second,
            notObserved: ok + fail + paused + inconclusive > .zero ? 0 : 1
        ).level
    }
}

extension ArchiveSeries.Part {
    var available: String? { availability.map(PercentText.roundedDown) }

    /// Attempts, loss and durations, for people; `nil` for what is not known.
    var figures: [String?] {
        ["\(answered + failed)", loss.map(PercentText.roundedUp)]
            + [least, mean, most].map { $0.map(DurationText.milliseconds) }
    }
}
