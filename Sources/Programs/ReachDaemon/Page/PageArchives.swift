internal import ReachControl
internal import ReachCore
internal import ReachRecords
internal import Synchronization

/// The days of probes from their archives, for what the history does not have any more. Past days do not change, so a
/// probe's archive, a MiB, is read once a day.
final class PageArchives: Sendable {
    private struct Days {
        let edges: [Int64]
        let shares: [TimeShare]
    }

    private let days = Mutex<[String: Days]>([:])

    /// The shares between edges by the names of probes that have an archive. Blocks on the disk.
    func shares(of probes: [String], between edges: [Int64], in directory: String) -> [String: [TimeShare]] {
        days.withLock { days in
            let kept = days.filter { $0.value.edges == edges }
            var found: [String: Days] = [:]
            for probe in Set(probes).intersection(ProbeArchiveFile.probes(in: directory)) {
                if let known = kept[probe] {
                    found[probe] = known
                } else if let archive = ProbeArchiveFile(directory: directory, probe: probe).read() {
                    found[probe] = Days(edges: edges, shares: Self.shares(archive, between: edges))
                }
            }
            days = found
            return found.mapValues(\.shares)
        }
    }

    /// - Parameter edges: In nanoseconds since 1970, with more than a row between two.
    static func shares(_ archive: ProbeArchive, between edges: [Int64]) -> [TimeShare] {
        let fine = archive.rows[.tenMinutes] ?? []
        let coarse = (archive.rows[.twoHours] ?? []).filter { row in fine.first.map { row.to <= $0.from } ?? true }
        var shares = [TimeShare](repeating: TimeShare(), count: max(0, edges.count - 1))
        for row in coarse + fine {
            let middle = row.from.nanosecondsSince1970 + row.level.step * 500_000_000
            let cell = edges.partitioningIndex { $0 > middle } - 1
            if shares.indices.contains(cell) { shares[cell] = shares[cell] + TimeShare(row) }
        }
        return shares
    }
}
