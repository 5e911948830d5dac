internal import ReachCore

/// For how long hosts were reachable within a window of time. Of several hosts all times are sums.
package struct Availability: Hashable, Sendable {
    /// The window's time, of all hosts.
    package private(set) var total: Duration = .zero
    /// Away, as the hosts themselves say.
    package private(set) var confirmed: Duration = .zero
    /// Away, as the engine concludes.
    package private(set) var presumed: Duration = .zero
    /// Away in a time without alerts.
    package private(set) var quiet: Duration = .zero
    /// Not known: before a host was first heard of, and while it was switched off.
    package private(set) var unknown: Duration = .zero
    package private(set) var outages = 0
    package private(set) var longest: Duration = .zero

    package init() {}

    package var down: Duration { confirmed + presumed }
    package var up: Duration { total - down - quiet - unknown }

    /// The share of the known time in which the hosts were reachable, 0 to 1; `nil` if nothing is known.
    package var share: Double? {
        let known = up + down
        guard known > .zero else { return nil }
        return Self.seconds(up) / Self.seconds(known)
    }

    /// The hours of many hosts together are more nanoseconds than an integer has.
    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    package mutating func add(_ other: Availability) {
        total += other.total
        confirmed += other.confirmed
        presumed += other.presumed
        quiet += other.quiet
        unknown += other.unknown
        outages += other.outages
        longest = max(longest, other.longest)
    }
}

extension Availability {
    /// A span of time, in nanoseconds since 1970.
    package typealias Span = Range<Int64>

    /// Of one host.
    ///
    /// - Parameters:
    ///   - absences: The host's, the earliest first, without overlap.
    ///   - unknown: When nobody can know, apart from the absences, but for the time before the first of all.
    ///   - quiet: Times without alerts about it.
    package init(_ absences: [Absence], unknown spans: [Span] = [], in window: Span, quiet: [Span] = []) {
        self.init()
        let spans = Self.joined(spans)
        let first = spans.first.flatMap { $0.lowerBound <= window.lowerBound ? $0.upperBound : nil }
        let begin = max(window.lowerBound, first ?? .min)
        total = .nanoseconds(window.upperBound - window.lowerBound)
        unknown = Self.overlap(window, spans)
        guard begin < window.upperBound else { return }
        var quiet = Self.joined(quiet)[...]
        for absence in absences {
            let from = max(absence.start?.nanosecondsSince1970 ?? .min, begin)
            let to = min(absence.end?.nanosecondsSince1970 ?? .max, window.upperBound)
            guard from < to else { continue }
            let all = Duration.nanoseconds(to - from)
            guard !absence.isSwitchedOff else {
                unknown += all - Self.overlap(from..<to, spans)
                continue
            }
            quiet = quiet.drop { $0.upperBound <= from }
            let excused = Self.overlap(from..<to, quiet.prefix { $0.lowerBound < to })
            let counted = all - excused
            self.quiet += excused
            if absence.evidence == .confirmed { confirmed += counted } else { presumed += counted }
            guard counted > .zero else { continue }
            outages += 1
            longest = max(longest, counted)
        }
    }

    /// Spans that do not overlap, the earliest first.
    private static func joined(_ spans: [Span]) -> [Span] {
        spans.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { joined, span in
            if let last = joined.last, span.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
            } else if !span.isEmpty {
                joined.append(span)
            }
        }
    }

    private static func overlap(_ span: Span, _ others: some Sequence<Span>) -> Duration {
        others.reduce(.zero) { sum, other in
            guard other.overlaps(span) else { return sum }
            let both = span.clamped(to: other)
            return sum + .nanoseconds(both.upperBound - both.lowerBound)
        }
    }
}
