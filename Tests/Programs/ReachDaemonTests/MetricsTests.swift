import ReachCore
@testable import ReachProbe
import ReachTesting
import Testing

@testable import ReachDaemon

@Suite struct MetricsTests {
    @Test func `values and labels are written in Prometheus's format`() {
        var writer = MetricWriter()
        writer.family("reach_x_total", .counter, "What it is.")
        writer.sample([("a", "plain"), ("b", "\"\\\n")], 3 as UInt64)
        writer.sample([], 0.25)
        writer.sample([], 17.0, suffix: "_sum")
        writer.sample([], .nan)
        writer.sample([], -.infinity)
        writer.states([("t", "x")], "s", ["on", "off"], "off")
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == #"""
                # HELP reach_x_total What it is.
                # TYPE reach_x_total counter
                reach_x_total{a="plain",b="\"\\\n"} 3
                reach_x_total 0.25
                reach_x_total_sum 17
                reach_x_total NaN
                reach_x_total -Inf
                reach_x_total{t="x",s="on"} 0
                reach_x_total{t="x",s="off"} 1

                """#)
    }

    @Test func `that names alone fail is in the metrics`() {
        var snapshot = MetricsSnapshot(version: "1")
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        for reason in [Reason.nameNotResolved, nil] {
            state.connectivityReason = reason
            snapshot.states = [("internet", state)]
            let line = "reach_target_connectivity_reason{target=\"internet\",reason=\"name-not-resolved\"} "
            #expect(String(decoding: snapshot.text(), as: UTF8.self).contains(line + (reason == nil ? "0" : "1")))
        }
    }

    @Test func `silence has metrics where it is looked for`() {
        var snapshot = MetricsSnapshot(version: "1")
        #expect(!String(decoding: snapshot.text(), as: UTF8.self).contains("reach_silence"))
        var statistics = SilenceStatistics()
        (statistics.surveys, statistics.tests, statistics.silent, statistics.calls) = (7, 3, 1, 4)
        snapshot.silence = statistics
        let lines = String(decoding: snapshot.text(), as: UTF8.self).split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("reach_silence") } == [
                "reach_silence_surveys_total 7", "reach_silence_tests_total 3", "reach_silence_found_total 1",
                "reach_silence_calls_total 4",
            ])
    }

    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", MetricsRequest.metrics(hasBody: true)),
        // What Prometheus 2 sends, a browser, and one that wants the older format.
        (
            "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0;q=0.5,"
                + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2\r\n\r\n", .metrics(hasBody: true, .openMetrics)
        ),
        // Of any line of the head, without parameters, and in any case.
        (
            "GET /metrics HTTP/1.1\r\nAccept: Application/OpenMetrics-Text\r\nHost: x\r\n\r\n",
            .metrics(hasBody: true, .openMetrics)
        ),
        ("GET /metrics HTTP/1.1\r\nAccept: text/html,*/*;q=0.8\r\n\r\n", .metrics(hasBody: true)),
        (
            "GET /metrics HTTP/1.1\r\naccept: text/plain, application/openmetrics-text; q=0.1\r\n\r\n",
            .metrics(hasBody: true)
        ),
        ("HEAD /metrics?x=y HTTP/1.0\r\n\r\n", .metrics(hasBody: false)),
        ("GET / HTTP/1.1\r\n\r\n", .index), ("GET /other HTTP/1.1\r\n\r\n", .notFound),
        ("POST /metrics HTTP/1.1\r\n\r\n", .badMethod), ("GET /metrics\r\n\r\n", .bad),
        ("GET /metrics HTTP/2\r\n\r\n", .bad), ("\r\n\r\n", .bad), ("GET /metrics HTTP/1.1\r\n", .incomplete),
        ("", .incomplete),
        (String(repeating: "x", count: 8193), .bad),
    ])
    func `a request's head is parsed within bounds`(_ text: String, _ request: MetricsRequest) {
        var head = MetricsHead()
        #expect(head.append(Array(text.utf8)) == request)
        // In pieces of one byte it is the same.
        head = MetricsHead()
        #expect(text.utf8.map { head.append([$0]) }.first { $0 != .incomplete } ?? .incomplete == request)
    }

    @Test func `a head that arrives byte by byte is not searched again for each byte`() {
        let looks = LookCounter()
        var head = MetricsHead()
        let text = Array("GET /metrics HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: 0x0d, count: 8000)
        for byte in text { _ = head.append(CountedBytes([byte], looks)) }
        #expect(looks.count == text.count)
    }
}
