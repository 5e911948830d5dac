internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// A budget for metered links, as the daemon keeps it over kills.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct QueueBudgetTests {
    private let namespace: TestNamespace
    private let directory: TemporaryDirectory
    private let server: ScriptedServer
    private static let answer = 200_000

    init() throws {
        namespace = try TestNamespace()
        let peer = try namespace.vethPair()
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        directory = try TemporaryDirectory()
        server = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.answer)\r\nConnection: close\r\n\r\n")
            connection.write(String(repeating: "x", count: Self.answer))
        }
        try ChildProcess.run([
            "sh", "-c",
            """
            mkdir "$1/hooks.d"
            printf '#!/bin/sh\\necho "$REACH_TARGET $REACH_BUDGET_PERCENT" >>"%s/hooks.log"\\n' "$1" >"$1/hooks.d/log"
            chmod 755 "$1/hooks.d/log"
            cat >"$1/reach.toml" <<.
            [queue]
            metered_budget = "1 MiB/month"
            [[interface]]
            match = "up*"
            metered = true
            [hooks]
            directory = "$1/hooks.d"
            events = ["metered-budget"]
            .
            """, "sh", directory.path,
        ])
    }

    private var stage: QueueDaemonStage { QueueDaemonStage(namespace: namespace, directory: directory) }

    private func reach(_ arguments: String...) throws -> String { try stage.queue(arguments).output }

    private func used() throws -> Int64 {
        let status = try JSONReader.read(Array(try reach("status", "--json").utf8))
        return status["budgets"]?.array?.first?["used"]?.integer ?? -1
    }

    @Test func `a budget that is used up stays so over a kill, and urgent requests go beyond it`() throws {
        defer { namespace.remove() }
        var running = try stage.daemon()
        #expect(try used() == 0)
        var (count, last) = (0, "")
        while try used() < 1 << 20, count < 12 {
            last = try reach("add", "http://192.0.2.1/")
            _ = try reach("wait", last, "--timeout", "20")
            count += 1
        }
        let before = try used()
        let moved = Int64(count * Self.answer)
        #expect(before >= moved && before < moved * 11 / 10, "\(before) of \(count) answers")
        let waiting = try reach("add", "http://192.0.2.1/waits")
        let explained = try reach("explain", waiting)
        #expect(explained.contains("metered-budget: The budget of 1 MiB/month for metered links is used up."))
        #expect(try reach("status").contains("metered links: 0 B left of 1 MiB/month; renewed "))
        running.send(SIGKILL)
        _ = try running.finish()
        running = try stage.daemon()
        #expect(try used() >= before)
        let urgent = try reach("add", "--over-budget", "http://192.0.2.1/urgent")
        _ = try reach("wait", urgent, "--timeout", "20")
        #expect(try used() >= before + Int64(Self.answer))
        #expect(server.requests.values.count == count + 1, "the other still waits")
        // A link that is not metered, after a reload, is used as ever.
        try ChildProcess.run(["sed", "-i", "s/metered = true/metered = false/", directory.path + "/reach.toml"])
        running.send(SIGHUP)
        _ = try reach("wait", waiting, "--timeout", "20")
        #expect(server.requests.values.count == count + 2)
        running.send(SIGTERM)
        _ = try running.finish(within: .seconds(5))
        let log = try ChildProcess.run(["cat", directory.path + "/hooks.log"])
        #expect(log == "budget:all 80\nbudget:all 100\n", "once each")
    }
}
