import ReachControl
import ReachCore
@testable import ReachDaemon
import ReachKernel
import ReachQueue
import ReachTOML
import ReachTesting
import Testing

@Suite struct ConfigurationTests {
    private func parse(_ text: String) throws(ConfigurationError) -> Configuration {
        try Configuration.parse(Array(text.utf8), file: "reach.toml")
    }

    @Test func `budgets for metered links are those of the queue, in the order of the tables`() throws {
        let configuration = try parse(
            """
            [queue]
            metered_budget = "200 MiB/month"
            metered_budget_per_user = "5GiB/week"
            metered_budget_begins = 14
            [[interface]]
            match = "wwan0"
            metered_budget = "1 B/day"
            [[interface]]
            match = "wwan*"
            metered_budget = "1 MiB/day"
            """)
        let policy = configuration.meteredPolicy
        #expect(policy.all?.description == "200 MiB/month" && policy.perUser?.description == "5 GiB/week")
        #expect(policy.links.map(\.match.pattern) == ["wwan0", "wwan*"] && policy.begins == 14)
        #expect(Configuration().meteredPolicy.isEmpty)
    }

    @Test func `every key is read`() throws {
        let configuration = try parse(
            """
            log_level = "warning"
            [internet]
            anchors = ["192.0.2.1", "2001:db8::1"]
            mark = 0x1234
            [targets]
            office = "10.0.0.0/8"
            "backup.example" = "https://backup.example.net/"
            [[interface]]
            match = "wwan*"
            class = "wwan"
            metered = true
            [[interface]]
            match = "enx?"
            metered = false
            [hold]
            up = "500ms"
            down = "1m30s"
            maximum = "1h"
            [limits]
            connections = 20
            connections_per_user = 10
            targets = 5
            pending_bytes = 65536
            [socket]
            path = "/tmp/reach.sock"
            group = "netdev"
            [hooks]
            directory = "/srv/hooks"
            timeout = "5s"
            [history]
            entries = 0
            directory = "/srv/history"
            """)
        #expect(configuration.logLevel == .warning)
        #expect(configuration.targets[named: "office"] == (try Target("10.0.0.0/8")))
        #expect(configuration.targets.map(\.name) == ["office", "backup.example"])
        #expect(configuration.targets[named: "other"] == nil)
        var limits = ControlLimits()
        (limits.connections, limits.connectionsPerUser, limits.targets, limits.backlogBytes) = (20, 10, 5, 65536)
        #expect(configuration.controlLimits == limits)
        #expect(configuration.socket.path == "/tmp/reach.sock")
        #expect(configuration.socket.group == "netdev")
        #expect(configuration.hooks.directory == "/srv/hooks")
        #expect(configuration.hooks.timeout == .seconds(5))
        #expect(configuration.history.entries == 0)
        #expect(configuration.history.directory == "/srv/history")
        let options = configuration.engineOptions
        #expect(options.anchors == [IPAddress(ipv4: 0xc000_0201), IPAddress("2001:db8::1")])
        #expect(options.mark == 0x1234)
        #expect(options.holdDown == HoldDown(up: .milliseconds(500), down: .seconds(90), maximum: .seconds(3600)))
        let policy = options.observer.policy
        #expect(policy.first(\.linkClass, for: "wwan0") == .wwan)
        #expect(policy.first(\.isMetered, for: "wwan0") == true)
        #expect(policy.first(\.isMetered, for: "enx1") == false)
        #expect(policy.first(\.linkClass, for: "enx1") == nil)
    }

    @Test func `an empty file means the defaults, which are also the engine's`() throws {
        let configuration = try parse("")
        #expect(configuration == Configuration())
        let (options, standard) = (configuration.engineOptions, ReachabilityEngine.Options())
        #expect(options.anchors == standard.anchors)
        #expect(options.mark == standard.mark)
        #expect(options.holdDown == standard.holdDown)
        #expect(options.observer.policy == standard.observer.policy)
        #expect(configuration.controlLimits == ControlLimits())
    }

