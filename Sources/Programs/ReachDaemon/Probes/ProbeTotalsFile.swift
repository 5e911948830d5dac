internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachRecords

/// The file that keeps the totals of probes over a restart: `probes.jsonl` in the state directory, an object for each
/// probe.
///
/// It is replaced as a whole every fifteen minutes and at an orderly stop. A line that cannot be read counts as no
/// line: these are statistics, and probes do not depend on them.
struct ProbeTotalsFile: Sendable {
    let path: String

    /// Beyond this size nothing is read: it is not the daemon's file.
    private static let sizeLimit = 64 << 20

    private let directory: String
    /// Receives a line about what could not be archived at a time.
    private let onTrouble: @Sendable (String) -> Void

    init(stateDirectory: String, onTrouble: @escaping @Sendable (String) -> Void = { _ in }) {
        directory = stateDirectory
        path = stateDirectory + "/probes.jsonl"
        self.onTrouble = onTrouble
    }

    /// Blocks on the disk.
    func read() -> [ProbeTotals.Key: ProbeTotals] {
        guard let text = SmallFile.text(path, limit: Self.sizeLimit) else { return [:] }
        var all: [ProbeTotals.Key: ProbeTotals] = [:]
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let json = try? JSONReader.read(Array(line)), json["v"]?.integer == 1,
                let name = json["probe"]?.string, let target = json["target"]?.string
            else { continue }
            all[ProbeTotals.Key(name: name, target: target)] = ProbeTotals(json)
        }
        return all
    }

    /// Adds to the archives of probes. What cannot be written is lost. Blocks on the disk.
    func archive(_ all: [ProbeController.Archived]) {
        var trouble: (count: Int, error: SystemError)?
        for archived in all {
            do throws(SystemError) {
                try ProbeArchiveFile(directory: directory, probe: archived.probe)
                    .add(archived.rows, target: archived.target)
            } catch {
                trouble = ((trouble?.count ?? 0) + 1, trouble?.error ?? error)
            }
        }
        if let (count, error) = trouble { onTrouble("results of \(count) probes are not archived: \(error)") }
    }

    /// Blocks on the disk.
    func write(_ all: [(key: ProbeTotals.Key, totals: ProbeTotals)]) throws(SystemError) {
        var writer = JSONWriter()
        for (key, totals) in all {
            totals.write(key, to: &writer)
            writer.newline()
        }
        try AtomicFile.replace(path, with: writer.bytes, isSynced: false)
    }
}

extension ProbeTotals {
    fileprivate func write(_ key: Key, to writer: inout JSONWriter) {
        writer.object { json in
            json.field("v", 1)
            json.field("probe", key.name)
            json.field("target", key.target)
            json.field("counts", array: { Self.write([counts.ok, counts.fail, counts.inconclusive], to: &$0) })
            json.field(
                "uptime_ns",
                array: { array in
                    for time in [uptime.ok, uptime.fail, uptime.paused, uptime.inconclusive] {
                        array.value(time.nanoseconds)
                    }
                })
            json.key("latency")
            Self.write(latency, to: &json)
            json.field(
                "phases",
                object: { object in
                    for phase in ProbePhase.allCases {
                        guard let histogram = phases[phase.place] else { continue }
                        object.key(named: phase.rawValue)
                        Self.write(histogram, to: &object)
                    }
                })
            json.field(
                "beats",
                array: { array in
                    for beat in beats {
                        array.array {
                            $0.value(beat.kind.rawValue)
                            $0.value(Int64(beat.microseconds))
                        }
                    }
                })
        }
    }

    private static func write(_ numbers: [UInt64], to array: inout JSONWriter) {
        for number in numbers { array.value(Int64(clamping: number)) }
    }

    /// The sum, and then place and count of each bucket that has any.
    private static func write(_ histogram: LatencyHistogram, to json: inout JSONWriter) {
        json.array { array in
            array.value(histogram.sum.nanoseconds)
            for (place, count) in histogram.filled {
                array.value(Int64(place))
                array.value(Int64(count))
            }
        }
    }

    /// - Returns: `nil` if any part is not as it is written.
    fileprivate init?(_ json: JSONValue) {
        self.init()
        guard let counts = json["counts"]?.array?.compactMap(\.integer).map({ UInt64(clamping: $0) }),
            counts.count == 3,
            let times = json["uptime_ns"]?.array?.compactMap(\.integer).map({ Duration.nanoseconds(max(0, $0)) }),
            times.count == 4, let latency = json["latency"].flatMap({ Self.histogram($0, .fine) })
        else { return nil }
        (self.counts.ok, self.counts.fail, self.counts.inconclusive) = (counts[0], counts[1], counts[2])
        (uptime.ok, uptime.fail, uptime.paused, uptime.inconclusive) = (times[0], times[1], times[2], times[3])
        self.latency = latency
        for phase in ProbePhase.allCases {
            guard let json = json["phases"]?[phase.rawValue] else { continue }
            guard let histogram = Self.histogram(json, .prometheus) else { return nil }
            phases[phase.place] = histogram
        }
        for beat in json["beats"]?.array ?? [] {
            guard let parts = beat.array, parts.count == 2, let word = parts[0].string,
                let kind = ProbeReport.Beat.Kind(rawValue: word), let time = parts[1].integer
            else { return nil }
            beats.append(ProbeReport.Beat(kind, microseconds: UInt32(clamping: time)))
        }
        beats = beats.suffix(ProbeRecord.beatsKept)
    }

    private static func histogram(_ json: JSONValue, _ bounds: LatencyHistogram.Bounds) -> LatencyHistogram? {
        guard let numbers = json.array?.compactMap(\.integer), numbers.count % 2 == 1, let sum = numbers.first,
            sum >= 0
        else { return nil }
        let filled = stride(from: 1, to: numbers.count, by: 2).map { index in
            (place: Int(clamping: numbers[index]), count: UInt32(clamping: numbers[index + 1]))
        }
        return LatencyHistogram(bounds, filled: filled, sum: .nanoseconds(sum))
    }
}

/// Writes the totals of probes, and what they have for their archives, as long as they run. Confined to the loop.
final class ProbeTotalsWriter {
    /// How much a crash may lose. The history has the same interval.
    private static let interval: Duration = .seconds(900)

    private let file: ProbeTotalsFile
    private let loop: EventLoop
    private let thread = SerialThread.files
    private weak var controller: ProbeController?
    private var timer: TimerQueue.ID?
    /// Writes what there was at the end.
    private var last: (() -> Void)?

    init(_ file: ProbeTotalsFile, on loop: EventLoop) { (self.file, self.loop) = (file, loop) }

    /// - Returns: The totals of earlier runs.
    func begin(with controller: ProbeController) -> [ProbeTotals.Key: ProbeTotals] {
        self.controller = controller
        schedule()
        return file.read()
    }

    func end() {
        timer.map(loop.cancel)
        last = work()
    }

    /// Writes what there was at the end. Blocks on the disk.
    func save() { last?() }

    private func schedule() {
        timer = loop.schedule(at: SystemClock.boot + Self.interval) { [weak self] in
            guard let self, let work = work() else { return }
            thread.run(work)
            schedule()
        }
    }

    private func work() -> (@Sendable () -> Void)? {
        guard let controller else { return nil }
        let now = SystemClock.now
        let (totals, archived) = (controller.totals(at: now), controller.drainArchives(at: now))
        return { [file] in
            try? file.write(totals)
            file.archive(archived)
        }
    }
}
