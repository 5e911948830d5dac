import ReachCore
import ReachFleet
import ReachTesting
import Testing

@Suite struct FleetMetricsTests {
    private func lines(_ page: FleetPage) -> [String] {
        String(decoding: FleetMetrics.text(page), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func page(_ hosts: [PageHost]) -> FleetPage {
        var page = FleetPage(asOf: at(0.5), written: at(1))
        page.hosts = hosts
        return page
    }

    private func host(_ word: HostWord, _ linkClass: LinkClass?, _ labels: [String: String] = [:]) -> PageHost {
        var host = PageHost(id: "h", HostPresence(word))
        host.linkClass = linkClass
        host.labels = labels
        return host
    }

    @Test func `hosts are counted by word, class and label`() {
        var warned = host(.silent, nil, ["site": "b"])
        warned.note = "clone"
        warned.behind = 4
        let lines = lines(page([host(.here, .wifi, ["site": "a"]), host(.here, .wwan, ["site": "a"]), warned]))
        for line in [
            "reach_fleet_hosts{word=\"here\"} 2", "reach_fleet_hosts{word=\"silent\"} 1",
            "reach_fleet_hosts{word=\"left\"} 0",
            "reach_fleet_class_hosts{class=\"wifi\",word=\"here\"} 1",
            "reach_fleet_class_hosts{class=\"none\",word=\"silent\"} 1",
            "reach_fleet_label_hosts{label=\"site\",value=\"a\",word=\"here\"} 2",
            "reach_fleet_label_hosts{label=\"site\",value=\"b\",word=\"silent\"} 1",
            "reach_fleet_events_behind 4", "reach_fleet_warnings 1", "reach_fleet_engine_up 1",
            "reach_fleet_as_of_timestamp_seconds 1795230000.5", "reach_fleet_outages_open 0",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test func `hosts behind one public address are one line`() {
        var page = page([])
        let address = IPAddress(ipv4: 0xc633_6407)
        page.lines = FleetLine.list([
            ("a", address, HostPresence(.silent)), ("b", address, HostPresence(.here)),
            ("c", IPAddress(ipv4: 0xc633_6408), HostPresence(.silent)),
        ])
        let lines = lines(page)
        #expect(lines.contains("reach_fleet_lines{word=\"here\"} 1"))
        #expect(lines.contains("reach_fleet_lines{word=\"silent\"} 1"))
    }

    @Test func `each silent host has a series, the longest first; those with quiet alerts are only counted`() {
        func silent(_ id: String, since seconds: Double, quiet: String? = nil) -> PageHost {
            var host = PageHost(id: id, HostPresence(.silent, since: at(seconds)))
            (host.name, host.quiet) = ("N\(id)", quiet)
            return host
        }
        let lines = lines(
            page([
                silent("a", since: 2.5), silent("b", since: 1), silent("c", since: 0, quiet: "q"),
                silent("d", since: 1), host(.here, .wifi),
            ]))
        #expect(
            lines.filter { $0.hasPrefix("reach_fleet_host_silent_timestamp_seconds{") } == [
                #"reach_fleet_host_silent_timestamp_seconds{host="b",name="Nb"} 1795230001"#,
                #"reach_fleet_host_silent_timestamp_seconds{host="d",name="Nd"} 1795230001"#,
                #"reach_fleet_host_silent_timestamp_seconds{host="a",name="Na"} 1795230002.5"#,
            ])
        #expect(lines.contains("reach_fleet_quiet_hosts 1"))
    }

    @Test func `labels beyond the limit count as other, so that no host can fill Prometheus`() {
        var hosts: [PageHost] = []
        for name in 0..<40 {
            for value in 0..<80 {
                hosts.append(host(.here, .wifi, ["n\(name)": "v\(value)", "other": "x"]))
            }
        }
        let lines = lines(page(hosts))
        let series = lines.filter { $0.hasPrefix("reach_fleet_label_hosts") }
        #expect(series.count <= 5 * 17 * 51)
        let total = series.compactMap { Int($0.split(separator: " ").last ?? "") }.reduce(0, +)
        #expect(total == hosts.count * 2)
        #expect(Set(series.map { $0.prefix { $0 != "}" } }).count == series.count)
    }

    @Test func `an open outage is counted with its hosts`() {
        let lines = lines(ExamplePage.page(hosts: 400))
        #expect(lines.contains("reach_fleet_outages_open 1"))
        #expect(lines.contains { $0.hasPrefix("reach_fleet_outage_hosts 1") })
    }

    @Test(.enabled(if: TestProgram.path("promtool") != nil, "promtool is not installed (apt-get install prometheus)"))
    func `Prometheus accepts the text, whatever a label holds`() throws {
        let directory = try TemporaryDirectory()
        var page = ExamplePage.page(hosts: 400)
        page.hosts.append(host(.here, .wifi, ["a\"b\\c": "\nd", "\u{1b}\"": "\\\n"]))
        let file = try directory.file("fleet.prom", String(decoding: FleetMetrics.text(page), as: UTF8.self))
        try ChildProcess.run(["sh", "-c", "promtool check metrics < \(file)"])
    }
}
