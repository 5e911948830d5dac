import Foundation
import ReachTesting
import Testing

/// contrib/hooks/otlp with a server that keeps what it was sent. The documents have the names and forms of the examples
/// that opentelemetry-proto publishes; a collector is packaged nowhere.
@Suite(.enabled(if: TestProgram.path("jq") != nil, "there is no jq"), .timeLimit(.minutes(1)))
struct OTLPHookTests {
    private let directory: TemporaryDirectory
    private let collector: ScriptedServer
    private let hook = ProjectFile.path("contrib/hooks/otlp")

    init() throws {
        directory = try TemporaryDirectory()
        collector = try ScriptedServer {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        }
    }

    private func settings(_ more: String = "") throws -> String {
        let text = """
            OTLP_ENDPOINT=http://127.0.0.1:\(collector.port)/
            OTLP_HEADERS='Authorization: Bearer secret
            X-Scope-OrgID: a'

            """
        return try directory.file("otlp.conf", text + more)
    }

    /// The document of the first request to a path, which has the headers of the settings.
    private func document(to path: String) async throws -> [String: Any] {
        try await collector.requests.wait { $0.contains { $0.hasPrefix("POST \(path) ") } }
        let request = try #require(collector.requests.values.first { $0.hasPrefix("POST \(path) ") })
        for field in ["Content-Type: application/json", "Authorization: Bearer secret", "X-Scope-OrgID: a"] {
            #expect(request.contains("\r\n\(field)\r\n"), "\(request)")
        }
        let body = try #require(request.split(separator: "\r\n\r\n", maxSplits: 1).last)
        return try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
    }

    /// The only element of lists below keys, and at the end what is there.
    private func part(_ document: [String: Any], _ keys: String...) throws -> [String: Any] {
        try keys.reduce(document) { found, key in
            try #require((found[key] as? [[String: Any]])?.first ?? found[key] as? [String: Any], "\(key) of \(found)")
        }
    }

    private func attributes(_ value: [String: Any]) throws -> [String: String] {
        let list = try #require(value["attributes"] as? [[String: Any]])
        let pairs = list.map { ($0["key"] as? String ?? "", ($0["value"] as? [String: String])?["stringValue"] ?? "") }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test func `an event goes through the queue to the collector, whatever a name contains`() async throws {
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start([
            "--config", try directory.file("reach.toml", ""), "--socket", socket, "--state", directory.path + "/state",
            "--events",
        ])
        defer { daemon.send(SIGTERM) }
        _ = try daemon.nextLine(within: .seconds(20))
        let programs = BuiltProgram.reach.path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        let result = try BuiltProgram(named: "/bin/sh").run(
            ["-c", "echo {} | \(hook)"],
            environment: [
                "REACH_OTLP_CONF": try settings(), "REACH_SOCKET": socket, "PATH": "\(programs):/usr/bin:/bin",
                "REACH_EVENT": "change", "REACH_TARGET": "internet", "REACH_STATUS": "not-reachable",
                "REACH_TIME": "2026-11-30T04:06:08.289Z", "REACH_ROOT_TEXT": "caf\u{e9} \"x\"\\\t$(id) has no carrier",
                "REACH_PORTAL": "",
            ])
        #expect(result.status == 0, "\(result)")
        let document = try await document(to: "/v1/logs")
        let resource = try attributes(try part(document, "resourceLogs", "resource"))
        #expect(resource["service.name"] == "reachd" && resource["host.name"]?.isEmpty == false)
        let record = try part(document, "resourceLogs", "scopeLogs", "logRecords")
        #expect(record["timeUnixNano"] as? String == "1796011568289000000")
        #expect(record["severityNumber"] as? Int == 13 && record["severityText"] as? String == "WARN")
        let text = "internet: not-reachable: caf\u{e9} \"x\"\\\t$(id) has no carrier"
        #expect(record["body"] as? [String: String] == ["stringValue": text])
        let attributes = try attributes(record)
        #expect(attributes["reach.root_text"]?.hasSuffix("has no carrier") == true)
        #expect(attributes["reach.event"] == "change" && attributes["reach.portal"] == nil)
    }

    @Test func `metrics are sent as they are, apart from what is no number`() async throws {
        let text = """
            # HELP reach_up Whether "it" is up.
            # TYPE reach_up gauge
            reach_up{probe="a,b=\\"c\\"}\\\\"} 1
            reach_up{probe="gone"} NaN
            # TYPE reach_sent_total counter
            reach_sent_total 12345678901
            # TYPE reach_none gauge
            # TYPE reach_phase_seconds histogram
            reach_phase_seconds_bucket{phase="dns",le="0.5"} 3
            reach_phase_seconds_bucket{phase="dns",le="1"} 5
            reach_phase_seconds_bucket{phase="dns",le="+Inf"} 6
            reach_phase_seconds_sum{phase="dns"} 4.5
            reach_phase_seconds_count{phase="dns"} 6
            # TYPE reach_latency_seconds summary
            reach_latency_seconds{quantile="0.5"} 0.25
            reach_latency_seconds{quantile="0.9"} NaN
            reach_latency_seconds_sum 2
            reach_latency_seconds_count 7
            # EOF

            """
        let file = try directory.file("reach.prom", text)
        let configuration = try settings("OTLP_METRICS=file://\(file)\n")
        let service = try BuiltProgram(named: hook).start(
            ["--serve"], environment: ["REACH_OTLP_CONF": configuration, "PATH": "/usr/bin:/bin"])
        let scope = try part(try await document(to: "/v1/metrics"), "resourceMetrics", "scopeMetrics")
        let list = try #require(scope["metrics"] as? [[String: Any]])
        let metrics = Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", $0) })
        let names = ["reach_latency_seconds", "reach_phase_seconds", "reach_sent_total", "reach_up"]
        #expect(metrics.keys.sorted() == names)

        let up = try #require(metrics["reach_up"])
        #expect(up["description"] as? String == "Whether \"it\" is up.")
        let points = try #require((up["gauge"] as? [String: Any])?["dataPoints"] as? [[String: Any]])
        #expect(points.count == 1 && points[0]["asDouble"] as? Double == 1)
        #expect(try attributes(points[0]) == ["probe": "a,b=\"c\"}\\"])

        let sent = try part(try #require(metrics["reach_sent_total"]), "sum")
        #expect(sent["isMonotonic"] as? Bool == true && sent["aggregationTemporality"] as? Int == 2)
        #expect(try part(sent, "dataPoints")["asDouble"] as? Double == 12_345_678_901)

        let phase = try part(try #require(metrics["reach_phase_seconds"]), "histogram", "dataPoints")
        #expect(phase["bucketCounts"] as? [String] == ["3", "2", "1"])
        #expect(phase["explicitBounds"] as? [Double] == [0.5, 1])
        #expect(phase["count"] as? String == "6" && phase["sum"] as? Double == 4.5)
        #expect(try attributes(phase) == ["phase": "dns"])

        let latency = try part(try #require(metrics["reach_latency_seconds"]), "summary", "dataPoints")
        #expect(latency["quantileValues"] as? [[String: Double]] == [["quantile": 0.5, "value": 0.25]])
        #expect(latency["count"] as? String == "7")
        // What a service manager sends is no failure.
        service.send(SIGTERM)
        #expect(try service.finish().status == 0)
    }
}
