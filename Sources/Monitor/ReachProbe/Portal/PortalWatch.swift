internal import ReachCore

/// What the API of a portal behind one interface says, and when to ask it next. A pure value: answers and times come
/// from outside.
///
/// The API is asked when the network is joined, when a check of a path finds a portal or no Internet, before a session
/// ends, and now and then while the portal is closed. If a session has no end, nothing is scheduled. Whatever is
/// announced and answered, questions grow rarer unless a session lasts: anybody on the link may announce, and each
/// question takes a TLS handshake.
struct PortalWatch {
    typealias Ticket = ValidationCommand.Ticket

    private enum Phase: Equatable {
        case waiting(until: BootTime?)
        case asking(Ticket)
    }

    let api: ConnectivityEndpoint
    /// The ways to the network, at least one. The API is asked by one after the other, until one answers.
    private(set) var routes: [DefaultRoute]
    private(set) var session: PortalSession?
    /// Why the last question had no result.
    private(set) var trouble: PortalTrouble?
    private var phase: Phase
    private var failures = 0
    /// What limits questions, also to the APIs that the network announced before.
    private(set) var pace: PortalPace
    /// The next question, if one is scheduled. A warning may come earlier.
    private var nextQuestion: BootTime?
    /// The end of the last answer's fresh time.
    private var freshUntil: BootTime?
    private var backoff = Backoff(first: .seconds(2), longest: .seconds(3600))
    private var poll = Backoff(first: PortalPace.shortestGap, longest: .seconds(300))

    /// Failed questions in a row after which the last answer no longer counts.
    static let strikes = 3
    /// Portals count whole seconds, and answers take time.
    private static let slack: Duration = .seconds(2)

    /// Sessions and waits that are shorter end in polling.
    private static let shortest: Duration = .seconds(60)
    /// The longest fresh time of an answer that the portal is closed: who has logged in does not wait for minutes.
    private static let longestFreshCaptive: Duration = .seconds(60)

    /// - Parameter pace: Of the questions that this link was asked before.
    init(_ api: ConnectivityEndpoint, _ routes: [DefaultRoute], _ pace: PortalPace, at now: BootTime) {
        self.api = api
        self.routes = routes
        self.pace = pace
        let begin = pace.begin(at: now)
        nextQuestion = begin
        phase = .waiting(until: begin)
    }

    var deadline: BootTime? {
        guard case .waiting(let until) = phase else { return nil }
        return until
    }

    var openTicket: Ticket? {
        guard case .asking(let ticket) = phase else { return nil }
        return ticket
    }

    /// Whether the portal says that it lets nothing pass.
    var isCaptive: Bool { session?.isCaptive == true }

    /// - Returns: `false` if the network is another one, so that nothing known still holds.
    mutating func update(_ api: ConnectivityEndpoint, _ fresh: [DefaultRoute]) -> Bool {
        let hasOtherGateway = fresh.contains { route in
            routes.contains { $0.key == route.key && !$0.leadsToSameNetwork(as: route) }
        }
        let isKnown = fresh.contains { route in routes.contains { $0.key == route.key } }
        guard api == self.api, !hasOtherGateway, isKnown else { return false }
        routes = fresh
        return true
    }

    /// - Parameter allowed: When a budget of bytes allows a question: now, or later.
    /// - Returns: The question to ask now, if any.
    mutating func timeReached(at now: BootTime, ticket: Ticket, allowed: BootTime) -> ValidationCommand? {
        guard case .waiting(let until?) = phase, now >= until else { return nil }
        noteTime(at: now)
        guard let nextQuestion else {
            phase = .waiting(until: nil)
            return nil
        }
        let earliest = max(nextQuestion, allowed)
        guard now >= earliest else {
            phase = .waiting(until: earliest)
            return nil
        }
        pace.noteQuestion(at: now, isFirst: session == nil && failures == 0)
        phase = .asking(ticket)
        return .askPortal(routes[failures % routes.count], api, ticket)
    }

    /// Handles an answer, or the lack of one.
    ///
    /// - Returns: Whether the portal has closed or opened, so that the paths behind it must be checked.
    mutating func answered(
        _ ticket: Ticket, _ result: Result<PortalAnswer, PortalTrouble>, at now: BootTime,
        jitter: (Duration) -> Duration
    ) -> Bool {
        guard phase == .asking(ticket) else { return false }
        let wasCaptive = isCaptive
        switch result {
        case .success(let answer): adopt(answer, at: now, jitter)
        case .failure(let trouble): fail(trouble, at: now, jitter)
        }
        return isCaptive != wasCaptive
    }

