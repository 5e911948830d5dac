import ReachCore
import ReachDaemon
import ReachLoop
import ReachProbe
import ReachTOML
import Testing

@Suite struct ProbeConfigurationTests {
    @Test func `all keys of a probe are read`() throws {
        let text = """
            [[probe]]
            name = "shop"
            target = "https://shop.example/health"
            interval = "10s"
            timeout = "2s"
            failing_interval = "1s"
            down = 4
            up = 1
            class = "wifi"
            family = "ipv6"
            method = "HEAD"
            headers = ["Accept: text/html", "X-Test: 1"]
            redirects = 2
            any_certificate = true
            status = "200,301"
            header = "Content-Type: html"
            body_contains = "well"
            body_prefix = "all"
            certificate_days = 7
            latency = "300ms"
            """
        let configuration = try Configuration.parse(Array(text.utf8), file: "reach.toml")
        let specification = try #require(configuration.probeSpecifications.first)
        #expect(specification.interval == .seconds(10) && specification.effectiveTimeout == .seconds(2))
        #expect(specification.failingInterval == .seconds(1))
        #expect(specification.thresholds.down == 4 && specification.thresholds.up == 1)
        #expect(specification.condition.description == "wifi" && specification.family == .ipv6)
        #expect(specification.method == .head && specification.redirects == 2 && specification.acceptsAnyCertificate)
        #expect(specification.headers.map(\.name) == ["Accept", "X-Test"])
        #expect(specification.expected.status.contains(301) && !specification.expected.status.contains(204))
        #expect(specification.expected.certificateDays == 7 && specification.expected.latency == .milliseconds(300))
        #expect(specification.expected.bodyContains == "well" && specification.expected.bodyPrefix == "all")
    }

    @Test func `a range stands for many probes, whose names must be free`() throws {
        let text = """
            [[probe]]
            name = "till"
            target = "icmp://192.0.2.[8-11]"
            interval = "10s"
            """
        let configuration = try Configuration.parse(Array(text.utf8), file: "reach.toml")
        let probes = configuration.probeSpecifications
        #expect(probes.map(\.name) == ["till-8", "till-9", "till-10", "till-11"])
        #expect(probes.map(\.target.description) == (8...11).map { "icmp://192.0.2.\($0)" })
        #expect(probes.allSatisfy { $0.interval == .seconds(10) })
        let taken = text + "\n[[probe]]\nname = \"till-9\"\ntarget = \"tcp://192.0.2.1:9\"\n"
        #expect(Configuration.errors(in: taken).joined().contains("another probe is already named \"till-9\""))
    }

    @Test func `a template sets what a probe does not, from any file, and for each target of a range`() throws {
        let read = try ReadConfiguration([
            (
                "reach.toml",
                Array(
                    """
                    [[probe]]
                    name = "rack"
                    target = "icmp://192.0.2.[1-2]"
                    template = "line"
                    loss_percent = 5
                    [[probe]]
                    name = "plain"
                    target = "icmp://192.0.2.9"
                    """.utf8)
            ),
            (
                "reach.d/50.toml",
                Array(
                    """
                    [[probe_template]]
                    name = "line"
                    group = "rack-4"
                    burst = 20
                    loss_percent = 10
                    interval = "1m"
                    """.utf8)
            ),
        ])
        let probes = read.configuration.probeSpecifications
        #expect(probes.map(\.name) == ["rack-1", "rack-2", "plain"])
        for probe in probes.prefix(2) {
            #expect(probe.group == "rack-4" && probe.burst == 20 && probe.interval == .seconds(60))
            #expect(probe.expected.lossPercent == 5)
            #expect(probe.effectiveTimeout == .milliseconds(6900))
        }
        #expect(probes[2].group == nil && probes[2].burst == nil && probes[2].interval == .seconds(30))
        let written = read.text
        #expect(try Configuration.parse(Array(written.utf8), file: "w") == read.configuration)
    }

    @Test(arguments: [(1000, 800), (5000, 4000), (6000, 4800), (30_000, 5000), (3_600_000, 5000)])
    func `the default timeout is 5 s, or four fifths of the interval`(interval: Int, timeout: Int) throws {
        var specification = ProbeSpecification(name: "x", target: try ProbeTarget("tcp://192.0.2.1:1"))
        specification.interval = .milliseconds(interval)
        #expect(specification.effectiveTimeout == .milliseconds(timeout))
    }

