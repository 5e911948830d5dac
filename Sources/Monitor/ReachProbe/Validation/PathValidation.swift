internal import ReachCore

/// The proven connectivity of one path, and the time of its next check. A pure value: results and times come from
/// outside.
struct PathValidation {
    typealias Ticket = ValidationCommand.Ticket

    private enum Phase: Equatable {
        case waiting(until: BootTime)
        /// A traffic sample may make the check that is due unnecessary.
        case sampling(Ticket)
        case probing(Ticket)
        /// The check failed as packets that were lost make it fail; a traffic sample says whether the path works.
        case weighing(Ticket, ValidationResult)
    }

    private(set) var route: DefaultRoute
    /// The connectivity as currently believed.
    private(set) var connectivity: Connectivity = .unknown
    private(set) var portal: String?
    /// Whether HTTPS gave the last proof, and the path is believed to work.
    var isSecurelyProved: Bool { connectivity == .full && streak.isProofSecure }
    /// Whether no check of the path was ever completed.
    private(set) var isUndecided = true
    /// Why the path is not fully connected, by the last result.
    private(set) var trouble: ValidationTrouble?

    /// Whether it took the place of a path into another network.
    private var isReplacement = false
    private let options: ValidationOptions
    private var phase: Phase
    private var streak = ResultStreak()
    private var isDoubted = false
    private var relapses = Relapses()
    private var backoff: Backoff
    private var lastProbe: BootTime?
    /// When the check before it began.
    private var earlierProbe: BootTime?
    /// When a host beyond the gateway last answered by this path that is known by its address.
    private var lastAnswer: BootTime?
    /// Since when such an answer shows that only names fail.
    private var answersCountSince: BootTime?
    /// When the last check of the path ended, and what it found.
    private(set) var lastCheck: ConnectivityCheck?
    /// Whether the path was found silent, and no check has found anything else since.
    private(set) var isSilent = false
    /// Whether a server answered since the path became silent.
    private var hasResumed = false
    private var traffic: TrafficWatch

    init(_ route: DefaultRoute, options: ValidationOptions, at now: BootTime) {
        self.route = route
        self.options = options
        phase = .waiting(until: now)
        backoff = Backoff(first: options.firstRetry, longest: options.interval)
        traffic = TrafficWatch(longestGap: options.interval)
    }

    /// When to call ``timeReached(at:ticket:allowed:)``; `nil` while a check is running.
    var deadline: BootTime? {
        guard case .waiting(let until) = phase else { return nil }
        return min(until, traffic.nextSample ?? until)
    }

    /// The tickets of commands that have not been answered.
    var openTickets: [Ticket] {
        switch phase {
        case .waiting: traffic.ticket.map { [$0] } ?? []
        case .sampling(let ticket), .probing(let ticket), .weighing(let ticket, _): [ticket]
        }
    }

    // MARK: - Commands

    /// - Parameters:
    ///   - ticket: The ticket for the returned command.
    ///   - allowed: When the byte budget allows the next check.
    mutating func timeReached(at now: BootTime, ticket: Ticket, allowed: BootTime) -> ValidationCommand? {
        guard case .waiting(let until) = phase else { return nil }
        if now >= until {
            guard connectivity == .full, streak.isProved, !isDoubted,
                let lastProof = streak.lastProof, now < lastProof + ValidationOptions.longestTrust
            else {
                return probe(at: now, ticket: ticket, allowed: allowed)
            }
            phase = .sampling(ticket)
            return .sampleTraffic(route, within: min(options.interval, ValidationOptions.evidenceWindow), ticket)
        }
        guard let due = traffic.nextSample, now >= due else { return nil }
        traffic.begin(ticket)
        return .sampleTraffic(route, within: ValidationOptions.sampleInterval, ticket)
    }

    private mutating func probe(at now: BootTime, ticket: Ticket, allowed: BootTime) -> ValidationCommand? {
        guard allowed <= now else {
            phase = .waiting(until: allowed)
            watchTraffic(at: now)
            return nil
        }
        phase = .probing(ticket)
        traffic.stop()
        (earlierProbe, lastProbe) = (lastProbe, now)
        return .probe(route, ticket)
    }

    // MARK: - Results

    /// Handles the result of a traffic sample.
    ///
    /// - Returns: The next command, if any.
    mutating func sampled(
        _ answered: Ticket, sawTraffic: Bool, after time: Duration, at now: BootTime, jitter: (Duration) -> Duration,
        ticket: Ticket,
        allowed: BootTime
    ) -> ValidationCommand? {
        if phase == .sampling(answered) {
            guard sawTraffic, route.hasConfirmedNeighbour else {
                return probe(at: now, ticket: ticket, allowed: allowed)
            }
            phase = .waiting(until: now + jitter(options.interval))
            return nil
        }
        if case .weighing(answered, let result) = phase {
            weighed(result, sawTraffic: sawTraffic, at: now, jitter: jitter)
            return nil
        }
        guard case .waiting = phase, traffic.ticket == answered else { return nil }
        if sawTraffic { noteWitness(at: now) }
        guard traffic.end(sawTraffic: sawTraffic, after: time, at: now) else { return nil }
        return probe(at: now, ticket: ticket, allowed: allowed)
    }