    @Test func `every error has its file, line and key, in the order of the lines`() {
        let found = Configuration.errors(
            in: """
                log_levle = "info"
                [hold]
                up = 5
                down = "5"
                [limits]
                connections = 0
                timeout = "1s"
                oops
                [[interface]]
                class = "wlan"
                [history]
                entries = 1.5
                [hokos]
                """)
        let expected = [
            "reach.toml:1: log_levle: unknown key; did you mean 'log_level'?",
            "reach.toml:3: hold.up: it is a whole number; expected a duration in quotes, from 0 ms to 1 d 0 h, "
                + "such as \"500ms\", \"10s\" or \"1m30s\"",
            "reach.toml:4: hold.down: \"5\" is not a duration with a unit (ms, s, m, h, d); expected a duration in quotes, "
                + "from 0 ms to 1 d 0 h, such as \"500ms\", \"10s\" or \"1m30s\"",
            "reach.toml:6: limits.connections: it is 0; expected a whole number from 1 to 65536",
            "reach.toml:7: limits.timeout: unknown key; did you mean timeout below [connectivity]?",
            "reach.toml:8: limits.oops: there is '\\n' (while parsing key-value pair); expected '='",
            "reach.toml:9: interface: match is missing; expected match = VALUE below [[interface]]",
            "reach.toml:10: interface.class: \"wlan\" is not a known word; expected one of \"wired\", \"wifi\", \"wwan\", "
                + "\"bluetooth\", \"tunnel\", \"virtual\", \"loopback\", \"other\"",
            "reach.toml:12: history.entries: it is a number with a fraction; expected a whole number from 0 to 1000000",
            "reach.toml:13: hokos: unknown table; did you mean [hooks]?",
        ]
        #expect(found == expected)
    }

    @Test(arguments: [
        ("log_level = 1", "1: log_level: it is a whole number"),
        ("[internet]\nanchors = []", "2: internet.anchors: the list has 0 elements"),
        ("[internet]\nanchors = [\n'9.9.9.9',\n'example'\n]", "4: internet.anchors: \"example\" is not an address"),
        ("[internet]\nanchors = '9.9.9.9'", "2: internet.anchors: it is a text"),
        ("[internet]\nmark = -1", "2: internet.mark: it is -1"),
        ("[internet]\nmark = 4294967296", "2: internet.mark: it is 4294967296"),
        ("internet = 3", "1: internet: it is not a table"),
        ("[interface]\nmatch = 'x'", "1: interface: it is not a list of tables"),
        ("[[hold]]", "1: hold: it is not a table"), ("targets = 1", "1: targets: it is not a table"),
        ("[targets]\n'192.0.2.1' = 'internet'", "2: targets.192.0.2.1: \"192.0.2.1\" cannot be the name of a target"),
        ("[targets]\ninternet = 'internet'", "2: targets.internet: \"internet\" cannot be the name of a target"),
        ("[targets]\n'a b' = 'internet'", "2: targets.a b: \"a b\" cannot be the name of a target"),
        ("[targets]\na = 'a b'", "2: targets.a: 'a b' is not a host name"),
        ("[targets]\na = 1", "2: targets.a: it is a whole number"),
        ("[targets.a]\nb = 'internet'", "1: targets.a: it is a table"),
        ("[[interface]]\nmatch = ''", "2: interface.match: it has 0 bytes"),
        ("[[interface]]\nmatch = 'x'\nmetered = 'yes'", "3: interface.metered: it is a text"),
        ("[hold]\nup = '1s'\n[[interface]]\nmatch = 'x'", "3: interface: it sets nothing for what it matches"),
        ("[hold]\nup = 2001-01-01", "2: hold.up: it is a date"), ("[hold]\nup = '2d'", "2: hold.up: it is \"2d\""),
        ("[hooks]\ntimeout = '0s'", "2: hooks.timeout: it is \"0s\""),
        ("[hooks]\ndirectory = 'hooks.d'", "2: hooks.directory: \"hooks.d\" is not absolute"),
        ("[socket]\npath = '/\(String(repeating: "x", count: 107))'", "2: socket.path: it has 108 bytes"),
        ("[socket]\npath = \"/a\\u0000b\"", "2: socket.path: it has a NUL byte"),
        ("[socket]\ngroup = ''", "2: socket.group: \"\" cannot be the name of a group"),
        ("[hold]\nup = '10s'\nmaximum = '5s'", "3: hold.maximum: it is shorter than a hold"),
        (
            "[limits]\nconnections = 5\nconnections_per_user = 6",
            "3: limits.connections_per_user: it is more than connections (5)"
        ),
        ("[hold.up]", "1: hold.up: it is a table"),
        ("[queue]\nmetered_budget = '200 MB/month'", "2: queue.metered_budget: \"200 MB/month\" is no such amount"),
        ("[queue]\nmetered_budget_per_user = 5", "2: queue.metered_budget_per_user: it is a whole number"),
        ("[queue]\nmetered_budget_begins = 32", "2: queue.metered_budget_begins: it is 32"),
        (
            "[queue]\nmetered_budget = '1 MiB/week'\nmetered_budget_begins = 8",
            "3: queue.metered_budget_begins: no period of a budget begins on day 8"
        ),
        ("[queue]\nmetered_budget_begins = 2", "2: queue.metered_budget_begins: no period of a budget begins on day 2"),
        (
            "[[interface]]\nmatch = 'wwan*'\nmetered_budget = '0 B/day'",
            "3: interface.metered_budget: \"0 B/day\" is no such amount"
        ),
        ("[hold]\n\"zz\\u001bz\" = 1", "2: hold.zz\\u{1b}z: unknown key"),
    ])
    func `an error about a wrong value has its line, key and problem`(text: String, problem: String) {
        let found = Configuration.errors(in: text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("reach.toml:" + problem + "; expected ") == true, "\(found)")
    }