    private mutating func adopt(_ answer: PortalAnswer, at now: BootTime, _ jitter: (Duration) -> Duration) {
        failures = 0
        trouble = nil
        backoff.reset()
        var next = PortalSession(interface: routes[0].name, isCaptive: answer.isCaptive)
        next.userPortalURL = answer.userPortalURL
        next.venueInfoURL = answer.venueInfoURL
        next.bytesRemaining = answer.bytesRemaining
        next.canExtend = answer.canExtendSession
        if !answer.isCaptive {
            next.end = answer.secondsRemaining.map { now + .seconds(min($0, PortalSession.longestSeconds)) }
        }
        session = next
        noteTime(at: now)
        let longest = answer.isCaptive ? Self.longestFreshCaptive : answer.freshTime
        freshUntil = answer.freshTime == .zero ? nil : now + min(answer.freshTime, longest)
        schedule(timeToAsk(at: now, jitter).map { max($0, freshUntil ?? $0) }, at: now)
    }

    private mutating func timeToAsk(at now: BootTime, _ jitter: (Duration) -> Duration) -> BootTime? {
        guard let session else { return nil }
        guard !session.isCaptive, session.end.map({ $0 > now }) ?? true else { return now + jitter(poll.wait()) }
        guard let next = session.isEnding ? session.end.map({ $0 + .seconds(1) }) : session.warning else {
            poll.reset()
            return nil
        }
        // A portal that names an end that is always near has the API polled, more and more rarely.
        guard next - now >= Self.shortest else { return max(next, now + poll.wait()) }
        poll.reset()
        return next
    }

    /// The warning needs no question, so nothing delays it.
    private mutating func schedule(_ next: BootTime?, at now: BootTime) {
        nextQuestion = next
        let warning = session?.warning.flatMap { $0 > now ? $0 : nil }
        phase = .waiting(until: next.map { min($0, warning ?? $0) } ?? warning)
    }

    private mutating func fail(_ reason: PortalTrouble, at now: BootTime, _ jitter: (Duration) -> Duration) {
        failures += 1
        trouble = reason
        noteTime(at: now)
        let hasEnded = session?.end.map { $0 <= now } ?? false
        if failures >= Self.strikes || hasEnded { session = nil }
        schedule(now + jitter(backoff.wait()), at: now)
    }

    /// Notes that a session is about to end.
    private mutating func noteTime(at now: BootTime) {
        guard let warning = session?.warning else { return }
        session?.isEnding = now + Self.slack >= warning
    }

    /// Asks soon, since a check of a path found a portal or no Internet, or something else than the portal said.
    mutating func doubt(at now: BootTime) {
        // Before the first answer the pace decides, and after a failure the back-off.
        guard case .waiting(let until) = phase, failures == 0, session != nil else { return }
        let earliest = max(now, pace.lastQuestion.map { $0 + PortalPace.shortestGap } ?? now, freshUntil ?? now)
        nextQuestion = min(nextQuestion ?? earliest, earliest)
        phase = .waiting(until: min(until ?? earliest, earliest))
    }

    /// Notes that the portal has closed or opened.
    ///
    /// - Returns: Whether the paths behind it are checked from the start.
    mutating func turn(at now: BootTime) -> Bool { pace.turn(at: now) }

    /// Asks at once, since the machine slept.
    mutating func restart(at now: BootTime) {
        freshUntil = nil
        failures = 0
        backoff.reset()
        poll.reset()
        nextQuestion = now
        phase = .waiting(until: now)
    }
}

/// How often the portals of one link may be asked, and may have its paths checked. It stays when a link announces
/// another API: otherwise a host that announces new ones all the time would have each of them asked at once.
struct PortalPace: Equatable {
    /// Shortest time between two questions.
    static let shortestGap: Duration = .seconds(5)
    /// After this time without questions, or without turns, what was before says nothing more.
    private static let memory: Duration = .seconds(3600)
    /// Logging in and a session's end are two turns.
    private static let freeTurns = 4

    private(set) var lastQuestion: BootTime?
    private var begins = Backoff(first: Self.shortestGap, longest: .seconds(600))
    /// How long after the last question another API is asked first.
    private var gap: Duration = .zero
    private var turns = 0
    private var turnWaits = Backoff(first: .seconds(60), longest: .seconds(3600))
    private var lastTurn: BootTime?
    private var nextTurn: BootTime?

    /// When the API that a link announces from now on is asked first.
    fileprivate func begin(at now: BootTime) -> BootTime {
        lastQuestion.map { max(now, $0 + gap) } ?? now
    }

    /// - Parameter isFirst: Whether this API was not asked before.
    fileprivate mutating func noteQuestion(at now: BootTime, isFirst: Bool) {
        if let lastQuestion, now - lastQuestion > Self.memory { begins.reset() }
        if isFirst { gap = begins.wait() }
        lastQuestion = now
    }

    fileprivate mutating func turn(at now: BootTime) -> Bool {
        if let lastTurn, now - lastTurn > Self.memory {
            turns = 0
            turnWaits.reset()
        }
        (turns, lastTurn) = (turns + 1, now)
        if turns <= Self.freeTurns { return true }
        if let nextTurn, now < nextTurn { return false }
        nextTurn = now + turnWaits.wait()
        return true
    }
}

extension PortalSession {
    /// When to report that the session is about to end; `nil` if it has no end.
    fileprivate var warning: BootTime? {
        end.map { BootTime(nanoseconds: $0.nanoseconds - Self.warningTime.nanoseconds) }
    }
}
