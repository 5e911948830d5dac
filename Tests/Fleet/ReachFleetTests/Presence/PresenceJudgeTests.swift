import ReachCore
import ReachFleet
import Testing

/// When a host was here, away, limited, gone on purpose, and when nobody can know.
@Suite struct PresenceJudgeTests {
    // MARK: - Connections

    @Test func `a server that was killed and came back is no absence`() {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.up(400)
        #expect(evidence.words == ["unknown --500", "here -500-"])
        #expect(evidence.past.absences.isEmpty && evidence.availability.share == 1)
    }

    @Test func `a server that was stopped and came back is no absence, and a long time without it is unknown`() {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(300, start: -500, "Server Shutdown")
        evidence.up(400)
        #expect(evidence.past.absences.isEmpty && evidence.availability.share == 1)
        evidence.down(410, start: 400, "Server Shutdown")
        evidence.up(900)
        #expect(evidence.words.suffix(2) == ["unknown 410-900", "here 900-"])
    }

    @Test func `the late end of an older connection says nothing`() {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.up(300)
        evidence.down(700, start: -500)
        #expect(evidence.words == ["unknown --500", "here -500-"])
    }

    @Test func `that a connection begins says nothing about the time before`() {
        var evidence = HostEvidence()
        evidence.up(600)
        #expect(evidence.words == ["unknown -600", "here 600-"])
        #expect(evidence.availability.share == 1 && evidence.availability.unknown == .seconds(600))
    }

    @Test func `a host without a journal that was enrolled a moment ago has no past`() {
        var evidence = HostEvidence(renewed: 996, since: 995)
        evidence.up(995)
        #expect(evidence.availability.down == .zero && evidence.availability.unknown == .seconds(995))
    }

    @Test(arguments: [(329.0, 0), (332, 1)])
    func `a connection that comes back within half a minute is no absence`(_ back: Double, _ count: Int) {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(300, start: -500, "Read Error")
        evidence.up(back)
        #expect(evidence.past.absences.count == count)
    }

    @Test func `a host that closed its connection and says nothing was switched off`() {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(300, start: -500, "Client Closed")
        evidence.up(500)
        #expect(evidence.words.dropFirst() == ["here -500-300", "left 300-500", "here 500-"])
        #expect(evidence.past.absences.map(\.isSwitchedOff) == [true])
        #expect(evidence.availability.unknown == .seconds(200))
    }

    @Test func `a host without reports of connections is here since its lease says`() {
        #expect(HostEvidence(renewed: 990).words == ["unknown -990", "here 990-"])
    }

    // MARK: - Absences that the host reports

