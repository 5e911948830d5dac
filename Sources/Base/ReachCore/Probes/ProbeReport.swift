/// The state of a configured probe at one moment.
package struct ProbeReport: Hashable, Sendable {
    /// Whether the probe's target works, according to the results.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// No result has decided it yet.
        case unknown
        case up
        case down
    }

    /// The outcome of one attempt or pause, for a chart.
    package struct Beat: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case ok
            case fail
            case inconclusive
            /// Nothing was sent, because there was no path. One beat represents the whole pause.
            case paused
        }

        package let kind: Kind
        /// The duration of the attempt in microseconds; 0 for a pause.
        package let microseconds: UInt32

        package init(_ kind: Kind, microseconds: UInt32 = 0) {
            self.kind = kind
            self.microseconds = microseconds
        }
    }

    package var name: String
    /// The group that the configuration puts it in.
    package var group: String?
    package var target: String
    package var state: State
    /// When the current state began.
    package var since: Timestamp
    /// Why the probe is paused; `nil` if it runs.
    package var pause: ProbePause?
    package var interval: Duration
    /// When the next attempt is due; `nil` while paused.
    package var next: Timestamp?
    package var last: ProbeResult?
    package var uptime: ProbeUptime
    package var latency: ProbeLatency?
    /// The most recent beats, oldest first.
    package var beats: [Beat]

    package init(name: String, target: String, state: State, since: Timestamp, interval: Duration) {
        self.name = name
        self.target = target
        self.state = state
        self.since = since
        self.interval = interval
        uptime = ProbeUptime()
        beats = []
    }
}

/// The reason why a probe is paused.
package enum ProbePause: String, Hashable, Sendable, CaseIterable {
    /// There is no path to its target.
    case noPath = "no-path"
    /// The interface that the probe requires cannot carry packets.
    case interface
    /// The path's link is not of the class that the probe requires.
    case linkClass = "class"
    /// The path leads to another network than the probe requires.
    case network
    /// Using the path costs money, or may, and the probe requires one that does not.
    case metered
    /// The Internet does not answer over the path, or that is not proved and the probe requires it.
    case notValidated = "not-validated"
    /// The line is not as the probe requires, or not measured.
    case quality
    /// Its target is reached by a tunnel, past which the interface that the probe requires would send.
    case tunnel
}

/// Statistics of the durations of successful attempts.
package struct ProbeLatency: Hashable, Sendable {
    package var count: Int
    package var median: Duration
    package var percentile90: Duration
    package var percentile99: Duration

    package init(count: Int, median: Duration, percentile90: Duration, percentile99: Duration) {
        self.count = count
        self.median = median
        self.percentile90 = percentile90
        self.percentile99 = percentile99
    }
}

/// How long a probe's target worked and did not work, and for how long that was unknown.
package struct ProbeUptime: Hashable, Sendable {
    package var ok: Duration = .zero
    package var fail: Duration = .zero
    package var paused: Duration = .zero
    /// The time covered by attempts that proved nothing, and the time before the first attempt.
    package var inconclusive: Duration = .zero

    package init() {}

    /// The share of the known time in which the target worked, 0 to 1; `nil` if nothing is known.
    package var availability: Double? {
        let decided = ok + fail
        return decided > .zero ? ok / decided : nil
    }
}

/// An event of a configured probe, for subscribers and hooks.
package struct ProbeEvent: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The target works, for the first time or again.
        case up
        /// The target does not work.
        case down
        /// The probe paused, because there is no path.
        case paused
        /// The probe resumed, because there is a path again.
        case resumed
        /// One attempt ended. Sent only to subscribers that requested every result.
        case result
    }

    package let kind: Kind
    package let moment: Instant
    /// When the state that the event reports began, which may be earlier: it takes several results.
    package let since: Instant
    /// The state of the probe after the event.
    package let report: ProbeReport

    package init(_ kind: Kind, at moment: Instant, since: Instant? = nil, report: ProbeReport) {
        self.kind = kind
        self.moment = moment
        self.since = since ?? moment
        self.report = report
    }
}
