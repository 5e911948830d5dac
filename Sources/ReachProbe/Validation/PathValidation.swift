internal import ReachCore

/// What is proved of one path, and when to prove it again. Pure: it is told results and times.
struct PathValidation {
    typealias Ticket = ValidationCommand.Ticket

    /// What is going on.
    private enum Phase: Equatable {
        case waiting(until: BootTime)
        /// A look is to spare the check that is due.
        case looking(Ticket)
        case probing(Ticket)
    }

    private(set) var uplink: Uplink
    /// What is believed.
    private(set) var connectivity: Connectivity = .unknown
    private(set) var portal: String?
    /// It was never asked about to the end.
    private(set) var isUndecided = true
    /// Why it is not full, by the last result.
    private(set) var trouble: ValidationTrouble?

    private let options: ValidationOptions
    private var phase: Phase
    /// The next result is believed at once: the first of all, and the first after something changed.
    private var believesNext = true
    private var isDoubted = false
    private var failures = 0
    private var proofs = 0
    /// Since when it has been full again; `nil` where it was never lost, or is.
    private var returned: BootTime?
    /// In a row, returns that did not last.
    private var relapses = 0
    private var backoff: Backoff
    private var lastProbe: BootTime?
    private var lastProof: BootTime?
    private var traffic: TrafficWatch

    init(_ uplink: Uplink, options: ValidationOptions, at now: BootTime) {
        self.uplink = uplink
        self.options = options
        phase = .waiting(until: now)
        backoff = Backoff(first: options.firstRetry, longest: options.interval)
        traffic = TrafficWatch(longestGap: options.interval)
    }

    /// When ``timeReached(at:ticket:allowed:)`` must be called; `nil` while an answer is awaited.
    var deadline: BootTime? {
        guard case .waiting(let until) = phase else { return nil }
        return min(until, traffic.nextLook ?? until)
    }

    /// The tickets whose answers are awaited.
    var openTickets: [Ticket] {
        switch phase {
        case .waiting: traffic.ticket.map { [$0] } ?? []
        case .looking(let ticket), .probing(let ticket): [ticket]
        }
    }

    // MARK: - What to do

    /// - Parameters:
    ///   - ticket: For the command, if there is one.
    ///   - allowed: When the byte budget allows a check.
    mutating func timeReached(at now: BootTime, ticket: Ticket, allowed: BootTime) -> ValidationCommand? {
        guard case .waiting(let until) = phase else { return nil }
        if now >= until {
            guard connectivity == .full, !believesNext, !isDoubted, failures == 0,
                let lastProof, now < lastProof + ValidationOptions.longestTrust
            else {
                return probe(at: now, ticket: ticket, allowed: allowed)
            }
            phase = .looking(ticket)
            return .look(uplink, within: min(options.interval, ValidationOptions.evidenceWindow), ticket)
        }
        guard let due = traffic.nextLook, now >= due else { return nil }
        traffic.begin(ticket)
        return .look(uplink, within: ValidationOptions.lookInterval, ticket)
    }

    private mutating func probe(at now: BootTime, ticket: Ticket, allowed: BootTime) -> ValidationCommand? {
        guard allowed <= now else {
            phase = .waiting(until: allowed)
            watchTraffic(at: now)
            return nil
        }
        phase = .probing(ticket)
        traffic.stop()
        lastProbe = now
        return .probe(uplink, ticket)
    }

    // MARK: - What came of it

    /// - Returns: What to do now; `nil` for nothing.
    mutating func looked(
        _ answered: Ticket, sawTraffic: Bool, after time: Duration, at now: BootTime, jitter: (Duration) -> Duration,
        ticket: Ticket,
        allowed: BootTime
    ) -> ValidationCommand? {
        if phase == .looking(answered) {
            guard sawTraffic, uplink.hasConfirmedNeighbour else {
                return probe(at: now, ticket: ticket, allowed: allowed)
            }
            phase = .waiting(until: now + jitter(options.interval))
            return nil
        }
        guard case .waiting = phase, traffic.ticket == answered else { return nil }
        guard traffic.end(sawTraffic: sawTraffic, after: time, at: now) else { return nil }
        return probe(at: now, ticket: ticket, allowed: allowed)
    }

