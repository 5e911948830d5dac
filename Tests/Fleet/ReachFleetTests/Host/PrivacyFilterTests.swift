import ReachCore
import ReachFleet
import ReachTesting
import Testing

@Suite struct `What leaves a host` {
    /// What must never be in a line under the default configuration.
    private static let secrets = [
        "SECRET", "00:11:22:33:44:55", "001122334455", "211:22ff:fe33:4455", "192.0.2.77", "2001:db8:1:2::77",
    ]

    private static let path = """
        {"status":"reachable","interface":"enx001122334455","ifindex":3,"class":"wired","lower":["SECRET"],\
        "gateway":"fe80::211:22ff:fe33:4455","source":"2001:db8:1:2::77","table":254,"neighbour":"SECRET",\
        "network":"SECRET","trusted":true,"access_point":"00:11:22:33:44:55","metered_reason":"SECRET",\
        "connectivity":"full","reason":null}
        """

    private static let status = """
        {"v":1,"type":"status","time":"2026-11-21T03:10:00.123456Z","boottime_ns":5,"source":"daemon",\
        "target":"internet","status":"reachable","class":"wired","interface":"enx001122334455","reason":null,\
        "metered":false,"network":"SECRET","connectivity":"portal","portal":"http://SECRET/login","validated":true,\
        "since":"2026-11-21T03:10:00.123456Z","epoch":2,"stale":false,"held":false,"flaps":0,\
        "ipv4":{"status":"reachable","interface":"eth0","ifindex":2,"class":"wired","gateway":"192.0.2.1",\
        "source":"192.0.2.77","connectivity":"full","reason":null},"ipv6":\(path)}
        """

    private static func event(_ type: String, _ members: String) -> JSONValue {
        let text = """
            {"v":1,"type":"\(type)","time":"2026-11-21T03:10:00.123456Z","boottime_ns":5,"boot":"SECRET","log":"l",\
            "n":3,"hostname":"SECRET","ssid":"SECRET",\(members)}
            """
        return (try? JSONReader.read(Array(text.utf8))) ?? .null
    }

    private static let events = [
        event(
            "change",
            "\"cause\":\"link-up\",\"changed\":[\"status\"],\"previous\":{\"status\":\"not-reachable\","
                + "\"interface\":\"wlx001122334455\",\"extra\":\"SECRET\"},\"status\":\(status)"),
        event("snapshot", "\"status\":\(status)"),
        event("wake", "\"slept_ms\":5"), event("resync", "\"reason\":\"SECRET\""),
        event(
            "probe",
            "\"event\":\"down\",\"probe\":{\"probe\":\"web\",\"state\":\"down\","
                + "\"target\":\"https://SECRETuser:SECRET@www.example.net:8443/SECRET?SECRET#SECRET\",\"last\":{"
                + "\"outcome\":\"fail\",\"reason\":\"refused\",\"detail\":\"SECRET\",\"address\":\"192.0.2.77\","
                + "\"interface\":\"wlx001122334455\",\"headers\":\"SECRET\"}}"),
        event(
            "queue",
            "\"event\":\"dead\",\"id\":5,\"reason\":\"refused\",\"when\":\"target=SECRET\","
                + "\"destination\":\"https://api.example.net\",\"headers\":[\"SECRET\"],\"body\":\"SECRET\""),
        event("link", "\"address\":\"00:11:22:33:44:55\""), event("future", "\"x\":\"SECRET\""),
    ]

    @Test func `no name, MAC address, SSID, portal, full URL, sentence or header leaves under the default`() throws {
        var filter = PrivacyFilter()
        filter.kinds = Set(PrivacyFilter.Kind.allCases)
        var types: [String] = []
        for event in Self.events {
            guard let line = filter.line(of: event, log: "l", n: 3) else { continue }
            let text = String(decoding: line, as: UTF8.self)
            for secret in Self.secrets { #expect(!text.contains(secret), "\(text)") }
            types.append(try FleetEvent(line).type)
        }
        #expect(types == ["change", "snapshot", "wake", "probe", "queue"])
    }

    @Test func `whatever keys an event has, only known ones leave`() throws {
        var random = SeededGenerator(seed: 5)
        let filter = PrivacyFilter()
        for _ in 0..<500 {
            let sown = sow(random.pick(Self.events), &random)
            guard let line = filter.line(of: sown, log: "l", n: 3) else { continue }
            #expect(!String(decoding: line, as: UTF8.self).contains("SOWN"))
        }
    }

    /// The event with further members at random places.
    private func sow(_ json: JSONValue, _ random: inout SeededGenerator) -> JSONValue {
        guard case .object(var members) = json else { return json }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) { members[key] = sow(value, &random) }
        for name in [
            "mac", "ssid", "detail", "url", "portal", "hostname", "x\(Int.random(in: 0...99, using: &random))",
        ]
        where random.oneIn(2) {
            members[name] = .string("SOWN")
        }
        return .object(members)
    }