    /// Handles the result of a check.
    ///
    /// - Parameters:
    ///   - isAnswered: Whether an endpoint whose name was not resolved answered at the address that it had before.
    ///   - next: The ticket for the returned command.
    /// - Returns: The next command, if any.
    mutating func probed(
        _ ticket: Ticket, _ result: ValidationResult, isSecure: Bool, isAnswered: Bool, at now: BootTime,
        jitter: (Duration) -> Duration, next: Ticket
    ) -> ValidationCommand? {
        guard phase == .probing(ticket) else { return nil }
        if isAnswered { noteWitness(at: now) }
        if let lastProbe, mayBeLoss(result) {
            phase = .weighing(next, result)
            // TCP backs off on such a path, so that data is rarer than checks.
            let window = min(now - (streak.failingSince ?? lastProbe), ValidationOptions.evidenceWindow)
            return .sampleTraffic(route, within: window, next)
        }
        conclude(result, isSecure: isSecure, at: now, jitter: jitter)
        return nil
    }

    /// Whether the failure would end full connectivity, and is one that lost packets explain.
    private func mayBeLoss(_ result: ValidationResult) -> Bool {
        let most =
            switch result.trouble {
            case .noAnswer, .onlyInsecure: ValidationOptions.mostForgiven
            // Connections that last do not show that names are resolved.
            case .nameNotResolved: ValidationOptions.mostForgivenNames
            default: 0
            }
        return connectivity == .full && streak.wouldEnd(by: options.strikesToDemote) && streak.forgiven < most
    }

    /// Handles what a sample says of a failed check: where sockets received data since checks began to fail, the path
    /// works, and loses packets.
    private mutating func weighed(
        _ result: ValidationResult, sawTraffic: Bool, at now: BootTime, jitter: (Duration) -> Duration
    ) {
        if sawTraffic { noteWitness(at: now) }
        guard sawTraffic, connectivity == .full else {
            return conclude(result, isSecure: false, at: now, jitter: jitter)
        }
        streak.forgive()
        isDoubted = false
        trouble = result.trouble
        lastCheck = ConnectivityCheck(found: .limited, at: now)
        phase = .waiting(until: now + jitter(backoff.wait()))
    }

    private mutating func conclude(
        _ result: ValidationResult, isSecure: Bool, at now: BootTime, jitter: (Duration) -> Duration
    ) {
        isDoubted = false
        isUndecided = false
        if let found = result.connectivity {
            let silence = isSilent && found == .limited ? lastCheck?.silence : nil
            lastCheck = ConnectivityCheck(found: found, at: now, silence: silence)
        }
        switch result {
        case .full:
            trouble = nil
            let needed = options.strikesToPromote + relapses.extraProofs
            if streak.noteProof(isSecure: isSecure, of: needed, at: now) { believe(.full, nil, at: now) }
        case .portal, .limited:
            trouble = result.trouble
            answersCountSince = streak.isFailing ? earlierProbe ?? lastProbe : lastProbe
            let most = connectivity == .full ? options.strikesToDemote : 1
            let isBelieved = streak.noteFailure(since: lastProbe, of: most)
            if isBelieved, let found = result.connectivity { believe(found, result.portal, at: now) }
        case .inconclusive: break
        }
        let isSettled = connectivity == .full && result == .full
        if isSettled { backoff.reset() }
        // While returning to full, further checks follow without backoff.
        let gap = relapses.extraProofs > 0 ? ValidationOptions.extraProofGap : options.firstRetry
        let next = min(gap, options.firstRetry)
        let wait = isSettled ? options.interval : result == .full ? next : backoff.wait()
        phase = .waiting(until: now + jitter(wait))
        traffic.probeEnded(isBroken: connectivity != .full, at: now)
        watchTraffic(at: now)
    }

    private mutating func believe(_ found: Connectivity, _ url: String?, at now: BootTime) {
        if found == .full {
            if isInTrouble { relapses.noteReturn(at: now) }
        } else if connectivity == .full {
            relapses.noteLoss(at: now)
        }
        if found != .limited { isSilent = false }
        // A portal often gives each visit another URL; the first one stays valid as long as the portal does.
        if found != .portal || connectivity != .portal { portal = url }
        connectivity = found
    }

    /// Whether there is a path, but the Internet does not answer.
    var isInTrouble: Bool { connectivity == .limited || connectivity == .portal }

