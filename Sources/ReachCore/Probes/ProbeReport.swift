/// What is known of a configured probe at one moment.
package struct ProbeReport: Hashable, Sendable {
    /// What its results say of what it probes.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// No result has decided yet.
        case unknown
        case up
        case down
    }

    /// What became of one tick, for a chart.
    package struct Beat: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case ok
            case fail
            case inconclusive
            /// Nothing was sent, since there was no path: stands for the whole pause.
            case paused
        }

        package let kind: Kind
        /// How long the attempt took, in microseconds; 0 for a pause.
        package let microseconds: UInt32

        package init(_ kind: Kind, microseconds: UInt32 = 0) {
            self.kind = kind
            self.microseconds = microseconds
        }
    }

    package var name: String
    package var target: String
    package var state: State
    /// Since when the state has been what it is.
    package var since: Timestamp
    /// Why nothing is sent at the moment; `nil` if the probe runs.
    package var pause: ProbePause?
    package var interval: Duration
    /// When the next attempt is due; `nil` while paused.
    package var next: Timestamp?
    package var last: ProbeResult?
    package var uptime: ProbeUptime
    package var latency: ProbeLatency?
    /// The latest, oldest first.
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

/// Why a probe sends nothing.
package enum ProbePause: String, Hashable, Sendable, CaseIterable {
    /// There is no path to its target.
    case noPath = "no-path"
    /// The interface that it must go by cannot carry packets.
    case interface
    /// The path goes by a link of another class than it must go by.
    case linkClass = "class"
}

/// How long the attempts that succeeded took.
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

/// How long a probe's target was seen well and not well, with the time apart in which nobody could tell.
package struct ProbeUptime: Hashable, Sendable {
    package var ok: Duration = .zero
    package var fail: Duration = .zero
    package var paused: Duration = .zero
    /// Attempts that proved nothing, and the time before the first.
    package var inconclusive: Duration = .zero

    package init() {}

    /// From 0 to 1, of the time in which it was known; `nil` if it never was.
    package var availability: Double? {
        let known = ok + fail
        return known > .zero ? ok / known : nil
    }
}
