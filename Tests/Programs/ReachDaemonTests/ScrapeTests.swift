import ReachCore
import ReachProbe
import Testing

@testable import ReachDaemon

@Suite struct ScrapeTests {
    private func request(_ head: String) -> MetricsRequest? {
        var collected = MetricsHead()
        return collected.append(Array((head + "\r\n\r\n").utf8))
    }

    private func order(_ query: String, seconds: String? = nil) -> ScrapeOrder? {
        ScrapeOrder(query: query[...], seconds: seconds?[...])
    }

    @Test func `a scrape names its target, its module and its time limit`() throws {
        let head =
            "GET /probe?module=web&target=https%3A%2F%2Fa.example%2F%3Fx%3D1+2&target=b&debug=true HTTP/1.1\r\nHost: x\r\n"
        // At the end of the head, and before another line.
        for rest in ["", "\r\nVia: 1.1 a"] {
            guard case .probe(let order) = request(head + "X-prometheus-Scrape-Timeout-Seconds:  7.5 " + rest) else {
                Issue.record("no scrape")
                return
            }
            #expect(order.limit == .milliseconds(7500))
        }
        guard case .probe(let order) = request(head) else {
            Issue.record("no scrape")
            return
        }
        #expect(order.module == "web" && order.target == "https://a.example/?x=1 2")
        #expect(request("GET /probe HTTP/1.1") == .probe(ScrapeOrder(query: "", seconds: nil)!))
        #expect(request("HEAD /probe?target=a HTTP/1.1") == .badMethod && request("POST /probe HTTP/1.1") == .badMethod)
        #expect(request("GET /probes HTTP/1.1") == .notFound)
    }

