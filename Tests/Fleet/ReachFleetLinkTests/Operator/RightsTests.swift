import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Synchronization
import Testing

/// The printed configuration, on a real server: what each kind of user may do, and nothing else.
@Suite struct RightsTests {
    /// What the server refused, by its own words.
    private final class Refusals: Sendable {
        private let texts = Mutex<[String]>([])

        func add(_ event: NATSLink.Event) {
            if case .fault(let error) = event, error.kind == .notPermitted {
                texts.withLock { $0.append(error.description) }
            }
        }

        var isEmpty: Bool { texts.withLock { $0.isEmpty } }

        func contains(_ subject: String) -> Bool {
            texts.withLock { $0.contains { $0.contains("\"\(subject)\"") } }
        }
    }

    private static let streams =
        [FleetNames.events, FleetNames.connections]
        + [FleetNames.state, FleetNames.lease, FleetNames.desired, HostList.bucket].map(FleetNames.stream)

    private static func own(_ host: String) -> [String] {
        [
            FleetNames.eventSubject(of: host), "$KV.reach_state.\(host)", "$KV.reach_lease.\(host)",
            "$JS.API.DIRECT.GET.REACH_EVENTS.reach.v1.ev.\(host)",
            "$JS.API.DIRECT.GET.KV_reach_state.$KV.reach_state.\(host)",
            "$JS.API.DIRECT.GET.KV_reach_desired.$KV.reach_desired.host.\(host)",
            "$JS.API.DIRECT.GET.KV_reach_desired.$KV.reach_desired.group.tills",
            "$JS.API.DIRECT.GET.KV_reach_desired.$KV.reach_desired.all",
        ]
    }

    /// Subjects that a host must not publish to: others' and everybody's, the desired state, the API.
    private static let foreign: [String] =
        own("till-2").filter { !$0.hasSuffix(".all") && !$0.hasSuffix(".tills") }
        + [
            "$KV.reach_desired.host.till-1", "$KV.reach_desired.all", "$KV.reach_desired.group.tills",
            "$KV.reach_hosts.till-1", "reach.v1.ev", "reach.v1.ev.till-1.x", "reach.v1.conn.up.REACH",
            "reach.v1.conn.down.REACH", "reach.v1.sys.varz", "$SYS.REQ.SERVER.PING.VARZ",
            "$SYS.REQ.ACCOUNT.REACH.CONNZ",
            "reach.v1.enroll.till-2.x", "reach.v1.enroll.till-1.x", "$SYS.REQ.CLAIMS.UPDATE", "_INBOX_ENROLL.x",
            "_INBOX.till-2.x", "_INBOX.till-1.x", "_INBOX_READER.x", "anything", "$JS.API.INFO", "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.LIST", "$JS.ACK.REACH_EVENTS.x", "$JS.API.DIRECT.GET.KV_reach_state.$KV.reach_state.till-2",
            "$JS.API.DIRECT.GET.KV_reach_desired.$KV.reach_desired.group.others",
            "$JS.API.DIRECT.GET.KV_reach_hosts.$KV.reach_hosts.till-1",
        ]
        + streams.flatMap { stream in
            [
                "STREAM.INFO", "STREAM.CREATE", "STREAM.UPDATE", "STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.GET",
                "STREAM.MSG.DELETE", "STREAM.SNAPSHOT", "CONSUMER.CREATE", "CONSUMER.NAMES", "DIRECT.GET",
            ].map { "$JS.API.\($0).\(stream)" }
                + ["$JS.API.CONSUMER.CREATE.\(stream).x", "$JS.API.CONSUMER.MSG.NEXT.\(stream).x"]
        }

    private static let foreignReading: [String] = [
        ">", "*", "reach.>", "reach.v1.ev.*", "reach.v1.ev.till-1", "reach.v1.ev.till-2", "reach.v1.conn.>", "$KV.>",
        "$KV.reach_state.>", "$KV.reach_state.till-2", "$KV.reach_lease.*", "$KV.reach_desired.>",
        "$KV.reach_desired.host.*", "$KV.reach_desired.host.till-2", "$KV.reach_desired.group.others",
        "$KV.reach_hosts.>",
        "_INBOX.>", "_INBOX.*", "_INBOX.till-2.>", "_INBOX_READER.>", "$JS.>", "$JS.API.>", "$JS.EVENT.>", "$SYS.>",
        "reach.v1.sys.varz", "reach.v1.enroll.>", "reach.v1.enroll.till-1.*", "_INBOX_ENROLL.>",
    ]

