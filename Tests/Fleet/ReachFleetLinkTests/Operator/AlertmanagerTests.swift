import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// Alerts of a fleet, at a real Alertmanager.
@Suite(
    .enabled(
        if: TestProgram.path("prometheus-alertmanager") != nil && TestProgram.path("amtool") != nil,
        "Alertmanager is not installed (apt-get install prometheus-alertmanager)"),
    .enabled(if: TestProgram.path("curl") != nil, "curl is not installed"))
struct AlertmanagerTests {
    private final class Alertmanager {
        let directory: TemporaryDirectory
        let url: String
        private let program: RunningProgram

        init() throws {
            directory = try TemporaryDirectory()
            let port = try TestProgram.freePort()
            url = "http://127.0.0.1:\(port)"
            let configuration = ProjectFile.path("contrib/fleet/alertmanager.yml")
            try ChildProcess.run(["amtool", "check-config", configuration])
            program = try BuiltProgram(named: "/bin/sh").start([
                "-c",
                "exec prometheus-alertmanager --config.file '\(configuration)' --storage.path '\(directory.path)/store' "
                    + "--web.listen-address 127.0.0.1:\(port) --cluster.listen-address= 2>'\(directory.path)/log'",
            ])
            try waitUntil("Alertmanager is ready", within: .seconds(60)) {
                (try? ChildProcess.run(["curl", "-sSf", url + "/-/ready"])) != nil
            }
        }

        deinit { program.send(SIGKILL) }

        /// The alerts that it holds: those that are not resolved.
        var alerts: [JSONValue] {
            get throws {
                try JSONReader.read(Array(ChildProcess.run(["curl", "-sSf", url + "/api/v2/alerts"]).utf8)).array ?? []
            }
        }
    }

    @Test func `what a watch sends by the hook is an alert until it is over`() throws {
        let alertmanager = try Alertmanager()
        let fleet = try TestFleet(hosts: ["till-1", "till-2"])
        let path = fleet.directory.path
        // In place of the queue: it sends at once.
        try fleet.directory.file(
            "reach",
            """
            #!/bin/sh
            [ "$2" = add ] || exit 0
            for address; do :; done
            curl -sSf -H "Content-Type: application/json" -d @- "$address" >&2 && echo 1
            """, mode: 0o755)
        try fleet.directory.file("notify.conf", "ALERTMANAGER_URL=\(alertmanager.url)\n")
        func hosts() throws -> [FakeHost] {
            try ["till-1", "till-2"].map { name in
                let host = try FakeHost(name, in: fleet)
                try host.put {
                    $0.lease = .seconds(20)
                    $0.labels = ["site": "\"a\\b\""]
                }
                try host.renew()
                return host
            }
        }
        let lost = try hosts()
        // The hook gets no environment but that of the alert.
        try fleet.directory.file(
            "hook",
            """
            #!/bin/sh
            export PATH=\(path):/usr/sbin:/usr/bin:/bin
            export REACH_NOTIFY_CONF=\(path)/notify.conf REACH_NOTIFY_STATE=\(path)/notify
            exec \(ProjectFile.path("contrib/hooks/notify"))
            """, mode: 0o755)
        let watch = try fleet.start(
            "watch", ["--alerts", "--json", "--after", "1s", "--settle", "1s", "--exec", path + "/hook"])
        defer { watch.send(SIGKILL) }
        _ = try watch.nextLine(within: .seconds(30))
        for host in lost { host.link.close() }
        try waitUntil("the alert is there", within: .seconds(90)) { try !alertmanager.alerts.isEmpty }
        let alert = try #require(try alertmanager.alerts.first)
        #expect(try alertmanager.alerts.count == 1)
        #expect(alert["labels"]?["target"]?.string == "site=\"a\\b\"")
        #expect(alert["annotations"]?["description"]?.string?.contains("2 of 2 hosts with site=") == true)
        let back = try hosts()
        try waitUntil("the alert is resolved", within: .seconds(60)) { try alertmanager.alerts.isEmpty }
        withExtendedLifetime(back) {}
    }

    @Test(
        .enabled(if: TestProgram.path("prometheus") != nil, "Prometheus is not installed (apt-get install prometheus)"))
    func `alerts of the rules arrive with their labels`() throws {
        let alertmanager = try Alertmanager()
        let directory = alertmanager.directory
        let (target, listen) = (try TestProgram.freePort(), try TestProgram.freePort())
        try directory.file(
            "metrics",
            """
            # TYPE reach_fleet_largest_outage_hosts gauge
            reach_fleet_largest_outage_hosts 312
            # TYPE reach_fleet_host_silent_timestamp_seconds gauge
            reach_fleet_host_silent_timestamp_seconds{host="till-1",name="Till \\"1\\" \\\\ µ"} 1000000000
            # TYPE reach_fleet_as_of_timestamp_seconds gauge
            reach_fleet_as_of_timestamp_seconds 1000000000

            """)
        try directory.file(
            "prometheus.yml",
            """
            global: { scrape_interval: 1s, evaluation_interval: 1s }
            rule_files: ["\(ProjectFile.path("contrib/fleet/alerts.yml"))"]
            scrape_configs: [{ job_name: fleet, static_configs: [{ targets: ["127.0.0.1:\(target)"] }] }]
            alerting:
              alertmanagers: [{ static_configs: [{ targets: ["\(alertmanager.url.dropFirst("http://".count))"] }] }]

            """)
        let programs = try [
            "exec python3 -m http.server --bind 127.0.0.1 --directory '\(directory.path)' \(target) >/dev/null 2>&1",
            "exec prometheus --config.file '\(directory.path)/prometheus.yml' --storage.tsdb.path '\(directory.path)/tsdb' "
                + "--web.listen-address 127.0.0.1:\(listen) 2>'\(directory.path)/prometheus.log'",
        ].map { try BuiltProgram(named: "/bin/sh").start(["-c", $0]) }
        defer { for program in programs { program.send(SIGKILL) } }
        let expected = ["ReachFleetExportOld", "ReachFleetHostSilent", "ReachFleetOutage"]
        try waitUntil("the alerts are there", within: .seconds(90)) {
            try alertmanager.alerts.compactMap { $0["labels"]?["alertname"]?.string }.sorted() == expected
        }
        let silent = try alertmanager.alerts.first { $0["labels"]?["alertname"]?.string == "ReachFleetHostSilent" }
        #expect(silent?["labels"]?["name"]?.string == "Till \"1\" \\ µ")
        #expect(silent?["annotations"]?["summary"]?.string == "till-1 is silent")
    }
}
