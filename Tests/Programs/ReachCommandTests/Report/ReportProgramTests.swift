import Glibc
import ReachCore
import ReachTesting
import Testing

/// `reach report` with a daemon and without one.
@Suite(.timeLimit(.minutes(2))) struct ReportProgramTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var state: String { directory.path + "/state" }

    private func start() throws -> RunningProgram {
        let file = try directory.file("reach.toml", "[journal]\nevents = [\"status\", \"queue\"]\n")
        let daemon = try BuiltProgram(named: "reachd").start([
            "--config", file, "--socket", directory.path + "/socket", "--state", state, "--events",
        ])
        _ = try daemon.nextLine()
        return daemon
    }

    private func run(_ words: String...) throws -> BuiltProgram.Result {
        try BuiltProgram.reach.run(words, environment: ["REACH_SOCKET": directory.path + "/socket", "TZ": "UTC"])
    }

    @Test func `the figures are the same from the files alone, after the daemon ended`() throws {
        let daemon = try start()
        let id = try #require(try run("queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:1/").lines.first)
        #expect(try run("queue", "cancel", id).status == 0)
        let running = try run("report", "--state", state, "--json")
        #expect(running.status == 0, "\(running)")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
        let files = try run("report", "--state", state, "--json")
        for text in [running.standardOutput, files.standardOutput] {
            #expect(text.contains("\"queued\":1,\"done\":0,\"dead\":0,\"cancelled\":1"), "\(text)")
            #expect(text.contains("\"target\":\"internet\",\"availability\":"))
        }
        let page = try run("report", "--state", state, "--html").standardOutput
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(try run("report", "--state", state, "--csv").standardOutput.hasPrefix("kind,target,begin,end,"))
        let text = try run("report", "--state", state, "internet").standardOutput
        #expect(text.contains("local time: UTC\n") && text.contains("cancelled: 1\n"))
        let early = try run("report", "--state", state, "--until", "2020-01-01", "--json").standardOutput
        #expect(early.contains("\"to\":\"2020-01-02T00:00:00.000000Z\"") && early.contains("\"outages\":[]"))
    }

    @Test(arguments: [
        (
            ["--since", "soon"], 2,
            "'soon' is not a duration such as 7d, today, yesterday, or a date such as 2026-11-01"
        ),
        (["--since", "2199-01-01"], 2, "--since is in the future"),
        (["--since", "yesterday"], 1, "no history yet in /nonexistent"),
        (["--since", "2026-11-02", "--until", "2026-11-01 12:00"], 2, "--since is not before --until"),
        (["--html", "--csv"], 2, "--csv"), ([], 1, "no history yet in /nonexistent"),
        (["--since", "1700-01-01"], 1, "no history yet in /nonexistent"),
    ])
    func `what cannot be reported is an error with its status`(words: [String], status: CInt, sentence: String) throws {
        let result = try BuiltProgram.reach.run(["report", "--state", "/nonexistent"] + words)
        #expect(result.status == status && result.standardOutput.isEmpty, "\(result)")
        #expect(result.standardError.contains(sentence), "\(result)")
    }

    @Test func `a running daemon's last record still holds, also where its directory is named`() throws {
        let daemon = try start()
        defer { daemon.send(SIGKILL) }
        usleep(1_200_000)
        let report = try run("report", "--state", state, "--since", "1s", "--json", "internet")
        #expect(report.standardOutput.contains("\"not_observed_ms\":0}"), "\(report)")
    }

    @Test func `history accepts a date, and an unknown target is an error that lists the recorded ones`() throws {
        let daemon = try start()
        defer { daemon.send(SIGKILL) }
        #expect(
            try run("history", "--state", state, "--since", "2020-01-01").lines.contains { $0.hasPrefix("internet") })
        #expect(try run("history", "--state", state, "--since", "2020-01-01 25:00").status == 2)
        let result = try run("report", "--state", state, "office")
        #expect(result.status == 1 && result.standardError.contains("no history for 'office'; recorded: internet"))
    }
}
