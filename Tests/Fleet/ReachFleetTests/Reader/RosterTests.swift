import ReachCore
import ReachFleet
import Testing

/// One host of a roster, in every state that the engine can show. Times are seconds after noon.
@Suite struct RosterTests {
    private static let noon = Timestamp(secondsSince1970: 1_795_348_800, nanoseconds: 0)
    private static let host = "till-1"
    private static let key = "UKEY"

    private static func at(_ seconds: Int) -> Timestamp { noon + .seconds(seconds) }

    /// What the engine holds about the host.
    struct Evidence: Sendable, CustomTestStringConvertible {
        var name: String
        var state: (@Sendable (inout HostState) -> Void)? = { _ in }
        /// When the engine stored the state, and by how much the host's clock is ahead.
        var stored = 0
        var ahead = 0
        var lease: Int?
        var leaseEnded: Int?
        var connections: [ConnectionAdvisory] = []
        var isListed = true
        var now = 10
        var leaseAge: Duration?
        var started: Int?

        let expected: HostPresence

        var testDescription: String { name }
    }

    private static func status(
        _ status: ReachabilityStatus = .reachable, _ reason: Reason? = nil, connectivity: Connectivity = .full,
        since: Int = -600
    ) -> HostStatus {
        HostStatus(status, reason: reason, linkClass: .wifi, connectivity: connectivity, since: at(since))
    }

    private static func advisory(_ isUp: Bool, _ time: Int, start: Int, _ reason: String? = nil) -> ConnectionAdvisory {
        ConnectionAdvisory(
            isUp: isUp, time: at(time), start: at(start), user: key, address: IPAddress("203.0.113.7"), reason: reason)
    }

    private static func here(_ since: Int = -600, seen: Int, isPresumed: Bool = false, why: String? = nil)
        -> HostPresence
    {
        HostPresence(
            .here, since: at(since), why: why, reason: why == nil ? nil : "engine-restart", isPresumed: isPresumed,
            lastSeen: at(seen))
    }

    private static func limited(_ why: String, _ reason: String, since: Int = -600) -> HostPresence {
        HostPresence(.limited, since: at(since), why: why, reason: reason, lastSeen: at(5))
    }

    private static func silent(_ since: Int, _ why: String, _ reason: String, seen: Int) -> HostPresence {
        HostPresence(.silent, since: at(since), why: why, reason: reason, isPresumed: true, lastSeen: at(seen))
    }

