import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Synchronization
import Testing

/// Where answers of the server go. NATS checks the subject of what a client sends, but not its reply subject, so an
/// acknowledgement or a stored message arrives wherever the asker wants within its account.
@Suite struct ReplyRightsTests {
    /// What nobody but its owner may write, with the stream that would store it.
    private static let targets: [(stream: String, subject: String)] =
        ["all", "group.tills", "host.till-2"].map { ("KV_reach_desired", "$KV.reach_desired.\($0)") } + [
            ("KV_reach_state", "$KV.reach_state.till-2"), ("KV_reach_lease", "$KV.reach_lease.till-2"),
            ("REACH_EVENTS", "reach.v1.ev.till-2"), ("REACH_CONN", "reach.v1.conn.up.HOSTS"),
            ("REACH_CONN", "reach.v1.conn.up.REACH"), ("REACH_CONN", "reach.v1.conn.down.HOSTS"),
            ("KV_reach_hosts", "$KV.reach_hosts.till-2"), ("KV_reach_notes", "$KV.reach_notes.key.UNOBODY"),
            ("REACH_AUDIT", "reach.v1.audit.UNOBODY"),
        ]
    /// Subjects at which the server itself acts.
    private static let actions = [
        "$JS.API.STREAM.DELETE.KV_reach_hosts", "$JS.API.STREAM.PURGE.KV_reach_hosts",
        "$JS.API.CONSUMER.DELETE.REACH_EVENTS.x",
    ]

    /// - Parameter key: The user's key.
    private static func rights(of user: String, key: String, in hosts: HostList) -> FleetRights {
        switch user {
        case "reader": .reader
        case "operator": .controller(key)
        case "ben": .controller(key, groups: ["others"], hosts: hosts)
        default: .host(user, groups: ["tills"])
        }
    }

    /// Everything that the streams hold of what the user must not write.
    private func held(_ admin: JetStream) throws -> [String: UInt64] {
        var held: [String: UInt64] = [:]
        for (stream, subject) in Self.targets { held[subject] = try admin.last(subject, in: stream)?.sequence ?? 0 }
        held["hosts"] = try admin.stream("KV_reach_hosts")?["state"]?["messages"]?.integer.map { UInt64($0) }
        return held
    }

    /// No message has this number, so the server refuses what expects it to be the last, and answers.
    private static let refused = [HeaderField("Nats-Expected-Last-Sequence", "9999999")]

    private static let users = ["till-1", "reader", "operator", "ben"]

    @Test(arguments: NATSServerProcess.programs, users)
    func `no answer of the server arrives where its asker may not write`(_ program: String, _ user: String) throws {
        try tryReplies(of: user, in: TestFleet(nats: program, operators: ["ben": "others"]))
    }

    @Test(arguments: NATSServerProcess.programs, users)
    func `nor does one where users have tokens`(_ program: String, _ user: String) throws {
        try tryReplies(of: user, in: TestFleet(nats: program, operators: ["ben": "others"], hasTokens: true))
    }

