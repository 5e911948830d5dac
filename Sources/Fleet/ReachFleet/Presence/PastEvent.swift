internal import ReachCore

/// An event of a host as far as it tells about its presence.
package struct PastEvent: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case word(ReachabilityStatus, Connectivity, Reason?, previous: ReachabilityStatus?)
        /// With the host's clocks, by which a repetition is known.
        case absence(HostAbsence, Instant)
        case other
    }

    private(set) var log = ""
    private(set) var n: UInt64 = 0
    /// By the engine's clock, as well as that is known.
    private(set) var time = Timestamp(nanosecondsSince1970: 0)
    /// Whether only the host's clock gives the time.
    private(set) var isHostClock = false
    private(set) var kind = Kind.other

    init() {}

    init(_ event: FleetEvent, _ time: (time: Timestamp, isHostClock: Bool)) {
        (log, n, self.time, isHostClock) = (event.log, event.n, time.time, time.isHostClock)
        switch event.kind {
        case .status(let status, let previous, _, _) where status.target == "internet":
            kind = .word(status.status, status.connectivity, status.reason, previous: previous)
        case .absence(let absence): kind = .absence(absence, event.moment)
        default: break
        }
    }

    init(_ event: TimelineEvent) { self.init(event.event, (event.time, event.isHostClock)) }

    mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&log)
        try coder.code(&n)
        try coder.code(&time)
        try coder.code(&isHostClock)
        var (status, connectivity, reason) = (ReachabilityStatus.unknown, Connectivity.unknown, Reason?.none)
        var (previous, absence) = (ReachabilityStatus?.none, HostAbsence(isKnown: false, lease: .zero))
        var moment = Instant(wall: time, boot: BootTime(nanoseconds: 0))
        var which: Int64 = 0
        switch kind {
        case .word: which = 1
        case .absence: which = 2
        case .other: break
        }
        if case .word(let one, let two, let three, let four) = kind {
            (status, connectivity, reason, previous) = (one, two, three, four)
        }
        if case .absence(let one, let two) = kind { (absence, moment) = (one, two) }
        try coder.code(&which)
        switch which {
        case 0: kind = .other
        case 1:
            try coder.code(&status)
            try coder.code(&connectivity)
            try coder.code(&reason, .noRoute)
            try coder.code(&previous, .unknown)
            kind = .word(status, connectivity, reason, previous: previous)
        case 2:
            try absence.code(&coder)
            try coder.code(&moment)
            kind = .absence(absence, moment)
        default: throw CacheFault()
        }
    }
}

extension HostAbsence {
    fileprivate mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&from)
        try coder.code(&away, .zero) { coder, away throws(CacheFault) in try coder.code(&away) }
        try coder.code(&isKnown)
        try coder.code(&hadLeft)
        try coder.code(&hasRestarted)
        try coder.code(&lease)
        let blank = Event(n: 0, moment: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: .init(nanoseconds: 0)))
        try coder.code(&after, blank) { coder, event throws(CacheFault) in
            var (n, moment) = (event.n, event.moment)
            try coder.code(&n)
            try coder.code(&moment)
            event = Event(n: n, moment: moment)
        }
    }
}