    static let table: [Evidence] = [
        Evidence(
            name: "renewed and reachable", lease: 5, expected: here(seen: 5)),
        Evidence(
            name: "renewed, portal", state: { $0.status = status(connectivity: .portal) }, lease: 5,
            expected: limited("a captive portal requires a login", "portal")),
        Evidence(
            name: "renewed, root cause",
            state: {
                $0.status = status(.notReachable, .noRoute)
                $0.status?.rootCause = RootCause(.noCarrier, interface: "eth0")
            }, lease: 5,
            expected: limited("the Internet is not reachable (no-route: eth0 has no carrier)", "no-route")),
        Evidence(
            name: "renewed, path without Internet", state: { $0.status = status(connectivity: .limited) }, lease: 5,
            expected: limited("there is a path, but the Internet does not answer", "limited")),
        Evidence(
            name: "renewed, names alone fail",
            state: {
                $0.status = status(connectivity: .limited)
                $0.status?.connectivityReason = .nameNotResolved
            }, lease: 5,
            expected: limited("names are not resolved, though the Internet answers", "name-not-resolved")),
        Evidence(
            name: "renewed over another network, Internet away",
            state: { $0.status = status(.notReachable, .noRoute) }, lease: 5,
            expected: limited("the Internet is not reachable (no-route)", "no-route")),
        Evidence(
            name: "renewed, a target down", state: { $0.targets = ["shop": .notReachable, "vpn": .reachable] },
            lease: 5, expected: limited("shop down", "target-down")),
        Evidence(
            name: "renewed, and another machine has its key", state: { $0.hasConflict = true }, lease: 5,
            expected: limited("another machine uses its identity", "conflict")),
        Evidence(
            name: "renewed, several probes down", state: { $0.probesDown = ["a", "b", "c"] }, lease: 5,
            expected: limited("a and 2 more down", "target-down")),
        Evidence(
            name: "renewed, no status", state: { $0.status = nil }, lease: 5,
            expected: HostPresence(
                .limited, since: at(-30), why: "its daemon does not answer", reason: "no-status", lastSeen: at(5))),
        Evidence(
            name: "renewed, no state yet", state: nil, lease: 5,
            expected: HostPresence(
                .limited, since: at(-30), why: "it has not reported a state", reason: "no-state", lastSeen: at(5))),
        Evidence(
            name: "renewed a moment ago, before a reader has its state", state: nil, lease: 10,
            expected: HostPresence(
                .unseen, why: "it has not reported a state", reason: "no-state", lastSeen: at(10))),
        Evidence(
            name: "three renewals missed, and a second", lease: 0, now: 362,
            expected: silent(0, "its lease ran out", "lease", seen: 0)),
        Evidence(
            name: "three renewals missed, not yet a second", lease: 0, now: 360, expected: here(seen: 0)),
        Evidence(
            name: "older than the bucket keeps it", lease: 0, now: 22, leaseAge: .seconds(20),
            expected: silent(0, "its lease ran out", "lease", seen: 0)),
        Evidence(
            name: "three renewals missed, and the bucket keeps them for long", stored: -500, lease: 0, now: 362,
            leaseAge: .seconds(604_800), expected: silent(0, "its lease ran out", "lease", seen: 0)),
        Evidence(
            name: "no state yet, where the bucket keeps leases for long", state: nil, lease: 0, now: 1802,
            leaseAge: .seconds(604_800),
            expected: HostPresence(
                .silent, since: at(0), why: "its lease ran out; before: it has not reported a state", reason: "lease",
                isPresumed: true, lastSeen: at(0))),
        Evidence(
            name: "the engine's marker, three leases after the last renewal", stored: -400, leaseEnded: 300, now: 301,
            expected: silent(-60, "its lease ran out", "lease", seen: -60)),
        Evidence(
            name: "a lease that was seen, and its marker", lease: 5, leaseEnded: 300,
            expected: silent(5, "its lease ran out", "lease", seen: 5)),
        Evidence(
            name: "a state and no lease yet, as a reader sees a new host", stored: 9,
            expected: here(seen: 9, isPresumed: true)),
        Evidence(
            name: "no lease and no marker", stored: -50, now: 400,
            expected: silent(-50, "its lease ran out", "lease", seen: -50)),
        Evidence(
            name: "silent, with trouble before", state: { $0.status = status(connectivity: .portal) }, now: 400,
            expected: silent(0, "its lease ran out; before: a captive portal requires a login", "lease", seen: 0)),
        Evidence(
            name: "the host closed its connection after the last renewal", lease: 5,
            connections: [advisory(true, -20, start: -20), advisory(false, 8, start: -20, "Client Closed")],
            expected: silent(8, "its connection ended: Client Closed", "connection", seen: 8)),
        Evidence(
            name: "the server found the connection stale", lease: 5,
            connections: [advisory(true, -20, start: -20), advisory(false, 400, start: -20, "Stale Connection")],
            now: 401, expected: silent(5, "its connection ended: Stale Connection", "connection", seen: 5)),
        Evidence(
            name: "a stale connection, and the engine's marker", stored: -400, leaseEnded: 300,
            connections: [advisory(true, -420, start: -420), advisory(false, 310, start: -420, "Stale Connection")],
            now: 311, expected: silent(-60, "its connection ended: Stale Connection", "connection", seen: -60)),
        Evidence(
            name: "an earlier connection ended, the next lasts", lease: 5,
            connections: [advisory(true, 7, start: 7), advisory(false, 8, start: -20, "Client Closed")],
            expected: here(seen: 7)),
        Evidence(
            name: "the connection ended, and the host renewed over another", lease: 9,
            connections: [advisory(false, 8, start: -20)], expected: here(seen: 9)),
        Evidence(
            name: "goodbye", state: { $0.left = at(4) }, stored: 4, leaseEnded: 4,
            expected: HostPresence(.left, since: at(4), why: "said goodbye", reason: "goodbye", lastSeen: at(4))),
        Evidence(
            name: "goodbye, then back", state: { $0.left = at(4) }, stored: 4, lease: 9,
            expected: here(seen: 9)),
        Evidence(
            name: "listed, nothing else", state: nil,
            expected: HostPresence(
                .unseen, why: "its key has never connected", reason: "never-connected")),
        Evidence(
            name: "the engine restarted a moment ago", stored: -50, now: 100, started: 0,
            expected: here(
                seen: -50, isPresumed: true, why: "the engine restarted; the lease is not renewed yet")),
        Evidence(
            name: "the lease ended while the engine was down", stored: -500, leaseEnded: 1, now: 100, started: 0,
            expected: here(
                seen: -359, isPresumed: true, why: "the engine restarted; the lease is not renewed yet")),
        Evidence(
            name: "the lease had ended before the engine restarted", stored: -500, leaseEnded: -1, now: 100, started: 0,
            expected: silent(-361, "its lease ran out", "lease", seen: -361)),
        Evidence(
            name: "the engine restarted longer ago than a lease", stored: -50, now: 312, started: 0,
            expected: silent(-50, "its lease ran out", "lease", seen: -50)),
        Evidence(
            name: "a clock an hour ahead", ahead: 3600, lease: 5,
            expected: HostPresence(
                .here, since: at(-600), hostSince: at(3000), lastSeen: at(5))),
        Evidence(
            name: "a clock 2 s ahead is right enough", ahead: 2, lease: 5,
            expected: HostPresence(.here, since: at(-598), lastSeen: at(5))),
    ]