    @Test func `addresses and URLs leave as the configuration says`() throws {
        var filter = PrivacyFilter()
        func paths() throws -> (HostStatus.Path, HostStatus.Path) {
            let status = filter.filtered(try HostStatus(reading: try JSONReader.read(Array(Self.status.utf8))))
            return (status.ipv4, status.ipv6)
        }
        #expect(try paths().0.gateway == IPAddress("192.0.2.1"))
        #expect(try paths().0.source == IPPrefix("192.0.2.0/24"))
        #expect(try paths().1.gateway == IPAddress("fe80::"))
        #expect(try paths().1.source == IPPrefix("2001:db8:1::/56"))
        filter.addresses = .none
        #expect(try paths().0.gateway == nil)
        #expect(try paths().0.source == nil)
        filter.addresses = .full
        #expect(try paths().0.source == IPPrefix("192.0.2.77/32"))
        let url = "https://user:word@www.example.net:8443/a?b#c"
        #expect(filter.url(url) == "https://www.example.net:8443")
        #expect(filter.url("ping:192.0.2.1") == "ping:192.0.2.1")
        #expect(filter.url("/a/path") == nil)
        filter.urls = .full
        #expect(filter.url(url) == "https://www.example.net:8443/a?b")
        filter.urls = .none
        #expect(filter.url(url) == nil)
    }

    @Test func `the root cause leaves, with its interface's name but for a MAC address`() throws {
        let event = Self.event(
            "change",
            "\"changed\":[\"status\"],\"previous\":{\"status\":\"not-reachable\",\"root_cause\":\"link-down\","
                + "\"root_interface\":\"wlx001122334455\"},\"status\":{\"target\":\"internet\",\"status\":\"not-reachable\","
                + "\"reason\":\"no-route\",\"root_cause\":\"no-carrier\",\"root_interface\":\"enx001122334455\"}")
        let line = try #require(PrivacyFilter().line(of: event, log: "l", n: 3))
        let json = try JSONReader.read(line)
        #expect(json["status"]?["root_cause"] == .string("no-carrier"))
        #expect(json["status"]?["root_interface"] == .string("enx*"))
        #expect(json["previous"]?["root_cause"] == .string("link-down"))
        #expect(json["previous"]?["root_interface"] == .string("wlx*"))
        guard case .status(let status, _, _, _) = try FleetEvent(line).kind else { throw WireError.badKey("status") }
        #expect(status.rootCause == RootCause(.noCarrier, interface: "enx*"))
    }

    @Test(arguments: PrivacyFilter.Kind.allCases)
    func `an event leaves if and only if its kind is configured`(kind: PrivacyFilter.Kind) {
        let probe = "\"probe\":{\"probe\":\"web\",\"state\":\"down\"}"
        let events: [(PrivacyFilter.Kind, JSONValue)] = [
            (.status, Self.event("change", "\"changed\":[\"status\",\"connectivity\"],\"status\":\(Self.status)")),
            (.status, Self.event("snapshot", "\"status\":\(Self.status)")),
            (
                .connectivity,
                Self.event("change", "\"changed\":[\"connectivity\",\"portal\"],\"status\":\(Self.status)")
            ),
            (.status, Self.event("started", "\"last_seen\":null")), (.status, Self.event("stopped", "\"x\":1")),
            (.wake, Self.event("wake", "\"slept_ms\":5")), (.queue, Self.event("queue", "\"event\":\"dead\"")),
            (.probe, Self.event("probe", "\"event\":\"down\",\(probe)")),
            (.probeResult, Self.event("probe", "\"event\":\"result\",\(probe)")),
        ]
        var filter = PrivacyFilter()
        filter.kinds = [kind]
        for (own, event) in events {
            #expect((filter.line(of: event, log: "l", n: 3) != nil) == (own == kind), "\(event)")
        }
    }

