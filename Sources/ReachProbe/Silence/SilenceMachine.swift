package import ReachCore
package import ReachKernel

/// Finds out within seconds that a path which carries traffic has become silent. A pure value: paths, counters, surveys and
/// results of tests go in; commands and a deadline come out.
///
/// 1. While packets are sent to a path's first hop, the counter of TCP's retransmission timeouts is read each second. Without
///    traffic there is no deadline.
/// 2. After a timeout the sockets are looked at. ``SilenceJudge`` decides whether they are reason for a test.
/// 3. The test begins connections to servers that answered the last check. If one answers, the path works, and the users whose
///    sockets were the reason are ignored for a while: sockets lead to a test, never to a verdict.
/// 4. If none answers and still no socket has received anything, the path is silent. The interface's path in the other family
///    is tested at the same time, since it may carry no traffic.
///
/// As long as it is, and programs try to send, connections are begun now and then, so that a return is noticed as well.
package struct SilenceMachine {
    package typealias Ticket = SilenceCommand.Ticket

    struct Test: Equatable {
        /// Why the path is tested; `nil` if only to see whether the link's path in the other family is silent as well.
        var suspicion: SilenceJudge.Suspicion?
        var began: BootTime
    }

    struct Watch {
        enum Phase: Equatable {
            case idle
            case surveying(Ticket)
            case testing(Ticket, Test)
            /// The last look at the sockets, after a test without an answer.
            case confirming(Ticket, Test, handshakes: Int)
            /// Nothing answers, but that counts only if the path whose sockets were the reason is silent as well.
            case held(Test, SilenceEvidence)
            /// A connection by a silent path.
            case calling(Ticket)
        }

        var path: SilencePath
        var phase = Phase.idle
        var nextSurvey: BootTime
        var nextTest: BootTime
        /// When the path was found silent; `nil` while it works.
        var silentSince: BootTime?
    }

    private(set) var watches: [DefaultRoute.Key: Watch] = [:]
    private var lastTicket: Ticket = 0
    private var nextReading: BootTime?
    private var readings = Backoff(first: readingInterval, longest: longestReadingInterval)
    private var lastCounters: TCPCounters?
    /// Until when sockets are looked at, since there was a timeout.
    private var suspectedUntil: BootTime?
    /// When a timeout was last counted: a program tries to send.
    private var lastTimeout: BootTime?
    /// Until when paths count as used whose first hop does not show whether it is.
    private var activeUntil: BootTime?
    /// By interface: what a user does on one says nothing about another.
    private var patience: [InterfaceIndex: SilencePatience] = [:]
    /// Whether the kernel shows nothing.
    private var hasGivenUp = false
    /// How often in a row counters or sockets could not be read.
    private var failures = 0
    package private(set) var statistics = SilenceStatistics()

    package init() {}

    // MARK: - Times

    /// Time between two readings of the counters. While no program sends data it doubles, up to the longest one.
    static let readingInterval: Duration = .seconds(1)
    static let longestReadingInterval: Duration = .seconds(4)
    /// The same after a timeout.
    static let suspiciousInterval: Duration = .milliseconds(250)
    /// For how long sockets are looked at after a timeout.
    static let suspicionTime: Duration = .seconds(2)
    /// A path on which a socket received something within this time is not silent.
    static let hearing: Duration = .milliseconds(900)
    /// Surveys take at most a fiftieth of a processor.
    static let surveyShare = 50
    /// The time for a test, and its most connections. TCP repeats the first of them after a second, so about 34 packets must be
    /// lost, or their answers: where three of four exchanges fail, that happens by chance in one of 17,000 tests.
    static let testTime: Duration = .milliseconds(1500)
    static let longestTestTime: Duration = .seconds(4)
    /// On a path that is slower than that, a test lasts until its last connections had a round trip, up to this time.
    static let slowestTestTime: Duration = .seconds(10)
    static let testHandshakes = 26
    /// A test with fewer of them says nothing: this machine has no ports or descriptors for them, or slept meanwhile.
    static let leastHandshakes = 18
    /// The shortest time between two tests of a path, whoever is the reason.
    static let testGap: Duration = .seconds(2)
    /// The pause after a look at the sockets that the kernel did not answer, and how many such failures in a row end the watch.
    static let failurePause: Duration = .seconds(5)
    static let mostFailures = 5
    /// For how long paths without a telling first hop are watched after the last segment with data was sent.
    static let activeTime: Duration = .seconds(60)
    /// The time for a connection by a silent path: less than a second, so that TCP does not repeat it.
    static let callTime: Duration = .milliseconds(900)
    static let longestCallTime: Duration = .seconds(5)
    /// The time between these connections is a part of the time since the path became silent, within these bounds.
    static let callShare = 30
    static let shortestCallGap: Duration = .seconds(2)
    static let longestCallGap: Duration = .seconds(30)
    /// Programs count as trying for this time after a timeout.
    static let tryingTime: Duration = .seconds(60)

    /// When to call ``timeReached(at:)``; `nil` while nothing is watched.
    package var deadline: BootTime? { nextReading }

    // MARK: - Events

    /// Sets the paths to watch. Others than these are forgotten.
    package mutating func update(_ paths: [SilencePath], at now: BootTime) -> [SilenceCommand] {
        guard !hasGivenUp else { return [] }
        var commands: [SilenceCommand] = []
        let fresh = Dictionary(paths.map { ($0.route.key, $0) }) { first, _ in first }
        for (key, watch) in watches where fresh[key].map({ !$0.continues(watch.path) }) ?? true {
            commands += abandon(watch)
            watches[key] = nil
            // What is held for this path would be held forever.
            if fresh[key]?.state != .silent { commands += releaseCompanions(of: key) }
        }
        for (key, path) in fresh {
            var watch = watches[key] ?? Watch(path: path, nextSurvey: now, nextTest: now)
            if watches[key] == nil { activeUntil = now + Self.activeTime }
            watch.path = path
            if path.state == .silent, watch.silentSince == nil { watch.silentSince = now }
            if path.state == .working { watch.silentSince = nil }
            watches[key] = watch
        }
        let interfaces = Set(fresh.keys.map(\.interface))
        patience = patience.filter { interfaces.contains($0.key) || $0.value.isNeeded(at: now) }
        return commands + schedule(at: now)
    }

    /// Forgets everything about paths and users, as after a sleep: the network may be another one.
    package mutating func restart() -> [SilenceCommand] {
        let commands = watches.values.flatMap { abandon($0) }
        (watches, patience) = ([:], [:])
        (nextReading, lastCounters, suspectedUntil, lastTimeout, activeUntil) = (nil, nil, nil, nil, nil)
        return commands
    }

    /// Something shows that there may be traffic, such as a check that was due: watches paths whose first hop does not.
    package mutating func noteActivity(at now: BootTime) -> [SilenceCommand] {
        activeUntil = now + Self.activeTime
        return schedule(at: now)
    }

    package mutating func timeReached(at now: BootTime) -> [SilenceCommand] {
        guard let due = nextReading, now >= due else { return [] }
        let isSilent = watches.values.contains { $0.path.state == .silent }
        nextReading = now + (isSilent ? Self.readingInterval : readings.wait())
        return [.readCounters] + call(at: now)
    }

    /// Handles the counters; `nil` if they cannot be read.
    package mutating func counted(_ counters: TCPCounters?, at now: BootTime) -> [SilenceCommand] {
        guard let counters else { return failed() }
        let last = lastCounters
        lastCounters = counters
        if let last, counters.dataSegments != last.dataSegments {
            activeUntil = now + Self.activeTime
            readings.reset()
            nextReading = nextReading.map { min($0, now + readings.wait()) }
        }
        if let last, counters.timeouts != last.timeouts {
            lastTimeout = now
            suspectedUntil = now + Self.suspicionTime
        }
        let commands = survey(at: now)
        return commands + schedule(at: now)
    }

    /// Handles what a survey found.
    ///
    /// - Parameter time: How long it took.
    package mutating func surveyed(
        _ ticket: Ticket, _ answer: SilenceAnswer, after time: Duration, at now: BootTime
    ) -> [SilenceCommand] {
        guard let (key, watch) = watches.first(where: { $0.value.phase.ticket == ticket }) else { return [] }
        let pause = max(Self.suspiciousInterval, time * Self.surveyShare)
        var sample: SilenceSample?
        watches[key]?.nextSurvey = now + pause
        switch answer {
        case .notAsked: watches[key]?.nextSurvey = now + Self.failurePause
        case .tooMany: watches[key]?.nextSurvey = now + max(pause, .seconds(30))
        case .heard: watches[key]?.nextSurvey = now + max(pause, Self.readingInterval)
        case .sample(let found): sample = found
        }
        if answer == .notAsked {
            let commands = failed()
            if hasGivenUp { return commands }
        } else {
            failures = 0
        }
        switch watch.phase {
        case .surveying:
            watches[key]?.phase = .idle
            guard let sample else { return [] }
            return suspect(key, sample, at: now)
        case .confirming(_, let test, let handshakes):
            // Something that was received before the test began is known.
            guard let sample, sample.sinceReceived.map({ $0 > now - test.began }) ?? true else {
                return refute(key, test, at: now)
            }
            return conclude(key, test, SilenceEvidence(test, handshakes: handshakes, at: now))
        default: return []
        }
    }

    /// Handles the result of a test.
    package mutating func tested(_ ticket: Ticket, _ result: SilenceTestResult, at now: BootTime) -> [SilenceCommand] {
        guard let (key, watch) = watches.first(where: { $0.value.phase.ticket == ticket }) else { return [] }
        switch watch.phase {
        case .testing(_, let test):
            guard !result.isAnswered, result.handshakes >= Self.leastHandshakes else {
                return refute(key, test, at: now)
            }
            lastTicket += 1
            watches[key]?.phase = .confirming(lastTicket, test, handshakes: result.handshakes)
            return [.survey(watch.path.route, hearing: now - test.began, lastTicket)]
        case .calling:
            watches[key]?.phase = .idle
            return result.isAnswered ? [.check(key)] : []
        default: return []
        }
    }

    // MARK: - Steps

    private mutating func schedule(at now: BootTime) -> [SilenceCommand] {
        guard watches.values.contains(where: { isWatched($0, at: now) }) else {
            (nextReading, lastCounters, suspectedUntil) = (nil, nil, nil)
            return []
        }
        guard let due = nextReading else {
            nextReading = now
            readings.reset()
            return timeReached(at: now)
        }
        if let suspectedUntil, now < suspectedUntil { nextReading = min(due, now + Self.suspiciousInterval) }
        return []
    }

    private func isWatched(_ watch: Watch, at now: BootTime) -> Bool {
        if watch.path.state == .silent { return true }
        guard !watch.path.servers.isEmpty else { return false }
        return watch.path.usesNeighbour || (!watch.path.hasSpeakingNeighbour && now < activeUntil ?? now)
    }

    private mutating func survey(at now: BootTime) -> [SilenceCommand] {
        guard let suspectedUntil, now < suspectedUntil else { return [] }
        var commands: [SilenceCommand] = []
        for (key, watch) in watches.sorted(by: { $0.key.interface < $1.key.interface })
        where watch.phase == .idle && watch.path.state == .working && now >= watch.nextSurvey
            && isWatched(watch, at: now)
        {
            lastTicket += 1
            watches[key]?.phase = .surveying(lastTicket)
            statistics.surveys += 1
            commands.append(.survey(watch.path.route, hearing: Self.hearing, lastTicket))
        }
        return commands
    }

    private mutating func suspect(
        _ key: DefaultRoute.Key, _ sample: SilenceSample, at now: BootTime
    ) -> [SilenceCommand] {
        guard let watch = watches[key], now >= watch.nextTest, now >= watch.path.allowed,
            let suspicion = SilenceJudge.suspicion(
                in: sample, ignoring: patience[key.interface]?.ignored(at: now) ?? [], roundTrip: watch.path.roundTrip)
        else { return [] }
        statistics.tests += 1
        var commands: [SilenceCommand] = []
        for (other, watch) in watches.sorted(by: { $0.key.family.rawValue < $1.key.family.rawValue })
        where other == key || (other.interface == key.interface && watch.isFree(at: now)) {
            lastTicket += 1
            watches[other]?.phase = .testing(
                lastTicket, Test(suspicion: other == key ? suspicion : nil, began: now))
            watches[other]?.nextTest = now + Self.testGap
            let time = Self.testTime(max(watch.path.roundTrip, suspicion.roundTrip))
            commands.append(
                .test(watch.path.route, watch.path.servers, most: Self.testHandshakes, within: time, lastTicket))
        }
        return commands
    }

    /// The time for a test of a path with this round-trip time.
    private static func testTime(_ roundTrip: Duration) -> Duration {
        let lastAnswer = roundTrip + testTime
        return min(max(testTime, roundTrip * 4), max(longestTestTime, min(lastAnswer, slowestTestTime)))
    }

    /// The test of a path found an answer, or could not be made.
    private mutating func refute(_ key: DefaultRoute.Key, _ test: Test, at now: BootTime) -> [SilenceCommand] {
        watches[key]?.phase = .idle
        guard let suspicion = test.suspicion else { return [] }
        patience[key.interface, default: SilencePatience()].refute(suspicion.users, at: now)
        return releaseCompanions(of: key)
    }

    private mutating func releaseCompanions(of key: DefaultRoute.Key) -> [SilenceCommand] {
        var commands: [SilenceCommand] = []
        for (other, watch) in companions(of: key) {
            commands += abandon(watch)
            watches[other]?.phase = .idle
        }
        return commands
    }

    /// Nothing answers by a path.
    private mutating func conclude(
        _ key: DefaultRoute.Key, _ test: Test, _ evidence: SilenceEvidence
    ) -> [SilenceCommand] {
        let isFirst = test.suspicion != nil
        let isOtherSilent = watches.contains {
            $0.key.interface == key.interface && $0.value.path.state == .silent
        }
        guard isFirst || isOtherSilent else {
            watches[key]?.phase = .held(test, evidence)
            return []
        }
        watches[key]?.phase = .idle
        statistics.silent += 1
        var commands = [SilenceCommand.close(key, evidence)]
        for (other, watch) in companions(of: key) {
            guard case .held(_, let evidence) = watch.phase else { continue }
            watches[other]?.phase = .idle
            statistics.silent += 1
            commands.append(.close(other, evidence))
        }
        return commands
    }

    /// The paths that are tested together with this one.
    private func companions(of key: DefaultRoute.Key) -> [DefaultRoute.Key: Watch] {
        watches.filter { other, watch in
            guard other != key, other.interface == key.interface else { return false }
            return switch watch.phase {
            case .testing(_, let test), .confirming(_, let test, _), .held(let test, _): test.suspicion == nil
            default: false
            }
        }
    }

    /// Begins connections by silent paths that programs try to use.
    private mutating func call(at now: BootTime) -> [SilenceCommand] {
        guard let lastTimeout, now - lastTimeout < Self.tryingTime else { return [] }
        var commands: [SilenceCommand] = []
        for (key, watch) in watches.sorted(by: { $0.key.interface < $1.key.interface }) {
            guard let since = watch.silentSince, watch.phase == .idle, !watch.path.servers.isEmpty,
                now >= watch.nextTest, now >= watch.path.allowed
            else { continue }
            lastTicket += 1
            statistics.calls += 1
            watches[key]?.phase = .calling(lastTicket)
            watches[key]?.nextTest =
                now + min(max(Self.shortestCallGap, (now - since) / Self.callShare), Self.longestCallGap)
            commands.append(
                .test(
                    watch.path.route, watch.path.servers, most: 1,
                    within: min(max(Self.callTime, watch.path.roundTrip * 1.5), Self.longestCallTime), lastTicket))
        }
        return commands
    }

    private mutating func abandon(_ watch: Watch) -> [SilenceCommand] {
        switch watch.phase {
        case .testing(let ticket, _), .calling(let ticket): [.cancel(ticket)]
        case .idle, .surveying, .confirming, .held: []
        }
    }

    /// Gives up after several failures in a row: descriptors or memory may be short for a moment.
    private mutating func failed() -> [SilenceCommand] {
        failures += 1
        return failures < Self.mostFailures ? [] : giveUp()
    }

    private mutating func giveUp() -> [SilenceCommand] {
        let commands = watches.values.flatMap { abandon($0) }
        (hasGivenUp, watches, nextReading) = (true, [:], nil)
        return commands + [.giveUp]
    }
}

extension SilenceMachine.Watch.Phase {
    var ticket: SilenceCommand.Ticket? {
        switch self {
        case .idle, .held: nil
        case .surveying(let ticket), .calling(let ticket), .testing(let ticket, _), .confirming(let ticket, _, _):
            ticket
        }
    }
}

extension SilenceMachine.Watch {
    /// Whether a test can be made now.
    fileprivate func isFree(at now: BootTime) -> Bool {
        switch phase {
        case .idle, .surveying: path.state == .working && !path.servers.isEmpty && now >= path.allowed
        default: false
        }
    }
}

extension SilenceEvidence {
    fileprivate init(_ test: SilenceMachine.Test, handshakes: Int, at now: BootTime) {
        self.init(
            transmissions: test.suspicion?.transmissions ?? 0, destinations: test.suspicion?.destinations ?? 0,
            duration: (test.suspicion?.duration ?? .zero) + (now - test.began), handshakes: handshakes)
    }
}

extension SilencePath {
    /// Whether what runs for the other one is about this path as well.
    fileprivate func continues(_ other: SilencePath) -> Bool {
        route.gateway == other.route.gateway && route.source == other.route.source && route.name == other.route.name
            && state == other.state
    }
}
