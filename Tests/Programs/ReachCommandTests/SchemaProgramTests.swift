import Glibc
import ReachControl
import ReachCore
import ReachRecords
import ReachTesting
import Testing

@testable import reach

/// The lines that the programs print, checked by the schema that `reach schema` prints.
@Suite(
    .timeLimit(.minutes(2)), .enabled(if: SchemaCheck.isAvailable, "\(SchemaCheck.whyNot)"))
struct SchemaProgramTests {
    private let reach = BuiltProgram.reach

    private func check(_ lines: [String], _ command: LineCommand, hasEveryKey: Bool = false) throws {
        let schema = try reach.run(["schema", command.rawValue])
        #expect(schema.status == 0 && schema.standardError.isEmpty)
        let faults = try SchemaCheck.faults(in: lines, by: schema.standardOutput, hasEveryKey: hasEveryKey)
        #expect(faults == [], "\(command)")
    }

    /// A diagnosis with the quality of a line, which this machine itself has none of.
    private var measured: String {
        let quality = Diagnosis.Quality(
            LineQuality(
                .lossy, lossPermille: 52, roundTrip: .milliseconds(31), jitter: .milliseconds(2), packets: 360),
            stretch: "between this machine and 192.0.2.1")
        var json = JSONWriter()
        json.diagnosis(
            Diagnosis(target: "x", outcome: .ok, blame: nil, steps: [], quality: quality),
            started: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0)),
            duration: .milliseconds(12))
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// An explanation of what only a daemon knows.
    private var explained: String {
        let family = Explanation.Family(path: .notAsked, steps: [])
        var explanation = Explanation(
            target: .internet, verdict: Verdict(ipv4: .notAsked, ipv6: .notAsked), ipv4: family, ipv6: family)
        explanation.proof = Explanation.Proof(.limited, since: nil, portal: nil, reason: .nameNotResolved)
        var json = JSONWriter()
        json.explanation(
            explanation, source: .daemon,
            at: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0)))
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func `states, links, explanations and diagnoses are as the schema says`() throws {
        try check(reach.run(["status", "--json", "internet", "127.0.0.1", "interface:lo"]).lines, .status)
        try check(reach.run(["links", "--json", "--all"]).lines, .links)
        try check(
            reach.run(["explain", "--json"]).lines
                + reach.run(["explain", "--probe", "--json", "tcp://127.0.0.1:1"]).lines + [measured, explained],
            .explain, hasEveryKey: true)
        try check(reach.run(["probe", "--json", "tcp://127.0.0.1:1"]).lines, .probe)
    }

    @Test func `a report has every key of the schema`() throws {
        var json = JSONWriter()
        var report = ExampleReport.report(ExampleReport.log(ExampleReport.night))
        var row = ArchiveRow(.twoHours, slot: ArchiveLevel.twoHours.slot(of: ExampleReport.begin + 7200))
        (row.ok, row.answered, row.mean) = (ArchiveRow.wholeTime, 10, 5000)
        report.archives = [
            ArchiveSeries(
                ProbeArchive(probe: "shop", target: "https://shop.example/", [row]), from: report.from, to: report.to,
                now: report.to)
        ]
        json.report(report, at: ExampleReport.moment(3 * ExampleReport.day))
        var empty = JSONWriter()
        empty.report(
            ExampleReport.report(ExampleReport.log(), .absent("it is off"), traffic: nil),
            at: ExampleReport.moment(3 * ExampleReport.day))
        let lines = [json.bytes, empty.bytes].map { String(decoding: $0, as: UTF8.self) }
        try check(lines, .report, hasEveryKey: true)
    }

    @Test func `what a daemon says of probes and requests is as the schema says`() throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na")
        }
        let file = try directory.file(
            "reach.toml",
            """
            [probes]
            results = true
            [journal]
            events = ["status", "probe", "probe-result", "queue"]
            [[probe]]
            name = "till"
            target = "tcp://127.0.0.1:\(server.port)"
            interval = "1s"

            """)
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path, "--events"])
        defer { daemon.send(SIGKILL) }
        var stream = [try daemon.nextLine()]
        func run(_ words: String...) throws -> [String] {
            let result = try reach.run(words, environment: ["REACH_SOCKET": socket])
            #expect(result.status == 0, "\(words): \(result.standardError)")
            return result.lines
        }
        func queue(_ words: String...) throws -> [String] {
            let result = try reach.run(["queue"] + words + ["--json"], environment: ["REACH_SOCKET": socket])
            #expect(result.status == 0, "\(words): \(result.standardError)")
            return result.lines
        }
        var lines = try queue("add", "http://127.0.0.1:\(server.port)/")
        lines += try queue("wait", "1")
        lines += try queue("add", "--when", "interface=nosuch0", "http://127.0.0.1:1/")
        for words in [["explain", "2"], ["result", "1"], ["list"], ["show", "2"], ["hold", "2"], ["cancel", "2"]] {
            let result = try reach.run(["queue"] + words + ["--json"], environment: ["REACH_SOCKET": socket])
            lines += result.lines
        }
        try check(lines, .queue)
        while !(stream.contains { $0.contains("\"result\"") } && stream.contains { $0.contains("\"cancelled\"") }) {
            stream.append(try daemon.nextLine())
        }
        try check(stream, .watch)
        try check(run("probes", "--json"), .probes)
        try check(run("history", "--json", "--state", directory.path) + run("history", "--events", "--json"), .history)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }

    @Test func `a word that is no command that prints lines gets a hint`() throws {
        let result = try reach.run(["schema", "stauts"])
        #expect(result.status == 2)
        #expect(
            result.standardError.contains("'stauts' prints no JSON; did you mean 'status'? These do: status, watch"))
    }
}
