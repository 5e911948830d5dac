import ReachCore
import ReachQueue
import ReachTesting
import Testing

@testable import ReachControl
import ReachRecords

/// The schema of the lines, compared with the definitions that it is made from and with what is encoded.
@Suite struct LineSchemaTests {
    private static let texts = [
        LineSchema.lines, MonitorInterface.definition, QueueInterface.definition, LineSchema.fleet,
    ]
    private static let moment = Instant.second(5)

    private static func schema(_ command: LineCommand? = nil) -> [UInt8] {
        var json = JSONWriter()
        LineSchema().write(command, to: &json)
        return json.bytes
    }

    private static func fields(_ type: String, _ text: String = LineSchema.lines) -> [String: VarlinkDefinition.Kind] {
        let fields = VarlinkDefinition(text).types[type]?.fields ?? []
        return Dictionary(fields.map { ($0.name, $0.type) }) { first, _ in first }
    }

    @Test(arguments: texts.indices)
    func `every type and field of a definition is read`(index: Int) throws {
        let text = Self.texts[index]
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let definition = VarlinkDefinition(text)
        #expect(definition.types.count == lines.count { $0.hasPrefix("type ") })
        for (name, structure) in definition.types {
            let body = lines.drop { $0 != "type \(name) (" }.dropFirst().prefix { $0 != ")" }
            #expect(structure.fields.count == body.count, "\(name)")
        }
    }

    @Test func `comments of fields are theirs, over several lines and for two names`() throws {
        let definition = VarlinkDefinition(
            """
            interface a.b
            # A thing.
            #   one   the first,
            #         which goes on
            #   two, three  others
            # More of it.
            type T (
              one: ?[]string,
              two: int,
              three: (inner: bool, deep: ?float),
              four: [string]int,
              five: ?object
            )
            """)
        let type = try #require(definition.types["T"])
        #expect(definition.name == "a.b" && type.comment == "A thing. More of it.")
        #expect(type.fields.map(\.comment) == ["the first, which goes on", "others", "others", "", ""])
        #expect(type.fields.map(\.isOptional) == [true, false, false, false, true])
        #expect(type.fields[0].type == .array(.string))
        #expect(type.fields[2].type == .fields(["inner", "deep"], [.bool, .float]))
        #expect(type.fields[3...].map(\.type) == [.map(.int), .object])
    }

