internal import Glibc
internal import ReachTesting
internal import Testing

/// `reachd` with endpoints, as its clients see it.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct ValidationProgramTests {
    private let reachd = BuiltProgram(named: "reachd")
    private let reach = BuiltProgram.reach

    private func configuration(_ lines: String...) -> String {
        (["[connectivity]", "interval = \"10s\"", "timeout = \"1s\"", "proxy = \"none\""] + lines).joined(
            separator: "\n") + "\n"
    }

    /// The next line of the daemon's stream that contains all of these texts.
    private func line(of daemon: RunningProgram, with parts: [String]) throws -> String {
        while true {
            let line = try daemon.nextLine(within: .seconds(20))
            if parts.allSatisfy(line.contains) { return line }
        }
    }

    @Test func `the Internet is validated, awaited, lost to a portal and no longer validated`() throws {
        let small = try SmallInternet()
        let directory = try TemporaryDirectory()
        let socket = directory.path + "/socket"
        let endpoint = "endpoints = [\"http://198.51.100.80/204\"]"
        let file = try directory.file("reach.toml", configuration(endpoint))
        let daemon = try reachd.start(
            ["--config", file, "--socket", socket, "--state", directory.path + "/state", "--events"],
            // With proxy = "none" the environment's proxies do not matter.
            environment: ["http_proxy": "http://192.0.2.1:9", "https_proxy": "http://192.0.2.1:9"],
            in: small.machine.name)
        let first = try daemon.nextLine()
        #expect(first.contains("\"validated\":true"))
        let waited = try reach.run(["wait", "--until", "internet", "--timeout", "10s", "--socket", socket])
        #expect(waited.status == 0)
        let proof = try line(of: daemon, with: ["\"connectivity\":\"full\""])
        #expect(proof.contains("\"cause\":\"probe\""))
        #expect(proof.contains("\"changed\":[\"connectivity\"]"))
        // There is no IPv6 endpoint, so the connectivity of IPv6 is unknown.
        let status = try reach.run(["status", "--socket", socket]).standardOutput
        #expect(status.contains("connectivity full"))
        #expect(
            try reach.run(["status", "--json", "--socket", socket, "interface:up0"]).standardOutput
                .contains("\"connectivity\":\"full\""))

        try small.openPortal()
        _ = try directory.file("reach.toml", configuration(endpoint, "demote_after = 1"))
        daemon.send(SIGHUP)
        let portal = try line(of: daemon, with: ["\"connectivity\":\"portal\""])
        #expect(portal.contains("\"portal\":\"\(SmallInternet.login)\""))
        let headline = try reach.run(["status", "--socket", socket]).standardOutput
        #expect(headline.hasPrefix("a login page answers instead of the Internet (portal since "))
        #expect(headline.contains("): \(SmallInternet.login); up0 is up"))
        #expect(try reach.run(["status", "--socket", socket]).status == 0, "the kernel has a path")
        #expect(try reach.run(["status", "--validated", "--socket", socket]).status == 1)
        let misused = try reach.run(["status", "--validated", "--socket", socket, "192.0.2.1"])
        #expect(misused.status == 2)
        #expect(misused.standardError.contains("prove nothing about '192.0.2.1'"))
        let late = try reach.run(["wait", "--until", "internet", "--timeout", "200ms", "--socket", socket])
        #expect(late.status == 124)

        // A configuration with an error changes nothing.
        _ = try directory.file("reach.toml", configuration("endpoints = [\"nonsense\"]"))
        daemon.send(SIGHUP)
        try small.closePortal()
        _ = try line(of: daemon, with: ["\"connectivity\":\"full\""])
        #expect(try reach.run(["status", "--validated", "--socket", socket]).status == 0)
        let history = try reach.run(["history", "--state", directory.path + "/state", "internet"]).standardOutput
        #expect(history.contains("1 outage of "))
        #expect(history.contains("portal  a login page answers instead of the Internet"), "\(history)")

        _ = try directory.file("reach.toml", configuration())
        daemon.send(SIGHUP)
        _ = try line(of: daemon, with: ["\"connectivity\":\"unknown\"", "\"validated\":false"])
        let unproved = try reach.run(["status", "--validated", "--socket", socket])
        #expect(unproved.status == 3)
        #expect(unproved.standardError.contains("reachd has no [connectivity] endpoints"))
        let refused = try reach.run(["wait", "--until", "internet", "--socket", socket])
        #expect(refused.status == 4)
        #expect(refused.standardError.contains("[connectivity]"))
        daemon.send(SIGTERM)
        let ended = try daemon.finish()
        #expect(ended.status == 0)
        #expect(ended.standardError.contains("nonsense"))
        #expect(ended.standardError.contains("the Internet is lost: a login page answers instead of the Internet"))
        #expect(ended.standardError.contains("the Internet is back after "))
    }

    @Test func `validation of the Internet says nothing about a host`() throws {
        let refused = try reach.run(["wait", "--until", "internet", "--no-daemon", "127.0.0.1"])
        #expect(refused.status == 4)
        #expect(refused.standardError.contains("nothing of this target"))
    }
}