    private mutating func watchTraffic(at now: BootTime) {
        if isInTrouble { traffic.start(at: now) } else { traffic.stop() }
    }

    // MARK: - Names alone

    /// Whether hosts answer by this path, and only names are not resolved. An answer counts from the check before the
    /// last one on, so that one which has become old proves nothing of a line that died meanwhile.
    var onlyNamesFail: Bool {
        guard connectivity == .limited, trouble == .nameNotResolved, let lastAnswer, let answersCountSince else {
            return false
        }
        return lastAnswer >= answersCountSince
    }

    /// Notes that a host beyond the gateway that is known by its address answered by this path.
    mutating func noteWitness(at now: BootTime) { lastAnswer = now }

    // MARK: - Changes

    /// The path into another network that took this one's place. Nothing of what was proved holds there, so it is
    /// checked at once; but two devices that claim the gateway's address in turn do not cause a check each second.
    func replaced(by fresh: DefaultRoute, at now: BootTime) -> PathValidation {
        var next = PathValidation(fresh, options: options, at: now)
        next.isReplacement = true
        if isReplacement, let lastProbe {
            next.phase = .waiting(until: max(now, lastProbe + ValidationOptions.shortestGap))
        }
        next.lastProbe = lastProbe
        return next
    }

    /// Checks the path soon, since another request failed. That is no news for a path in trouble. Several doubts share
    /// one check, and one that is running or has just ended serves too.
    mutating func doubt(at now: BootTime) {
        guard case .waiting(let until) = phase, !isInTrouble else { return }
        let earliest = lastProbe.map { max(now, $0 + ValidationOptions.shortestGap) } ?? now
        backoff.reset()
        phase = .waiting(until: min(until, earliest))
        // Traffic of the last minute does not settle the doubt.
        isDoubted = true
    }

    /// Closes the path: it carried traffic that nothing answers any more, and a test was not answered either. The next
    /// check follows at once.
    mutating func silence(_ evidence: SilenceEvidence, at now: BootTime) {
        guard connectivity == .full else { return }
        streak.condemn(with: options.strikesToDemote)
        isDoubted = false
        isSilent = true
        hasResumed = false
        (trouble, lastAnswer) = (.noAnswer, nil)
        lastCheck = ConnectivityCheck(found: .limited, at: now, silence: evidence)
        believe(.limited, nil, at: now)
        backoff.reset()
        traffic.probeEnded(isBroken: true, at: now)
        if case .probing = phase { return }
        phase = .waiting(until: now)
        watchTraffic(at: now)
    }

    /// Checks a path in trouble at once, since a server answered by this path: the first time also in place of a check
    /// that is under way, which may hang in what was lost. A later one has its time, also where it takes longer than
    /// the next answer.
    mutating func resume(at now: BootTime) {
        guard isInTrouble else { return }
        if case .probing = phase, !hasResumed { phase = .waiting(until: now) }
        hasResumed = true
        noteWitness(at: now)
        noteAnswer(at: now)
    }

    /// Checks a path in trouble at once, since another request was answered, maybe by this path; later if a recent
    /// check of this kind failed.
    mutating func noteAnswer(at now: BootTime) {
        guard isInTrouble, case .waiting(let until) = phase else { return }
        phase = .waiting(until: min(until, traffic.trigger(at: now)))
    }

    /// Discards what is running and checks again at once. The next result is believed at once.
    mutating func restart(at now: BootTime) {
        streak.restart()
        (isSilent, lastAnswer) = (false, nil)
        relapses = Relapses()
        backoff.reset()
        traffic = TrafficWatch(longestGap: options.interval)
        phase = .waiting(until: now)
    }

    /// Updates what is known of the path.
    ///
    /// - Returns: `false` if it leads into another network, so that nothing proven still holds.
    mutating func update(_ fresh: DefaultRoute, at now: BootTime) -> Bool {
        let old = route
        guard old.leadsToSameNetwork(as: fresh) else { return false }
        route = fresh.rememberingDevice(of: old)
        if old.source != fresh.source {
            restart(at: now)
        } else if !Set(fresh.brokenCarriers).isSubset(of: old.brokenCarriers) {
            // A link below has failed, and what was proved by it proves nothing now.
            restart(at: now)
        } else if old.lower != fresh.lower || old.brokenCarriers != fresh.brokenCarriers {
            // Something else carries it: a tunnel goes on by another link, or not at all. Earlier traffic does not say
            // which.
            isDoubted = true
            if case .waiting(let until) = phase { phase = .waiting(until: min(until, now)) }
        } else if (old.neighbour == .failed) != (fresh.neighbour == .failed) {
            // A gateway that starts or stops answering is reason for a check now. That an entry ages, or is garbage
            // collected, is not.
            if case .waiting(let until) = phase { phase = .waiting(until: min(until, now)) }
        }
        return true
    }
}
