package import ReachCore
package import ReachKernel
internal import ReachLoop

/// Finds out within seconds that a path which carries traffic has become silent. A pure value: paths, counters, surveys
/// and results of tests go in; commands and a deadline come out.
///
/// 1. While packets are sent to a path's first hop, the counter of TCP's retransmission timeouts is read each second.
///    Without traffic there is no deadline.
/// 2. After a retransmission timeout the sockets are surveyed. ``SilenceJudge`` decides whether they are reason for a
///    test.
/// 3. The test begins connections to servers that answered the last check. If one answers, the path works, and the
///    users whose sockets were the reason are ignored for a while: sockets lead to a test, never to a verdict.
/// 4. If none answers and still no socket has received anything, the path is silent. The interface's path in the other
///    family is tested at the same time, since it may carry no traffic.
///
/// While a path is silent and programs try to send, connections are begun now and then to notice its return.
package struct SilenceMachine {
    package typealias Ticket = SilenceCommand.Ticket

    var watches: [DefaultRoute.Key: Watch] = [:]
    var lastTicket: Ticket = 0
    private var nextReading: BootTime?
    private var readings = Backoff(first: readingInterval, longest: longestReadingInterval)
    private var lastCounters: TCPCounters?
    /// The end of the time in which sockets are surveyed after a retransmission timeout; `nil` without one.
    private var suspectedUntil: BootTime?
    /// When a retransmission timeout was last counted, which shows that a program tries to send.
    private var lastTimeout: BootTime?
    /// The end of the time in which paths count as used whose first hop does not show its use.
    private var activeUntil: BootTime?
    /// The ignored users of each interface: what a user does on one interface says nothing about another.
    var patience: [InterfaceIndex: SilencePatience] = [:]
    /// Whether the kernel shows neither counters nor sockets, so that nothing is watched any more.
    var hasGivenUp = false
    /// The failures to read counters or sockets since the last successful survey.
    var failures = 0
    package internal(set) var statistics = SilenceStatistics()

    package init() {}

    /// When to call ``timeReached(at:)``; `nil` while nothing is watched.
    package var deadline: BootTime? { nextReading }

    // MARK: - Events

    /// Sets the paths to watch, and forgets all others.
    package mutating func update(_ paths: [SilencePath], at now: BootTime) -> [SilenceCommand] {
        guard !hasGivenUp else { return [] }
        var commands: [SilenceCommand] = []
        let pathsByKey = Dictionary(paths.map { ($0.route.key, $0) }) { first, _ in first }
        for (key, watch) in watches where pathsByKey[key].map({ !$0.continues(watch.path) }) ?? true {
            commands += abandon(watch)
            watches[key] = nil
            // A companion that is held until this path is judged would be held forever.
            if pathsByKey[key]?.state != .silent { commands += releaseCompanions(of: key) }
        }
        for (key, path) in pathsByKey {
            var watch = watches[key] ?? Watch(path: path, nextSurvey: now, nextTest: now)
            if watches[key] == nil { activeUntil = now + Self.activeTime }
            watch.path = path
            if path.state == .silent, watch.silentSince == nil { watch.silentSince = now }
            if path.state == .working { watch.silentSince = nil }
            watches[key] = watch
        }
        let interfaces = Set(pathsByKey.keys.map(\.interface))
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

    /// Notes a sign of traffic, such as a check that was due, and watches the paths whose first hop does not show its
    /// use.
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

    // MARK: - Steps

    mutating func schedule(at now: BootTime) -> [SilenceCommand] {
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

    /// Begins a connection over each silent path that programs try to use.
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

    mutating func abandon(_ watch: Watch) -> [SilenceCommand] {
        switch watch.phase {
        case .testing(let ticket, _), .calling(let ticket): [.cancel(ticket)]
        case .idle, .surveying, .confirming, .held: []
        }
    }

    /// Gives up after several failures, since descriptors or memory may be short for a moment only.
    mutating func failed() -> [SilenceCommand] {
        failures += 1
        return failures < Self.mostFailures ? [] : giveUp()
    }

    private mutating func giveUp() -> [SilenceCommand] {
        let commands = watches.values.flatMap { abandon($0) }
        (hasGivenUp, watches, nextReading) = (true, [:], nil)
        return commands + [.giveUp]
    }
}

extension SilencePath {
    /// Whether this is still the other path, so that a running survey or test of that one counts for it.
    fileprivate func continues(_ other: SilencePath) -> Bool {
        route.leadsToSameNetwork(as: other.route) && route.source == other.route.source
            && route.name == other.route.name
            && state == other.state
    }
}

/// How often silence was looked for, and found.
package struct SilenceStatistics: Hashable, Sendable {
    /// Surveys of the sockets after a retransmission timeout.
    package var surveys: UInt64 = 0
    /// Tests for which sockets were the reason.
    package var tests: UInt64 = 0
    /// Paths that were closed after a test.
    package var silent: UInt64 = 0
    /// Connections over silent paths, to notice their return.
    package var calls: UInt64 = 0
}

/// The users whose sockets led to a test that was answered: they are ignored for 5 seconds, then for 10, 20 and so on
/// up to a minute, so no user's sockets cause many tests, nor keep others' sockets from causing one.
struct SilencePatience {
    private struct Entry {
        var until: BootTime
        var backoff = Backoff(first: .seconds(5), longest: SilencePatience.longest)
    }

    private var entries: [UInt32: Entry] = [:]
    private static let longest: Duration = .seconds(60)
    /// A user is forgotten after this time without a test.
    private static let memory: Duration = .seconds(600)

    /// Whether anybody is ignored, or was recently.
    func isNeeded(at now: BootTime) -> Bool { entries.contains { now < $0.value.until + Self.memory } }

    func ignored(at now: BootTime) -> Set<UInt32> { Set(entries.filter { now < $0.value.until }.keys) }

    mutating func refute(_ users: Set<UInt32>, at now: BootTime) {
        entries = entries.filter { now < $0.value.until + Self.memory }
        for user in users {
            var entry = entries[user] ?? Entry(until: now)
            entry.until = now + entry.backoff.wait()
            entries[user] = entry
        }
        while entries.count > SilenceSample.userLimit, let first = entries.min(by: { $0.value.until < $1.value.until })
        {
            entries[first.key] = nil
        }
    }
}