    @Test(arguments: ["target=%", "target=%4", "target=%zz", "target=%ff", "target=%+1"])
    func `a damaged query is refused`(query: String) { #expect(order(query) == nil) }

    @Test(arguments: ["x", "", "-1", "0", "nan", "inf"])
    func `a damaged time limit is refused`(seconds: String) { #expect(order("target=a", seconds: seconds) == nil) }

    @Test(
        arguments: [
            (nil, nil, 5000), (nil, 2000, 2000), ("10", nil, 9500), ("10", 2000, 2000), ("3", 5000, 2500),
            ("0.8", nil, 400),
            ("1e9", nil, 299_500),
        ] as [(String?, Int64?, Int64)])
    func `the attempt ends before the scrape does`(limit: String?, own: Int64?, expected: Int64) throws {
        var specification = ProbeSpecification(name: "", target: try ProbeTarget("icmp://192.0.2.1"))
        specification.timeout = own.map { .milliseconds($0) }
        let scrape = try #require(self.order("target=a", seconds: limit))
        #expect(scrape.timeout(of: specification) == .milliseconds(expected))
    }

    @Test func `the metrics are those of the other exporter`() throws {
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 1), boot: BootTime(nanoseconds: 1))
        var result = ProbeResult(.ok, started: moment, duration: .milliseconds(9))
        result.phases = ProbePhases([
            .resolve: .milliseconds(1), .connect: .milliseconds(2), .processing: .milliseconds(4),
        ])
        (result.address, result.httpStatus) = (IPAddress("127.0.0.1"), 204)
        let web = ProbeSpecification(name: "", target: try ProbeTarget("http://127.0.0.1/"))
        func lines(_ result: ProbeResult, _ specification: ProbeSpecification) -> Set<Substring> {
            let text = ScrapeText.metrics(of: result, specification, duration: .milliseconds(10))
            return Set(String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") })
        }
        #expect(
            lines(result, web) == [
                "probe_dns_lookup_time_seconds 0.001", "probe_duration_seconds 0.01", "probe_failed_due_to_regex 0",
                "probe_http_duration_seconds{phase=\"connect\"} 0.002",
                "probe_http_duration_seconds{phase=\"processing\"} 0.004",
                "probe_http_duration_seconds{phase=\"resolve\"} 0.001", "probe_http_duration_seconds{phase=\"tls\"} 0",
                "probe_http_duration_seconds{phase=\"transfer\"} 0", "probe_http_redirects 0", "probe_http_ssl 0",
                "probe_http_status_code 204", "probe_ip_addr_hash 3668918509", "probe_ip_protocol 4", "probe_success 1",
            ])
        result.outcome = .fail(.body)
        #expect(lines(result, web).isSuperset(of: ["probe_failed_due_to_regex 1", "probe_success 0"]))
        let ping = ProbeSpecification(name: "", target: try ProbeTarget("icmp://127.0.0.1"))
        result.outcome = .inconclusive(.noPath)
        result.burst = ProbeBurst(sent: 4, answers: [.milliseconds(1), .milliseconds(3), .milliseconds(2)])
        let echoes = lines(result, ping)
        #expect(
            echoes.isSuperset(of: [
                "probe_icmp_duration_seconds{phase=\"rtt\"} 0.004", "reach_probe_loss_ratio 0.25",
                "reach_probe_round_trip_seconds{figure=\"p50\"} 0.002", "reach_probe_inconclusive 1", "probe_success 0",
            ]), "\(echoes)")
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("2001:db8::1", "2001:db8::ffff:1", true), ("2001:db8::1", "2001:db8:0:1::1", false),
        ("127.0.0.1", "127.9.9.9", true), ("127.0.0.1", "::1", true), ("::ffff:127.0.0.2", "127.0.0.1", true),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false), ("::1", "::2", false),
    ])
    func `whoever can have another address is one client`(first: String, second: String, isSame: Bool) throws {
        let (first, second) = (try #require(IPAddress(first)), try #require(IPAddress(second)))
        #expect((ScrapeClient(first) == ScrapeClient(second)) == isSame)
    }

    @Test func `no client has more than a quarter of the places`() {
        let clients = (0..<5).map { ScrapeClient(IPAddress("192.0.2.\($0)")) }
        var running: [ScrapeClient] = []
        for client in clients.prefix(4) {
            for _ in 0..<ScrapePlaces.ofClient {
                #expect(ScrapePlaces.refusal(of: client, beside: running) == nil)
                running.append(client)
            }
            #expect(ScrapePlaces.refusal(of: client, beside: running)?.isEmpty == false)
        }
        #expect(running.count == ScrapePlaces.all)
        #expect(ScrapePlaces.refusal(of: clients[4], beside: running) == "64 attempts are already running")
    }

    @Test func `a target without a scheme has that of the first pattern`() throws {
        let text = """
            [[probe_template]]
            name = "db"
            scrape_targets = ["tcp://192.0.2.0/24:5432", "icmp://192.0.2.0/24"]
            """
        let configuration = try Configuration.parse(Array(text.utf8), file: "reach.toml")
        let module = try #require(configuration.probeTemplates.first)
        #expect(try module.scrapeTarget("192.0.2.7:5432").description == "tcp://192.0.2.7:5432")
        #expect(try module.scrapeTarget("icmp://192.0.2.7").kind == .icmp)
        #expect(throws: TargetError.self) { try module.scrapeTarget("192.0.2.7 5432") }
    }

    @Test(arguments: [
        (
            "scrape_targets = ['http://a.example']\nredirects = 1",
            "reach.toml:4: probe_template.redirects: a redirect may leave"
        ),
        (
            "scrape_targets = ['http://a.example']\nwhen = 'unmetered'",
            "reach.toml:4: probe_template.when: scrapes ask for no path"
        ),
        (
            "scrape_targets = ['icmp://192.0.2.1']\nstatus = '200'",
            "reach.toml:4: probe_template.status: it does not apply to icmp"
        ),
        (
            "scrape_targets = ['a.example']",
            "reach.toml:3: probe_template.scrape_targets: 'a.example' does not begin with a scheme"
        ),
    ])
    func `what a scrape cannot keep to is an error of the template`(keys: String, error: String) {
        let errors = Configuration.errors(in: "[[probe_template]]\nname = 'm'\n" + keys)
        #expect(errors.count == 1 && errors[0].hasPrefix(error), "\(errors)")
    }
}
