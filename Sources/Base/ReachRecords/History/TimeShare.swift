internal import ReachCore

/// How much of a period a target was up and down, in seconds; all are zero for a period of which nothing is asked, such
/// as an hour that the clocks skip.
package struct TimeShare: Hashable, Sendable {
    package var up = 0.0
    package var down = 0.0
    package var unknown = 0.0
    package var notObserved = 0.0

    package init(up: Double = 0, down: Double = 0, unknown: Double = 0, notObserved: Double = 0) {
        (self.up, self.down, self.unknown, self.notObserved) = (up, down, unknown, notObserved)
    }

    /// The share of the known time in which the target was down; `nil` if nothing is known.
    package var downShare: Double? { up + down > 0 ? down / (up + down) : nil }
    package var isEmpty: Bool { up + down + unknown + notObserved == 0 }

    package static func + (left: TimeShare, right: TimeShare) -> TimeShare {
        TimeShare(
            up: left.up + right.up, down: left.down + right.down, unknown: left.unknown + right.unknown,
            notObserved: left.notObserved + right.notObserved)
    }
}

extension TimeShare {
    /// The classes of a picture; each has a shape of its own, so that none needs a colour. Ten seconds of a day are no
    /// day without network, so the share that was down decides.
    package enum Level: Int, CaseIterable, Sendable {
        case none
        case notObserved
        case unknown
        case up
        /// Down for less than a fiftieth of the known time, for less than a quarter, for less than all of it, and for
        /// all.
        case briefly, partly, mostly, down

        package var words: String {
            switch self {
            case .none: "no such time"
            case .notObserved: "not observed"
            case .unknown: "unknown"
            case .up: "up"
            case .briefly: "down for less than 2 %"
            case .partly: "down for less than a quarter"
            case .mostly: "down for a quarter or more"
            case .down: "down"
            }
        }
    }

    package var level: Level {
        guard !isEmpty else { return .none }
        guard let share = downShare else { return unknown > notObserved ? .unknown : .notObserved }
        if down == 0 { return .up }
        if share >= 0.9995 { return .down }
        if share < 0.02 { return .briefly }
        return share < 0.25 ? .partly : .mostly
    }
}

extension TimeShare {
    /// What spans say of a period, in nanoseconds since 1970.
    ///
    /// - Parameter spans: In order; those before the period are left out.
    package init(of spans: ArraySlice<HistoryTimeline.Span>, from: Int64, to: Int64) {
        self.init()
        for span in spans {
            guard span.from.nanosecondsSince1970 < to else { break }
            let length = min(span.to.nanosecondsSince1970, to) - max(span.from.nanosecondsSince1970, from)
            guard length > 0 else { continue }
            let seconds = Double(length) / 1e9
            switch span.observation {
            case .up: up += seconds
            case .down: down += seconds
            case .unknown: unknown += seconds
            case .notObserved: notObserved += seconds
            }
        }
    }
}

extension TimeShare {
    /// What an archive's row says of its time.
    package init(_ row: ArchiveRow) {
        func seconds(_ parts: Int) -> Double { Double(parts) / Double(ArchiveRow.wholeTime) * Double(row.level.step) }
        self.init(up: seconds(row.ok), down: seconds(row.fail), unknown: seconds(row.paused + row.inconclusive))
    }
}

extension HistoryTimeline {
    /// What was up and down between each edge and the next.
    ///
    /// - Parameter edges: Times in order, in nanoseconds since 1970. What is outside the timeline counts as nothing.
    package func shares(between edges: [Int64]) -> [TimeShare] {
        var rest = spans[...]
        return zip(edges, edges.dropFirst()).map { from, to in
            while let span = rest.first, span.to.nanosecondsSince1970 <= from { rest.removeFirst() }
            return TimeShare(of: rest, from: from, to: to)
        }
    }
}
