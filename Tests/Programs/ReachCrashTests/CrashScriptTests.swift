internal import Glibc
internal import ReachTesting
internal import Testing

/// A short run of `make crash`: the programs in Tests/Field/crash, with the built daemon.
@Suite(.timeLimit(.minutes(3))) struct CrashScriptTests {
    private func run(_ script: String, _ words: [String]) throws -> BuiltProgram.Result {
        try BuiltProgram(named: "python3").run(
            [ProjectFile.path("Tests/Field/crash/" + script)] + words, limit: .seconds(150))
    }

    @Test(
        .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
        .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"), arguments: [1, 4])
    func `repeated kills of the daemon lose no request, and repeat only requests in transit`(
        atOnce: Int
    ) throws {
        let result = try run(
            "run",
            [
                "--reachd", BuiltProgram(named: "reachd").path, "--rounds", "6", "--requests", "200", "--at-once",
                "\(atOnce)",
            ])
        #expect(result.status == 0, "\(result.standardOutput) \(result.standardError)")
        print("kills:", result.standardOutput.split(separator: "\n").joined())
    }

    private static let natsServer = try? BuiltProgram(named: "nats-server").run(["--version"]).lines.first

    @Test(
        .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
        .enabled(if: natsServer != nil, "there is no nats-server (apt-get install nats-server)"))
    func `kills of the server, the agents and the daemons neither lose, repeat nor exchange an event of the fleet`()
        throws
    {
        let programs = BuiltProgram(named: "reachd").path.split(separator: "/").dropLast().joined(separator: "/")
        let result = try BuiltProgram(named: "python3").run(
            [
                ProjectFile.path("Tests/Field/fleet/crash"), "--programs", "/" + programs, "--rounds", "4", "--hosts",
                "2",
                "--seed", "20",
            ], limit: .seconds(150))
        #expect(result.status == 0, "\(result.standardOutput) \(result.standardError)")
        print("fleet kills:", result.standardOutput.split(separator: "\n").joined())
    }

    @Test(.enabled(if: access("/usr/bin/strace", X_OK) == 0, "there is no strace (apt-get install strace)"))
    func `acknowledged requests survive a loss of power`() throws {
        let result = try run(
            "power-loss",
            [
                "--program", BuiltProgram(named: "queuecrash").path, "--requests", "80", "--losses", "150", "--pages",
                "40",
            ])
        #expect(result.status == 0, "\(result.standardOutput) \(result.standardError)")
        print("power losses:", result.standardOutput.split(separator: "\n").joined())
    }
}