    mutating func probed(
        _ ticket: Ticket, _ result: ValidationResult, at now: BootTime, jitter: (Duration) -> Duration
    ) {
        guard phase == .probing(ticket) else { return }
        isDoubted = false
        isUndecided = false
        switch result {
        case .full:
            failures = 0
            trouble = nil
            lastProof = now
            proofs += 1
            if believesNext || proofs >= proofsToPromote { believe(.full, nil, at: now) }
        case .portal, .limited:
            proofs = 0
            failures += 1
            trouble = result.trouble
            let isBelieved = connectivity != .full || believesNext || failures >= options.strikesToDemote
            if isBelieved, let found = result.connectivity { believe(found, result.portal, at: now) }
        case .inconclusive: break
        }
        if result != .inconclusive { believesNext = false }
        let isSettled = connectivity == .full && failures == 0 && result == .full
        if isSettled { backoff.reset() }
        // On the way back to "full" the next proof is asked for as soon as the first retry was.
        let next = relapses > 0 ? min(ValidationOptions.extraProofGap, options.firstRetry) : options.firstRetry
        let wait = isSettled ? options.interval : result == .full ? next : backoff.wait()
        phase = .waiting(until: now + jitter(wait))
        traffic.probeEnded(inVain: connectivity != .full, at: now)
        watchTraffic(at: now)
    }

    private var proofsToPromote: Int {
        options.strikesToPromote + min(relapses, ValidationOptions.mostExtraProofs)
    }

    private mutating func believe(_ found: Connectivity, _ url: String?, at now: BootTime) {
        if found == .full {
            if isInTrouble { returned = now }
        } else if connectivity == .full {
            let isRelapse = returned.map { now - $0 < ValidationOptions.shortReturn } ?? false
            relapses = isRelapse ? relapses + 1 : 0
            returned = nil
        }
        // A portal often gives each visitor another address; the one told stays good for as long as it lasts.
        if found != .portal || connectivity != .portal { portal = url }
        connectivity = found
    }

    /// There is a network, and the Internet does not answer.
    var isInTrouble: Bool { connectivity == .limited || connectivity == .portal }

    private mutating func watchTraffic(at now: BootTime) {
        if isInTrouble { traffic.start(at: now) } else { traffic.stop() }
    }

    // MARK: - What changed

    /// Somebody's attempt failed, which is no news of a path that is in trouble. Coalesces with a check that runs, or ended just
    /// now.
    mutating func doubt(at now: BootTime) {
        guard case .waiting(let until) = phase, !isInTrouble else { return }
        let earliest = lastProbe.map { max(now, $0 + ValidationOptions.shortestGap) } ?? now
        backoff.reset()
        phase = .waiting(until: min(until, earliest))
        // Sockets that did well a minute ago do not answer the doubt.
        isDoubted = true
    }

    /// Somebody was answered, maybe by this path. One that is in trouble is asked about at once; not if that was in vain of
    /// late.
    mutating func heardAnswer(at now: BootTime) {
        guard isInTrouble, case .waiting(let until) = phase else { return }
        phase = .waiting(until: min(until, traffic.trigger(at: now)))
    }

    /// Everything begun is of no use, and the next result is believed at once.
    mutating func beginAnew(at now: BootTime) {
        believesNext = true
        failures = 0
        proofs = 0
        (returned, relapses) = (nil, 0)
        backoff.reset()
        traffic = TrafficWatch(longestGap: options.interval)
        phase = .waiting(until: now)
    }

    /// Takes what is now known of the same link.
    ///
    /// - Returns: `false` where it leads another way, and nothing that was proved holds.
    mutating func update(_ fresh: Uplink, at now: BootTime) -> Bool {
        let old = uplink
        guard old.gateway == fresh.gateway else { return false }
        uplink = fresh
        if old.source != fresh.source {
            beginAnew(at: now)
        } else if (old.neighbour == .failed) != (fresh.neighbour == .failed) {
            // A gateway that answers again, or no more, is news that need not wait for its turn. That an entry ages, or
            // is collected, is none.
            if case .waiting(let until) = phase { phase = .waiting(until: min(until, now)) }
        }
        return true
    }
}