    /// Varlink has no unions, so the types of events there have the keys of all events.
    @Test func `events of the interfaces have the keys and types of the lines that they stand for`() {
        let journal = ["Change", "Resync", "Wake", "Dropped", "ProbeEvent", "QueueEvent", "Started", "Stopped", "Gap"]
        let unions: [(String, String, [String])] = [
            ("Event", MonitorInterface.definition, Array(journal[..<6]) + ["Numbered"]),
            ("Event", QueueInterface.definition, ["QueueEvent", "Dropped", "Numbered"]),
            ("JournalEvent", MonitorInterface.definition, journal + ["Recorded"]),
        ]
        for (type, definition, parts) in unions {
            var known: [String: Set<String>] = [:]
            for (key, kind) in parts.flatMap({ Self.fields($0) }) { known[key, default: []].insert("\(kind)") }
            let union = Self.fields(type, definition)
            // The progress of attempts goes only to those who watch one request.
            let progress: Set = ["began", "began_boottime_ns", "sent", "to_send", "received", "to_receive"]
            let expected = definition == QueueInterface.definition ? [] : progress
            #expect(Set(known.keys).subtracting(union.keys) == expected, "\(type)")
            for (key, kind) in union { #expect(known[key]?.contains("\(kind)") == true, "\(type).\(key)") }
        }
    }

    @Test(.enabled(if: SchemaCheck.isAvailable, "\(SchemaCheck.whyNot)"))
    func `every kind of event is as the schema says, and every key of the schema occurs`() throws {
        let schema = String(decoding: Self.schema(.watch), as: UTF8.self)
        var stream = EventStream(source: .daemon)
        let lines = Self.events.map { String(decoding: stream.line($0), as: UTF8.self) }
        let faults = try SchemaCheck.faults(in: lines, by: schema, hasEveryKey: true)
        // Events of probes do not list the latest results.
        let absent = [
            "no line has io.reach.Monitor.ProbeReport.beats", "no line has io.reach.Monitor.ProbeReport.beats_us",
        ]
        #expect(faults == absent)
    }

    @Test(.enabled(if: SchemaCheck.isAvailable, "\(SchemaCheck.whyNot)"))
    func `the journal's events and the history's records are as the schema says`() throws {
        var lines: [[UInt8]] = [
            JournalEvents.started(at: Self.moment, lastSeen: Self.moment.wall, boot: "b"),
            JournalEvents.stopped(at: Self.moment, boot: "b"),
            JournalGap(.refused, 1...2).event(at: Self.moment, boot: "b"),
            JournalGap(.log).event(at: Self.moment, boot: "b"),
        ]
        lines += Self.recorded.map { JournalEvents.encode($0, boot: "b") }
        lines = lines.map { JournalLine.event($0, log: String(repeating: "0", count: 32), number: 1) }
        var state = HistoryEntry.State(
            target: "internet", status: .notReachable, linkClass: "wired", interface: "eth0", reason: "no-route",
            rootCause: "no-carrier", rootInterface: "eth0", cause: "link-down", connectivity: "none")
        state.network = "office"
        let contents: [HistoryEntry.Content] = [
            .started(lastSeen: Self.moment.wall), .started(lastSeen: nil), .stopped, .state(state),
            .state(HistoryEntry.State(target: "a", status: .unknown)), .unwatched(target: "a"), .dropped(count: 3),
        ]
        lines += contents.map { HistoryLine.json(HistoryEntry($0, at: Self.moment, boot: "b")) }
        let schema = String(decoding: Self.schema(.history), as: UTF8.self)
        #expect(try SchemaCheck.faults(in: lines.map { String(decoding: $0, as: UTF8.self) }, by: schema) == [])
    }

    @Test(.enabled(if: SchemaCheck.isAvailable, "\(SchemaCheck.whyNot)"))
    func `a line with another key, another type or without a key is a fault`() throws {
        let schema = String(decoding: Self.schema(.watch), as: UTF8.self)
        let good = #"{"v":1,"type":"wake","seq":1,"time":"2026-11-21T03:10:00.123456Z","boottime_ns":1,"slept_ms":5}"#
        #expect(try SchemaCheck.faults(in: [good], by: schema) == [])
        for (part, other) in [
            ("\"slept_ms\":5", "\"slept_ms\":5,\"more\":1"), ("\"slept_ms\":5", "\"slept_ms\":\"5\""),
            ("\"seq\":1,", ""),
            (",\"slept_ms\":5", ""), ("\"v\":1", "\"v\":2"),
        ] {
            let bad = good.replacing(part, with: other)
            #expect(try !SchemaCheck.faults(in: [bad], by: schema).isEmpty, "\(bad)")
        }
    }

    private static var recorded: [EncodedEvent] {
        let change = ReachabilityChange(at: moment, cause: .name, aspects: [.path], previous: state, state: state)
        var probe = ProbeSample.report
        probe.last?.phases = ProbePhases(Dictionary(uniqueKeysWithValues: ProbePhase.allCases.map { ($0, .zero) }))
        return [
            .change(change, source: .daemon), .wake(slept: .zero, at: moment), .queue(record),
            .snapshot(state, source: .daemon, isInitial: true, cause: .start, at: moment),
            .probe(ProbeEvent(.up, at: moment, report: probe)),
        ]
    }

    private static var events: [EncodedEvent] {
        let progress = AttemptProgress(
            id: RequestID(rawValue: 1), interface: "", began: moment,
            bytes: ByteProgress(sent: 0, toSend: 0, received: 0, toReceive: 0))
        return recorded + notices.map { .notice($0, at: moment) } + [
            .resync(reason: "", at: moment), .dropped(count: 1, at: moment),
            .disconnected(reason: "", state, source: .daemon, at: moment), .reconnected(away: .zero, at: moment),
            .queueWatching(at: moment), .queueProgress(progress, at: moment),
        ]
    }

    private static var notices: [Notice] {
        let address = InterfaceAddress(interface: 2, address: IPAddress(ipv4: 0xc000_0202), prefixLength: 24)
        let neighbour = Neighbour.Key(interface: 2, address: IPAddress(ipv4: 0xc000_0201))
        guard let anywhere = IPPrefix("0.0.0.0/0") else { preconditionFailure("0.0.0.0/0 is a prefix") }
        var route = Route(destination: anywhere, table: 100)
        route.hops = [NextHop(interface: 2, gateway: IPAddress(ipv4: 0xc000_0201)), NextHop(interface: 3)]
        let rule = Rule(family: .ipv6, priority: 32_766)
        return [
            .link(Link(index: 3, name: "br0")), .linkRemoved(3), .address(address), .addressRemoved(address),
            .neighbour(Neighbour(key: neighbour, state: .failed)), .neighbourRemoved(neighbour),
            .route(route, replacesOther: true), .routeRemoved(route), .rule(rule), .ruleRemoved(rule), .nexthop(id: 7),
            .nexthopRemoved(id: 7), .setting(family: .ipv4, interface: nil),
            .portal(PortalAnnouncement(interface: 2, router: IPAddress(ipv4: 0xc000_0201), uri: "https://p.example/")),
        ]
    }

    private static var state: ReachabilityState {
        var state = ReachabilityState.reachable(.internet)
        state.portalSession = PortalSession(interface: "eth0", isCaptive: true)
        (state.name, state.heldCause) = ("office", RootCause(.noCarrier, interface: "eth0"))
        state.connectivityReason = .nameNotResolved
        (state.ipv4.network, state.isMetered, state.ipv4.meteredReason) = ("office", true, .wwan)
        state.ipv4.accessPoint = HardwareAddress("02:00:00:00:00:01")
        state.ipv4.traits.alternativeNames = ["enp3s0"]
        state.measuresQuality = true
        state.ipv4.quality = LineQuality(
            .lossy, lossPermille: 52, roundTrip: .milliseconds(31), jitter: .zero, packets: 60)
        return state
    }

    /// An event of the queue with a value for every key.
    private static var record: QueueEvent {
        var record = QueueEvent(.queued, at: moment, epoch: 1)
        record.request = RequestID(rawValue: 1)
        record.owner = 1
        record.attempt = 1
        record.reason = ""
        record.status = 1
        record.interface = ""
        record.blockers = .rate
        record.notBefore = moment.wall
        record.destination = Destination(stored: "")
        record.condition = .any
        record.count = 1
        record.budget = MeteredReport(
            scope: .all, budget: MeteredBudget(bytes: 1, per: .day), used: 0, renewed: moment.wall)
        return record
    }
}