    @Test(arguments: [
        ("[[probe]]\nname = 'a'", "reach.toml:1: probe: target is missing; expected target = VALUE below [[probe]]"),
        (
            "[[probe]]\nname = 'a'\ntarget = 'x'",
            "reach.toml:3: probe.target: 'x' is no URL that can be probed: there are http://, https://, tcp://, tls://, dns: and icmp://; expected a URL in quotes, such as https://HOST/ or icmp://HOST"
        ),
        (
            "[[probe]]\nname = 'a b'\ntarget = 'icmp://192.0.2.1'",
            "reach.toml:2: probe.name: \"a b\" cannot be the name of a probe; expected a name in quotes of 1 to 64 letters, digits, hyphens, underscores and dots"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\n[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.2'",
            "reach.toml:5: probe.name: another probe is already named \"a\"; expected a unique name"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\nstatus = '200'",
            "reach.toml:4: probe.status: it does not apply to icmp; expected this key only for http, https"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\ninterval = '2s'\ntimeout = '3s'",
            "reach.toml:5: probe.timeout: it is longer than the interval; expected at most 2.0 s"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\ninterface = 'eth0'\nclass = 'wifi'",
            "reach.toml:5: probe.class: interface is set, too; expected either an interface or a class"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'http://192.0.2.1/'\nheaders = ['Accept: a', 'transfer-encoding: xchunked']",
            "reach.toml:4: probe.headers: the header 'transfer-encoding' may not be set: it is about the connection, which reach looks after itself; expected a header in quotes, such as \"Accept: text/html\""
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'http://192.0.2.1/'\nheaders = ['Host: a b']",
            "reach.toml:4: probe.headers: the value of 'Host' is not a host, with or without a port; expected a header in quotes, such as \"Accept: text/html\""
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'http://192.0.2.1/'\nheaders = ['Host: a', 'host: b']",
            "reach.toml:4: probe.headers: the header 'host' is given more than once; expected each header once"
        ),
        (
            "[[probe_template]]\nname = 'web'\n[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\ntemplate = 'wed'",
            "reach.toml:6: probe.template: no [[probe_template]] is named \"wed\"; did you mean 'web'?"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\ntemplate = 'wed'",
            "reach.toml:4: probe.template: no [[probe_template]] is named \"wed\"; expected the name of a [[probe_template]]"
        ),
        (
            "[[probe_template]]\nname = 'a'\n[[probe_template]]\nname = 'a'",
            "reach.toml:4: probe_template.name: another template is already named \"a\"; expected a unique name"
        ),
        (
            "[[probe_template]]\nname = 'a'\nstatus = '200'\n[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\ntemplate = 'a'",
            "reach.toml:4: probe.status: it does not apply to icmp; expected this key only for http, https"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\nburst = 100\ntimeout = '5s'",
            "reach.toml:4: probe.burst: its requests are sent over 9.9 s, and an attempt may take 5.0 s; expected fewer requests, or a longer timeout or interval"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'tcp://192.0.2.1:1'\nburst = 20",
            "reach.toml:4: probe.burst: it does not apply to tcp; expected this key only for icmp"
        ),
        (
            "[[probe]]\nname = 'a'\ntarget = 'http://192.0.2.1/'\njson = ['$.a', '$.b = 1']",
            "reach.toml:4: probe.json: \"$.b = 1\": at byte 4: expected a comparison: ==, !=, <, <=, > or >=; expected a condition in quotes, such as '$.status == \"ok\"' or 'length($.list) > 0'"
        ),
        (
            "[metrics]\nlisten = '9101'",
            "reach.toml:2: metrics.listen: \"9101\" is not an address with a port; expected an address and a port in quotes, such as \"127.0.0.1:9101\" or \"[::1]:9101\""
        ),
    ])
    func `an error has its line`(text: String, error: String) {
        #expect(Configuration.errors(in: text) == [error])
    }

    @Test func `the metrics listen on an address with a port`() {
        #expect(ListenAddress("127.0.0.1:9101")?.description == "127.0.0.1:9101")
        #expect(ListenAddress("[::1]:9101")?.description == "[::1]:9101")
        for text in [
            "", ":9101", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:9101", "[127.0.0.1]:1", "a:1",
            "1.2.3.4:+1",
        ] {
            #expect(ListenAddress(text) == nil)
        }
    }
}