    @Test func `what leaves of each event is this`() throws {
        var filter = PrivacyFilter()
        filter.kinds = Set(PrivacyFilter.Kind.allCases)
        func text(_ type: String, _ members: String) throws -> String {
            let line = try #require(filter.line(of: Self.event(type, members), log: "l", n: 3))
            return String(decoding: line, as: UTF8.self)
        }
        let moment = "\"time\":\"2026-11-21T03:10:00.123456Z\""
        #expect(
            try text("started", "\"last_seen\":\"x\"")
                == "{\"boottime_ns\":5,\"last_seen\":\"x\",\"log\":\"l\",\"n\":3,\(moment),\"type\":\"started\",\"v\":1}"
        )
        let last =
            "\"outcome\":\"fail\",\"reason\":\"refused\",\"duration_us\":7,\"http_status\":500,\"certificate_until\":\"u\","
            + "\"certificate_days\":9,\"interface\":\"enx001122334455\",\"address\":\"192.0.2.77\""
        let probe =
            "\"probe\":{\"probe\":\"web\",\"state\":\"down\",\"since\":\"s\",\"paused\":false,\"interval_ms\":60,"
            + "\"target\":\"https://www.example.net/x\",\"last\":{\(last)}}"
        var expected =
            "{\"boottime_ns\":5,\"event\":\"down\",\"log\":\"l\",\"n\":3,\"probe\":{\"interval_ms\":60,\"last\":{"
            + "\"certificate_days\":9,\"certificate_until\":\"u\",\"duration_us\":7,\"http_status\":500,"
            + "\"interface\":\"enx*\",\"outcome\":\"fail\",\"reason\":\"refused\"},\"paused\":false,\"probe\":\"web\","
            + "\"since\":\"s\",\"state\":\"down\",\"target\":\"https://www.example.net\"},\(moment),\"type\":\"probe\",\"v\":1}"
        #expect(try text("probe", "\"event\":\"down\",\(probe)") == expected)
        filter.addresses = .full
        expected.replace("{\"certificate_days\"", with: "{\"address\":\"192.0.2.77\",\"certificate_days\"")
        #expect(try text("probe", "\"event\":\"down\",\(probe)") == expected)
        let members =
            "\"event\":\"dead\",\"epoch\":1,\"id\":5,\"attempt\":2,\"reason\":\"r\",\"status\":500,\"blockers\":[\"b\"],"
            + "\"not_before\":\"t\",\"count\":3,\"interface\":\"eth0\",\"destination\":\"https://a.example/b\""
        #expect(
            try text("queue", members)
                == "{\"attempt\":2,\"blockers\":[\"b\"],\"boottime_ns\":5,\"count\":3,"
                + "\"destination\":\"https://a.example\",\"epoch\":1,\"event\":\"dead\",\"id\":5,\"interface\":\"eth0\","
                + "\"log\":\"l\",\"n\":3,\"not_before\":\"t\",\"reason\":\"r\",\"status\":500,\(moment),"
                + "\"type\":\"queue\",\"v\":1}")
        let change =
            "\"initial\":false,\"cause\":\"link-up\",\"changed\":[\"status\"],\"previous\":{\"status\":\"reachable\","
            + "\"class\":\"wired\",\"reason\":null,\"root_cause\":null,\"interface\":\"eth0\"},\"status\":\(Self.status)"
        let read = try JSONReader.read(Array(try text("change", change).utf8))
        #expect(read["cause"] == .string("link-up") && read["initial"] == .bool(false))
        #expect(read["changed"] == .array([.string("status")]))
        #expect(
            read["previous"]
                == .object([
                    "status": .string("reachable"), "class": .string("wired"),
                    "interface": .string("eth0"),
                ]))
        #expect(read["status"]?["connectivity"] == .string("portal"))
    }

    @Test func `targets and kinds that are not configured stay`() {
        var filter = PrivacyFilter()
        #expect(filter.line(of: Self.events[2], log: "l", n: 3) == nil)
        #expect(filter.line(of: Self.events[0], log: "l", n: 3) != nil)
        filter.targets = []
        #expect(filter.line(of: Self.events[0], log: "l", n: 3) == nil)
    }
}