    @Test func `a default for each user or destination contradicts no total that is set`() throws {
        let text = """
            [limits]
            connections = 5
            [queue]
            requests = 7
            concurrency = 1
            """
        let read = try Configuration.parse(Array(text.utf8), file: "reach.toml")
        #expect(read.limits.connectionsPerUser == 5)
        #expect(read.queue.policy.limits.ownerRequests == 7 && read.queue.policy.slots.destination == 1)
    }

    @Test(arguments: [
        ("[hold]\nuo = 1", "; did you mean 'up'?"),
        ("[limits]\nconections = 1", "; did you mean 'connections'?"),
        ("[limits]\nconnection_per_users = 1", "; did you mean 'connections_per_user'?"),
        ("match = 'x'", "; did you mean match below [[interface]]?"),
        ("entries = 1", "; did you mean entries below [history]?"),
        ("[hold]\nlog_level = 'info'", "; did you mean log_level below the top, before all tables?"),
        ("[hold]\nsomething_else = 1", "; expected one of up, down, maximum, flaps"),
        ("[interfaces]\n", "; did you mean [[interface]]?"),
        (
            "[zzzzzz]\n",
            "; expected one of [internet], [targets], [[interface]], [[network]], [connectivity], [hold], [limits], [socket], [hooks], "
                + "[[hook]], [history], [journal], [queue], [probes], [[probe_template]], [[probe]], [metrics], [page]"
        ),
    ])
    func `an error about an unknown key suggests the probable key`(text: String, meant: String) {
        let kind = text.hasPrefix("[") && text.hasSuffix("]\n") ? "table" : "key"
        #expect(Configuration.errors(in: text).first?.hasSuffix("unknown \(kind)\(meant)") == true)
    }

    @Test func `a wrong key in a list of tables is an error for each table`() {
        #expect(Configuration.errors(in: "[[interface]]\nmatch = 1\n[[interface]]\nmatch = 2\n").count == 2)
    }
}