    @Test func `a power cut that no connection shows leaves its trace`() throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.up(570)
        evidence.down(700, start: -500)
        try evidence.reports(
            HostAbsence(from: at(290), isKnown: true, hasRestarted: true, lease: .seconds(30)), back: 570)
        #expect(evidence.words.dropFirst() == ["here -500-290", "away 290-570 confirmed", "here 570-"])
        #expect(evidence.past.absences.map(\.vagueness) == [.seconds(30)])
        #expect(evidence.availability.confirmed == .seconds(280))
    }

    @Test func `an absence that began before the window ends within it`() throws {
        var evidence = HostEvidence()
        evidence.up(400)
        try evidence.reports(HostAbsence(from: at(-900), isKnown: true, lease: .seconds(30)), back: 400)
        #expect(evidence.past.absences.map(\.start) == [nil])
        #expect(evidence.availability.confirmed == .seconds(400))
    }

    @Test func `where the server may have been away, too, nobody can know`() throws {
        var evidence = HostEvidence()
        evidence.up(-500, server: "a")
        evidence.up(800, server: "b")
        try evidence.reports(
            HostAbsence(from: at(290), away: .seconds(500), isKnown: false, lease: .seconds(30)), back: 800)
        #expect(evidence.words.dropFirst() == ["here -500-300", "unknown 300-800", "here 800-"])
        #expect(evidence.availability.share == 1)
    }

    @Test func `another server that was there all the time shows that the host was away`() throws {
        var evidence = HostEvidence()
        evidence.up(-500, server: "a")
        evidence.down(-400, start: -500, "Client Closed", server: "b")
        evidence.up(-390, server: "a")
        evidence.up(800, server: "b")
        try evidence.reports(HostAbsence(from: at(290), isKnown: false, lease: .seconds(30)), back: 800)
        #expect(evidence.words.suffix(2) == ["away 290-800 confirmed", "here 800-"])
    }

    @Test func `what the server saw stays, where the host cannot know`() throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(360, start: -500)
        evidence.up(800)
        try evidence.reports(HostAbsence(from: at(290), isKnown: false, lease: .seconds(30)), back: 800)
        #expect(evidence.words.dropFirst() == ["here -500-290", "unknown 290-360", "away 360-800", "here 800-"])
    }

    @Test func `an absence after a goodbye is nobody's trouble`() throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.up(600)
        try evidence.reports(HostAbsence(from: at(100), isKnown: true, hadLeft: true, lease: .seconds(30)), back: 600)
        #expect(evidence.words.dropFirst() == ["here -500-100", "left 100-600 confirmed", "here 600-"])
        #expect(evidence.availability.down == .zero && evidence.availability.unknown == .seconds(500))
    }

    @Test func `a time too short for a missed renewal is no absence, whatever the host says`() throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        try evidence.reports(HostAbsence(from: at(290), isKnown: true, lease: .seconds(30)), back: 349)
        #expect(evidence.past.absences.isEmpty)
    }

    @Test func `the connection that the host closed shows when it went`() throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(312, start: -500, "Client Closed")
        evidence.up(570)
        try evidence.reports(HostAbsence(from: at(290), isKnown: true, lease: .seconds(30)), back: 570)
        #expect(evidence.words.suffix(2) == ["away 312-570 confirmed", "here 570-"])
        #expect(evidence.past.absences.map(\.isSwitchedOff) == [false])
    }

    @Test(arguments: ["Client Closed", "Read Error", "Stale Connection"])
    func `an agent that dies between two renewals of a long lease was away from the end of its connection`(
        _ reason: String
    ) throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(400, start: -500, reason)
        evidence.up(570)
        try evidence.reports(HostAbsence(from: at(290), isKnown: true, lease: .seconds(240)), back: 570)
        let isStale = reason == "Stale Connection"
        #expect(evidence.words.suffix(2) == ["away \(isStale ? 290 : 400)-570 confirmed", "here 570-"])
        #expect(evidence.past.absences.map(\.vagueness) == [.seconds(isStale ? 110 : 0)])
        #expect(evidence.availability.outages == 1)
    }

    @Test func `an end of a connection that a newer one had replaced says nothing about when the host went`() throws {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.up(100)
        evidence.down(300, start: -500)
        evidence.up(570)
        try evidence.reports(HostAbsence(from: at(290), isKnown: true, lease: .seconds(30)), back: 570)
        #expect(evidence.past.absences.map(\.vagueness) == [.seconds(30)])
    }

    // MARK: - What the host says of the Internet

    @Test func `a host without Internet that reaches the server is limited, and a connection ends nothing`() throws {
        var evidence = HostEvidence(since: 300)
        evidence.up(-500)
        evidence.state(stored: 300) { $0.status = HostStatus(.notReachable, reason: .noRoute, since: at(300)) }
        try evidence.says(.notReachable, 300, was: .reachable, .noRoute)
        evidence.up(600)
        #expect(evidence.words.suffix(1) == ["limited 300- confirmed"])
        #expect(evidence.past.absences.map(\.reason) == [.noRoute])
        #expect(evidence.availability.confirmed == .seconds(700) && evidence.availability.outages == 1)
    }

    @Test func `a portal is no Internet`() throws {
        var evidence = HostEvidence(since: 900)
        evidence.up(-500)
        try evidence.says(.reachable, 300, was: .reachable, connectivity: .portal)
        try evidence.says(.reachable, 400, was: .reachable)
        #expect(evidence.words.suffix(2) == ["limited 300-400 confirmed", "here 400-"])
    }

    @Test func `what the host says of its path replaces what the server saw shortly before and after`() throws {
        var evidence = HostEvidence(since: 900)
        evidence.up(-500)
        evidence.down(305, start: -500, "Read Error")
        try evidence.says(.notReachable, 310, was: .reachable, .noCarrier)
        try evidence.says(.reachable, 500, was: .notReachable)
        evidence.up(504)
        #expect(evidence.words.suffix(3) == ["here -500-310", "away 310-500 confirmed", "here 500-"])
        #expect(evidence.past.absences.map(\.reason) == [.noCarrier])
    }

    @Test func `a short absence that the host itself reports is one`() throws {
        var evidence = HostEvidence(since: 900)
        evidence.up(-500)
        try evidence.says(.notReachable, 310, was: .reachable, .noCarrier)
        try evidence.says(.reachable, 311, was: .notReachable)
        #expect(evidence.availability.confirmed == .seconds(1))
    }

    @Test func `the first word of the window says how it was before`() throws {
        var evidence = HostEvidence(since: 900)
        evidence.up(-500)
        try evidence.says(.reachable, 200, was: .notReachable)
        #expect(evidence.past.absences.map(\.start) == [nil] && evidence.past.absences.map(\.end) == [at(200)])
        var started = HostEvidence(since: 900)
        started.up(100)
        try started.says(.reachable, 200)
        #expect(started.past.absences.isEmpty)
    }

    // MARK: - The present

    @Test func `a silent host is away since its last word`() {
        var evidence = HostEvidence(renewed: 700)
        evidence.up(-500)
        #expect(evidence.words.suffix(1) == ["away 700-"])
        #expect(evidence.past.absences.map(\.vagueness) == [.seconds(30)])
    }

    /// One that closed its connection counts when its agent would report it for sure: of a goodbye nothing else is left.
    @Test(arguments: [
        ("Stale Connection", 950.0, 970.0, 0), ("Stale Connection", 950, 969, 1), ("Read Error", 930, 970, 0),
        ("Read Error", 930, 969, 1), ("Client Closed", 930, 940, 0), ("Client Closed", 930, 939, 1),
    ])
    func `a host whose connection ended a moment ago is silent, and no outage before that counts for good`(
        _ reason: String, _ renewed: Double, _ time: Double, _ count: Int
    ) {
        var evidence = HostEvidence(now: 1000, renewed: renewed)
        evidence.up(-500)
        evidence.down(time, start: -500, reason)
        #expect(evidence.roster.hosts[0].presence(evidence.engine).word == .silent)
        #expect(evidence.past.absences.count == count && evidence.availability.outages == count)
        let begin = reason == "Stale Connection" ? renewed : time
        #expect(evidence.past.absences.allSatisfy { $0.start == at(begin) && !$0.isSwitchedOff })
    }

    @Test func `an absence that connections show counts, also where events are lost and nobody knows of the rest`() {
        var evidence = HostEvidence()
        evidence.up(-500)
        evidence.down(300, start: -500, "Read Error")
        evidence.up(400)
        evidence.history.leaveOut(before: at(800))
        #expect(evidence.availability.outages == 1 && evidence.availability.down == .seconds(100))
        #expect(evidence.availability.unknown == .seconds(700))
        #expect(evidence.past.unknown.count == 2)
    }

    @Test func `after a restart of the server nobody is silent before the longest wait is over`() {
        var evidence = HostEvidence(now: 1000, renewed: 200)
        evidence.up(-500)
        evidence.engine.started = at(700)
        evidence.engine.stopped = at(210)
        #expect(evidence.words.suffix(1) == ["unknown 200-"])
        evidence.engine.started = at(600)
        #expect(evidence.words.suffix(1) == ["away 200-"])
    }

    @Test func `a host that was silent when the server stopped stays so`() {
        var evidence = HostEvidence(now: 1000, renewed: 200)
        evidence.up(-500)
        evidence.engine.started = at(900)
        evidence.engine.stopped = at(895)
        #expect(evidence.words.suffix(1) == ["away 200-"])
    }

    @Test func `a connection that the server itself ended is no sign of the host's absence`() {
        var evidence = HostEvidence(now: 1000, renewed: 990)
        evidence.up(-500)
        evidence.down(995, start: -500, "Server Shutdown")
        #expect(evidence.words.suffix(1) == ["here -500-"])
    }

    @Test(arguments: ["Client Closed", "Read Error"])
    func `a copy's end before the server was killed is no absence of the original`(_ reason: String) {
        var evidence = HostEvidence(now: 1000, renewed: 990)
        evidence.up(-500, server: "a")
        evidence.up(100, server: "a")
        evidence.down(300, start: 100, reason, server: "a")
        evidence.up(402, server: "b")
        #expect(evidence.words.suffix(1) == ["here -500-"])
        // Had the server reported the original's end as well, the host was away.
        evidence.down(200, start: -500, server: "a")
        #expect(evidence.words.count > 2)
    }

    @Test func `the late end of a connection that began before the streams' first report is no absence`() {
        var evidence = HostEvidence(now: 3000, renewed: 2990)
        evidence.down(400, start: -500, server: "a")
        evidence.up(800, server: "a")
        #expect(!evidence.words.contains { $0.hasPrefix("away") })
        // A newer connection would have been reported.
        var known = HostEvidence(now: 3000, renewed: 2990)
        known.up(-800, server: "a")
        known.down(-505, start: -800, server: "a")
        known.down(400, start: -500, server: "a")
        known.up(800, server: "a")
        #expect(known.words.contains("away 400-800"))
    }

    @Test func `a goodbye is no absence`() {
        var evidence = HostEvidence(now: 1000, renewed: nil)
        evidence.up(-500)
        evidence.down(800, start: -500, "Client Closed")
        evidence.state(stored: 800) { $0.left = at(800) }
        #expect(evidence.words.suffix(1) == ["left 800- confirmed"])
    }
}