    @Test(arguments: NATSServerProcess.programs, [false, true])
    func `a host may use its own subjects and nothing else`(_ program: String, _ hasTokens: Bool) throws {
        let fleet = try TestFleet(nats: program, hasTokens: hasTokens)
        let refusals = Refusals()
        let link = try fleet.link(as: "till-1") { refusals.add($0) }
        for subject in Self.own("till-1") {
            #expect(failure { try link.request(subject, [], within: .seconds(10)) } == nil, "\(subject)")
        }
        let own = try ["_INBOX.till-1.>", "$KV.reach_desired.all", "$KV.reach_desired.group.tills"].map { subject in
            try link.subscribe(subject) { _ in }
        }
        try link.flush()
        #expect(refusals.isEmpty)
        // One after the other: libnats reports only the last of several refusals.
        for subject in Self.foreign {
            try link.publish(subject, Array("{}".utf8))
            try waitUntil("publishing to \(subject) is refused") { refusals.contains(subject) }
        }
        for subject in Self.foreignReading {
            let subscription = try link.subscribe(subject) { _ in }
            try waitUntil("subscribing to \(subject) is refused") { refusals.contains(subject) }
            withExtendedLifetime(subscription) {}
        }
        withExtendedLifetime(own) {}
    }

    @Test(arguments: NATSServerProcess.programs, [false, true])
    func `a reader reads everything and writes nothing`(_ program: String, _ hasTokens: Bool) throws {
        let fleet = try TestFleet(nats: program, hasTokens: hasTokens)
        let refusals = Refusals()
        let link = try fleet.link(as: "reader") { refusals.add($0) }
        for stream in Self.streams {
            #expect(failure { try JetStream(link).stream(stream) } == nil, "\(stream)")
        }
        let writing =
            [
                "reach.v1.ev.till-1", "$KV.reach_state.till-1", "$KV.reach_lease.till-1", "$KV.reach_desired.all",
                "$KV.reach_hosts.till-1", "_INBOX.till-1.x",
            ] + Self.streams.flatMap { ["$JS.API.STREAM.DELETE.\($0)", "$JS.API.STREAM.PURGE.\($0)"] }
        for subject in writing {
            try link.publish(subject, [])
            try waitUntil("publishing to \(subject) is refused") { refusals.contains(subject) }
        }
    }

    @Test(arguments: NATSServerProcess.programs, [false, true])
    func `a stranger's key is refused, and so is none`(_ program: String, _ hasTokens: Bool) throws {
        let fleet = try TestFleet(nats: program, hasTokens: hasTokens)
        let stranger = try NKeyPair.generate()
        #expect(failure { try fleet.server.connect { $0.identity = .key(stranger) } } == .refused)
        #expect(failure { try fleet.server.connect() } == .refused)
        try fleet.directory.file("stranger.nk", stranger.seed, mode: 0o600)
        #expect(try fleet.run("status", as: "stranger").status == 77)
    }

    @Test func `a key that is taken from the list is cut off and refused`() throws {
        let fleet = try TestFleet()
        let closed = Mutex(false)
        let link = try fleet.link(as: "till-1") { event in
            if case .closed = event { closed.withLock { $0 = true } }
        }
        let path = fleet.directory.path
        let text = try #require(SmallFile.text(path + "/server.conf"))
        let key = try #require(try TestFleet.program.run(["key", path + "/till-1.nk"]).lines.first)
        let other = try NKeyPair.generate().publicKey
        let port = "127.0.0.1:\(fleet.server.port)"
        try fleet.directory.file(
            "server.conf",
            text.split(separator: key, omittingEmptySubsequences: false).joined(separator: other)
                .split(separator: "127.0.0.1:-1", omittingEmptySubsequences: false).joined(separator: port))
        fleet.server.reload()
        try waitUntil { closed.withLock { $0 } }
        #expect(failure { try fleet.link(as: "till-1") } == .refused)
        withExtendedLifetime(link) {}
    }
}