    @Test(arguments: table)
    func `a host's word follows from what the engine holds`(_ evidence: Evidence) throws {
        var roster = Roster()
        if evidence.isListed { roster.apply(listed: Self.host, key: Self.key) }
        if let change = evidence.state {
            var state = HostState(
                host: Self.host, version: "1",
                written: Instant(
                    wall: Self.at(evidence.stored + evidence.ahead),
                    boot: BootTime(nanoseconds: 0)), boot: "b", lease: .seconds(120))
            state.status = Self.status(since: -600 + evidence.ahead)
            change(&state)
            roster.apply(state: state.bytes, of: Self.host, storedAt: Self.at(evidence.stored))
        }
        if let renewed = evidence.lease {
            let lease = HostLease(boot: "b", n: 1, since: Self.at(-30), behind: 0)
            roster.apply(lease: lease.bytes, of: Self.host, storedAt: Self.at(renewed))
        }
        if let ended = evidence.leaseEnded {
            roster.apply(
                lease: nil, of: Self.host, storedAt: Self.at(ended),
                isExpired: evidence.expected.word != .left)
        }
        for advisory in evidence.connections { roster.apply(advisory) }
        let engine = EngineFacts(
            now: Self.at(evidence.now), leaseAge: evidence.leaseAge, started: evidence.started.map(Self.at))
        #expect(try #require(roster[Self.host]).presence(engine) == evidence.expected)
    }

    @Test func `the subject decides which host a state is about, not the state`() {
        var roster = Roster()
        let state = HostState(
            host: "other", version: "1", written: Instant(wall: Self.noon, boot: BootTime(nanoseconds: 0)), boot: "b",
            lease: .seconds(120))
        roster.apply(state: state.bytes, of: Self.host, storedAt: Self.noon)
        #expect(roster["other"] == nil)
        #expect(roster[Self.host] != nil)
    }

    @Test(arguments: ["1678-01-01T00:00:00Z", "2262-01-01T00:00:00Z"])
    func `a host may write any year, and readers show it`(year: String) throws {
        var roster = Roster()
        var state = HostState(
            host: Self.host, version: "1",
            written: Instant(wall: try #require(Timestamp(year)), boot: BootTime(nanoseconds: 0)), boot: "b",
            lease: .seconds(120))
        state.status = Self.status()
        roster.apply(state: state.bytes, of: Self.host, storedAt: Self.noon)
        let lease = HostLease(boot: "b", n: 1, since: Self.noon, behind: 0)
        roster.apply(lease: lease.bytes, of: Self.host, storedAt: Self.noon)
        let host = try #require(roster[Self.host])
        #expect(host.presence(EngineFacts(now: Self.at(5))).word == .here)
        #expect(host.clockOffset.map { !RosterHost.isTolerable($0) } == true)
        #expect(FleetDoctor.hostClocks([host]).count == 1)
    }

    @Test func `values that cannot be read are counted, and the last good one stays`() {
        var roster = Roster()
        let lease = HostLease(boot: "b", n: 1, since: Self.noon, behind: 0)
        roster.apply(lease: lease.bytes, of: Self.host, storedAt: Self.noon)
        roster.apply(lease: Array("{".utf8), of: Self.host, storedAt: Self.at(1))
        roster.apply(state: [UInt8](repeating: 0x20, count: 20_000), of: Self.host, storedAt: Self.at(1))
        roster.apply(state: nil, of: "a.b", storedAt: Self.at(1))
        roster.apply(advisory: Array("[]".utf8))
        #expect(roster.damaged == 4)
        #expect(roster.hosts.count == 1)
        #expect(roster[Self.host]?.lease?.renewed == Self.noon)
    }

    @Test func `a connection counts for the host whose key it is, whatever its name says`() {
        var roster = Roster()
        roster.apply(listed: Self.host, key: Self.key)
        #expect(roster.apply(Self.advisory(true, 0, start: 0)) == Self.host)
        let foreign = ConnectionAdvisory(isUp: true, time: Self.noon, start: Self.noon, user: "UOTHER")
        #expect(roster.apply(foreign) == nil)
    }

    @Test func `the server's report of a disconnect is read`() throws {
        let advisory = try ConnectionAdvisory(
            Array(
                """
                {"type":"io.nats.server.advisory.v1.client_disconnect","id":"x","timestamp":"2026-11-22T13:28:51.402468126Z",
                "server":{"name":"n","id":"i","ver":"2.9.10"},"client":{"start":"2026-11-22T13:28:51.399409413Z",
                "host":"203.0.113.9","id":6,"acc":"REACH","user":"UKEY","name":"\\u001b[2J"},"reason":"Stale Connection"}
                """.utf8))
        #expect(!advisory.isUp)
        #expect(advisory.user == "UKEY")
        #expect(advisory.address == IPAddress("203.0.113.9"))
        #expect(advisory.reason == "Stale Connection")
        #expect(advisory.start < advisory.time)
    }
}