    private func tryReplies(of user: String, in fleet: TestFleet) throws {
        let admin = JetStream(try fleet.link(as: "admin"))
        try FakeHost("till-2", in: fleet).put()
        let link = try fleet.link(as: user)
        // Somebody listens where hosts do, as in every fleet.
        let listener = try fleet.link(as: "till-2")
        let heard = try ["$KV.reach_desired.all", "$KV.reach_desired.host.till-2"].map {
            try listener.subscribe($0) { _ in }
        }
        try listener.flush()
        if user == "till-1" {
            _ = try JetStream(link).append(
                FleetNames.eventSubject(of: user),
                headers: [HeaderField("Nats-Subject", "$KV.reach_desired.all"), HeaderField("KV-Operation", "DEL")], [])
        }
        let before = try held(admin)
        // All that it may ask, with every place for the answer. What ends in a wildcard names any key.
        let key = try #require(try TestFleet.program.run(["key", "\(fleet.directory.path)/\(user).nk"]).lines.first)
        let hosts = try HostList(text: #require(SmallFile.text(fleet.directory.path + "/hosts")))
        let requests = Self.rights(of: user, key: key, in: hosts).publish.filter { !$0.contains("CONSUMER") }
        #expect(requests.count >= 8)
        for request in requests {
            let subject = request.replacing(".>", with: ".$KV.reach_state.till-2").replacing("*", with: "x")
            for target in Self.targets.map(\.subject) + Self.actions {
                try link.publish(subject, reply: target, headers: Self.refused, [])
                if subject.hasPrefix("$JS.API") { try link.publish(subject, reply: target, []) }
            }
        }
        if user != "till-1" { try deliver(link) }
        try link.flush()
        // The server answers what was sent before.
        _ = try? link.request(requests[0], headers: Self.refused, [], within: .seconds(2))
        #expect(try held(admin) == before)
        withExtendedLifetime(heard) {}
    }

    /// Makes consumers that deliver what is stored to every target, and asks others for messages there.
    private func deliver(_ link: NATSLink) throws {
        let jetStream = JetStream(link)
        for (number, target) in (Self.targets.map(\.subject) + Self.actions).enumerated() {
            for stream in ["KV_reach_state", "REACH_CONN"] {
                for (name, isPush) in [("push\(number)", true), ("pull\(number)", false)] {
                    var writer = JSONWriter()
                    writer.object {
                        $0.field("stream_name", stream)
                        $0.field(
                            "config",
                            object: {
                                $0.field("name", name)
                                $0.field("filter_subject", ">")
                                $0.field("ack_policy", "none")
                                $0.field("deliver_policy", "all")
                                if isPush { $0.field("deliver_subject", target) }
                            })
                    }
                    _ = try? jetStream.call("CONSUMER.CREATE.\(stream).\(name).>", writer.bytes)
                    try link.publish(
                        "$JS.API.CONSUMER.MSG.NEXT.\(stream).\(name)", reply: target, Array(#"{"batch":5}"#.utf8))
                }
            }
        }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a host cannot empty a bucket`(_ program: String) throws {
        let fleet = try TestFleet(nats: program)
        let other = try FakeHost("till-2", in: fleet)
        try other.put()
        try other.renew()
        let link = try fleet.link(as: "till-1")
        for bucket in [FleetNames.state, FleetNames.lease] {
            let subject = FleetNames.subject(ofKey: "till-1", in: bucket)
            for word in ["all", "sub"] {
                _ = try? JetStream(link).append(subject, headers: [HeaderField("Nats-Rollup", word)], [1])
            }
        }
        let reader = JetStream(try fleet.link(as: "reader"))
        #expect(try reader.entry("till-2", in: FleetNames.state) != nil)
        #expect(try reader.entry("till-2", in: FleetNames.lease) != nil)
    }

    /// A host's reader would take the first header, which is the writer's.
    @Test func `a stored message that says itself what it is is an error`() throws {
        let fleet = try TestFleet()
        let host = JetStream(try fleet.link(as: "till-1"))
        let subject = FleetNames.eventSubject(of: "till-1")
        _ = try host.append(subject, headers: [HeaderField("Nats-Subject", "$KV.reach_desired.all")], [1])
        #expect(failure { try host.last(subject, in: FleetNames.events) } == .failed)
        _ = try host.append(subject, [2])
        #expect(try host.last(subject, in: FleetNames.events)?.payload == [2])
    }

    @Test(arguments: NATSServerProcess.programs, [false, true])
    func `hosts hear at once what the operator wants`(_ program: String, _ hasTokens: Bool) throws {
        let fleet = try TestFleet(nats: program, hasTokens: hasTokens)
        let host = try fleet.link(as: "till-1")
        let heard = Mutex<[NATSMessage]>([])
        let subscription = try host.subscribe("$KV.reach_desired.group.tills") { message in
            heard.withLock { $0.append(message) }
        }
        try host.flush()
        try fleet.expectSuccess(fleet.run("hold", as: "operator", ["--group", "tills", "--reason", "stocktaking"]))
        try waitUntil("the host hears it") { heard.withLock { !$0.isEmpty } }
        let message = try #require(heard.withLock { $0.first })
        #expect(try DesiredState(message.payload).reason == "stocktaking")
        let stored = try JetStream(host).last(
            "$KV.reach_desired.group.tills", in: FleetNames.stream(of: FleetNames.desired))
        #expect(stored?.payload == message.payload)
        withExtendedLifetime(subscription) {}
    }

    /// The server of an earlier version's configuration, with everybody in one account.
    @Test(arguments: NATSServerProcess.programs)
    func `the doctor finds a server whose hosts and readers can write for others`(_ program: String) throws {
        let fleet = try TestFleet(nats: program, isSetUp: false, sharesAccount: true)
        try fleet.expectSuccess(fleet.run("setup", as: "admin", ["--hosts", fleet.directory.path + "/hosts"]))
        let host = try FakeHost("till-1", in: fleet)
        try host.put()
        let words = try fleet.run("doctor", ["--json"]).lines.map {
            try JSONReader.read(Array($0.utf8))["word"]?.string
        }
        #expect(words.contains("replies"))
        #expect(words.contains("accounts"))
        let text = try fleet.run("doctor", as: "admin").standardOutput
        #expect(text.contains("the keys of till-1 can write for every host"), "\(text)")
        #expect(text.contains("reach-fleet config"))
        let current = try TestFleet(nats: program)
        try FakeHost("till-1", in: current).put()
        for user in ["reader", "operator", "admin"] {
            let found = try current.run("doctor", as: user, ["--json"]).lines.map {
                try JSONReader.read(Array($0.utf8))["word"]?.string
            }
            #expect(!found.contains("replies") && !found.contains("accounts"), "\(user): \(found)")
        }
    }
}
