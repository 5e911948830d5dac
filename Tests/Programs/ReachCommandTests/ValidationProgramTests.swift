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

    /// Starts the daemon with the small Internet's name server.
    private func start(_ small: SmallInternet, _ directory: TemporaryDirectory, _ text: String) throws
        -> RunningProgram
    {
        let file = try directory.file("reach.toml", text)
        // `ip netns exec` gives each process mounts of its own.
        return try BuiltProgram(named: "/bin/sh").start(
            [
                "-c",
                "mount --bind \(try small.resolverConfiguration()) /etc/resolv.conf && exec \(reachd.path) "
                    + "--config \(file) --socket \(directory.path)/socket --state \(directory.path)/state --events",
            ], in: small.machine.name)
    }

    /// The next line in which the Internet does not answer by either family.
    private func loss(of daemon: RunningProgram) throws -> String {
        while true {
            let line = try daemon.nextLine(within: .seconds(20))
            let isLost = ["connectivity_reason", "portal"].contains { key in
                line.contains("\"connectivity\":\"limited\",\"\(key)\"")
            }
            if isLost, line.contains("\"target\":\"internet\"") { return line }
        }
    }

    private static let names = "meta l4proto { tcp, udp } th dport 53"

    @Test(.enabled(if: getuid() == 0, "only root can give a program other files"))
    func `where the name server alone is dead, everybody says so`() throws {
        let small = try SmallInternet()
        let directory = try TemporaryDirectory()
        let endpoint = "endpoints = [\"\(SmallInternet.plain)\"]"
        let target = "[targets]\nhost = \"198.51.100.80\"\n"
        let daemon = try start(small, directory, configuration(endpoint, "demote_after = 1") + target)
        _ = try line(of: daemon, with: ["\"connectivity\":\"full\""])
        try small.goDark(Self.names)
        let lost = try loss(of: daemon)
        #expect(lost.contains("\"connectivity_reason\":\"name-not-resolved\""), "\(lost)")
        let (socket, state) = (directory.path + "/socket", directory.path + "/state")
        let sentence = "names are not resolved, though the Internet answers"
        #expect(try reach.run(["status", "--socket", socket]).standardOutput.hasPrefix("\(sentence) (limited since "))
        #expect(
            try reach.run(["explain", "--socket", socket]).standardOutput.contains(
                "The Internet answers over this path, but names are not resolved."))
        let links = try reach.run(["links", "--json", "--socket", socket]).standardOutput
        #expect(links.contains("\"connectivity_reason\":\"name-not-resolved\""), "\(links)")
        // The last record holds while its daemon runs. It is written after the event was said.
        let running = ["REACH_SOCKET": socket]
        var history = ""
        for _ in 0..<200 where !history.contains(sentence) {
            history = try reach.run(["history", "--state", state], environment: running).standardOutput
            usleep(50_000)
        }
        #expect(history.contains("name   \(sentence)") || history.contains("name  \(sentence)"), "\(history)")
        #expect(!history.contains("nothing answers"), "\(history)")
        let report = try reach.run(["report", "--json", "--state", state], environment: running).standardOutput
        #expect(report.contains("\"layer\":\"name\"") && !report.contains("\"layer\":\"internet\""), "\(report)")
        let named = try reach.run(["history", "--json", "--state", state, "host"]).standardOutput
        #expect(!named.contains("limited"), "a host that has an address answers: \(named)")
        // A line that dies meanwhile is no matter of names.
        try small.goDark()
        let dark = try line(
            of: daemon, with: ["\"target\":\"internet\"", "\"connectivity\":\"limited\",\"portal\""])
        #expect(dark.contains("\"changed\":[\"connectivity\"]"))
        try small.comeBack()
        _ = try line(of: daemon, with: ["\"target\":\"internet\"", "\"connectivity\":\"full\""])
        daemon.send(SIGTERM)
        let log = try daemon.finish().standardError
        #expect(log.contains("the Internet is lost: \(sentence)") && log.contains("layer=name"), "\(log)")
    }

    @Test(.enabled(if: getuid() == 0, "only root can give a program other files"))
    func `a probe by address shows that names alone fail, where no name was ever resolved`() throws {
        let small = try SmallInternet()
        try small.goDark(Self.names)
        let directory = try TemporaryDirectory()
        let probe = "[[probe]]\nname = \"web\"\ntarget = \"tcp://198.51.100.80:80\"\ninterval = \"1s\"\n"
        let endpoint = "endpoints = [\"\(SmallInternet.plain)\"]"
        let daemon = try start(small, directory, configuration(endpoint) + probe)
        let lost = try line(of: daemon, with: ["\"target\":\"internet\"", "\"connectivity_reason\""])
        #expect(lost.contains("\"connectivity\":\"limited\""))
        daemon.send(SIGTERM)
        _ = try daemon.finish()
    }

    @Test(.enabled(if: getuid() == 0, "only root can give a program other files"))
    func `a dead line is no matter of names, though no name is resolved`() throws {
        let small = try SmallInternet()
        let directory = try TemporaryDirectory()
        let endpoint = "endpoints = [\"\(SmallInternet.plain)\"]"
        let daemon = try start(small, directory, configuration(endpoint, "demote_after = 1"))
        _ = try line(of: daemon, with: ["\"connectivity\":\"full\""])
        try small.goDark()
        let lost = try loss(of: daemon)
        #expect(!lost.contains("connectivity_reason"), "\(lost)")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().standardError.contains("layer=internet"))
    }

    @Test func `validation of the Internet says nothing about a host`() throws {
        let refused = try reach.run(["wait", "--until", "internet", "--no-daemon", "127.0.0.1"])
        #expect(refused.status == 4)
        #expect(refused.standardError.contains("nothing of this target"))
    }
}
