import CoreMetrics
import MetricsTestKit
import ReachServices
import ReachSession
import ReachTesting
import Reachability
import Testing

@Suite(.timeLimit(.minutes(1))) struct MetricsTests {
    @Test func `each request on a connection is recorded with its server and its status`() async throws {
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone")
            }
        }
        let metrics = TestMetrics()
        let session = try makeSession { $0.recordMetrics(by: metrics) }
        _ = await session.result(of: try session.get("http://127.0.0.1:\(server.port)/x?secret"))
        let timer = try #require(metrics.timers(label: "http.client.request.duration").first)
        let dimensions = Dictionary(uniqueKeysWithValues: timer.dimensions)
        #expect(
            dimensions == [
                "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(server.port)",
                "network.protocol.version": "1.1", "http.response.status_code": "404", "error.type": "404",
            ])
        #expect(timer.displayUnit == .seconds && timer.values.count == 1)
        #expect(metrics.recorders(label: "http.client.response.body.size").first?.values == [4])
        #expect(metrics.timers(label: "reach.request.wait.duration").first?.values.count == 1)
        let task = try #require(metrics.timers(label: "reach.request.duration").first)
        #expect(task.dimensions.map(\.1) == ["response"])
        #expect(metrics.meters(label: "reach.requests").first?.lastValue == 0)
    }

    @Test func `a request that finds no server has its failure, and each attempt is recorded`() async throws {
        let port = try TestProgram.freePort()
        let metrics = TestMetrics()
        let session = try makeSession { $0.recordMetrics(by: metrics) }
        var options = RequestOptions()
        options.retries = .attempts(2)
        _ = await session.result(of: try session.get("http://127.0.0.1:\(port)/", options: options))
        let timers = metrics.timers(label: "http.client.request.duration")
        #expect(timers.map { Dictionary(uniqueKeysWithValues: $0.dimensions)["error.type"] } == ["connection-refused"])
        #expect(timers.first?.values.count == 2)
        #expect(metrics.timers(label: "reach.request.duration").first?.dimensions.map(\.1) == ["destination"])
    }

    @Test func `a monitor records whether its target can be reached`() async throws {
        let metrics = TestMetrics()
        let monitor = ReachabilityMonitor(try Target("127.0.0.1"))
        monitor.recordMetrics(by: metrics)
        monitor.start()
        defer { monitor.stop() }
        while metrics.recorders(label: "reach.reachable").isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        #expect(metrics.recorders(label: "reach.reachable").first?.values == [1])
        #expect(metrics.counters(label: "reach.changes").first?.totalValue == 1)
    }
}
