internal import CReachLinux
internal import ReachCore
internal import ReachRecords

/// What a provider asks beside the outages: over which links the machine was connected, by which routers, and whether
/// its clock was right.
struct ReportFacts {
    /// How long a link was the path of the leading target.
    struct LinkShare: Hashable {
        let interface: String
        let linkClass: String?
        var duration: Duration
        /// Of the time in which there was a path.
        var share: Double
    }

    /// A router of the leading target's path.
    struct Gateway: Hashable {
        let address: String
        let interface: String?
    }

    /// Most first.
    private(set) var links: [LinkShare] = []
    /// In the order of their first use in the period.
    private(set) var gateways: [Gateway] = []
    let clock: ClockFacts

    private static let mostGateways = 16

    init(_ figures: Report.TargetFigures?, _ source: HistorySource, clock: ClockFacts) {
        self.clock = clock
        guard let timeline = figures?.timeline else { return }
        var durations: [LinkShare] = []
        for passage in timeline.passages {
            let length = Duration.nanoseconds(
                passage.to.nanosecondsSince1970 - passage.from.nanosecondsSince1970)
            let name = passage.interface ?? "unknown"
            if let place = durations.firstIndex(where: { $0.interface == name && $0.linkClass == passage.linkClass }) {
                durations[place].duration += length
            } else {
                durations.append(LinkShare(interface: name, linkClass: passage.linkClass, duration: length, share: 0))
            }
        }
        let whole = durations.reduce(Duration.zero) { $0 + $1.duration }
        links = durations.sorted { $0.duration > $1.duration }.map {
            var link = $0
            link.share = whole > .zero ? link.duration / whole : 0
            return link
        }
        let states = source.states(of: timeline.target)
        // The state in which the period begins is one before it.
        let first = max(0, states.partitioningIndex { $0.time > timeline.from } - 1)
        for (time, state) in states.dropFirst(first) where time < timeline.to && gateways.count < Self.mostGateways {
            guard let address = state.gateway else { continue }
            let gateway = Gateway(address: address, interface: state.interface)
            if !gateways.contains(gateway) { gateways.append(gateway) }
        }
    }
}

/// Whether the times of a report can be trusted. They follow the clock that counts from the boot, so a clock that was
/// set moves none of them against the others of its boot.
struct ClockFacts: Hashable {
    /// Whether the kernel's clock follows a time server; `nil` if that cannot be asked.
    var isSynchronized: Bool?
    /// How often the wall clock was set by more than a second in the period, and the most.
    private(set) var steps = 0
    private(set) var largest: Duration = .zero

    /// - Parameter entries: Of the history, in order.
    init(_ entries: [HistoryEntry], _ clock: HistoryClock, from: Timestamp, to: Timestamp, isSynchronized: Bool?) {
        self.isSynchronized = isSynchronized
        var last: HistoryEntry?
        for entry in entries {
            defer { last = entry }
            guard let before = last, before.boot == entry.boot else { continue }
            let time = clock.time(of: entry)
            guard from <= time, time <= to else { continue }
            let wall = entry.moment.wall.nanosecondsSince1970.subtractingReportingOverflow(
                before.moment.wall.nanosecondsSince1970)
            let boot = entry.moment.boot.nanoseconds.subtractingReportingOverflow(before.moment.boot.nanoseconds)
            guard !wall.overflow, !boot.overflow else { continue }
            let (step, overflow) = wall.partialValue.subtractingReportingOverflow(boot.partialValue)
            // A clock that a time server corrects slowly runs up to a thousandth faster or slower.
            guard !overflow, step.magnitude > 1_000_000_000, step.magnitude / 1000 < UInt64(Int64.max),
                step.magnitude > boot.partialValue.magnitude / 1000
            else { continue }
            steps += 1
            largest = max(largest, .nanoseconds(Int64(clamping: step.magnitude)))
        }
    }

    /// Whether the kernel's clock follows a time server (adjtimex(2)).
    static var isSynchronizedNow: Bool? {
        let state = reach_clock_is_synchronized()
        return state < 0 ? nil : state == 1
    }

    var sentence: String {
        let now =
            switch isSynchronized {
            case true?: "follows a time server now"
            case false?: "follows no time server now, so all times may be off alike"
            case nil: "cannot be asked whether it follows a time server"
            }
        guard steps > 0 else { return now + "; it was not set by more than a second in the period" }
        let times = steps == 1 ? "once" : "\(steps) times"
        return now
            + "; it was set \(times), by up to \(DurationText.describe(largest)), for which the times here are "
            + "corrected"
    }
}
