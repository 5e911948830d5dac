import ReachTesting
import Testing

/// The agent's file is read as the daemon's: the same mistakes are told in the same sentences.
@Suite struct AgentConfigurationTests {
    private let directory = try! TemporaryDirectory()

    /// What a program says of a file, without the file's name.
    private func complaint(of program: String, _ arguments: [String], about text: String) throws -> String {
        let path = try directory.file("\(program).toml", text)
        let result = try BuiltProgram(named: program).run(arguments + ["--check-config", "--config", path])
        #expect(result.status == 78, "\(program): \(text)")
        let line = result.standardError.split(separator: "\n").first ?? ""
        return String(line.split(separator: ".toml:", maxSplits: 1).last ?? line)
    }

    private func agent(about text: String) throws -> String {
        try complaint(of: "reach-fleet", ["agent"], about: text)
    }

    /// Twenty mistakes, with a key of each program that has the same kind of value.
    @Test(arguments: [
        ("log_level = %", "urls = %", "\"loud\""), ("log_level = %", "urls = %", "7"),
        ("log_level = %", "metered = %", "true"), ("log_level = %", "addresses = %", "[\"none\"]"),
        ("hold.up = %", "spread = %", "\"90\""), ("hold.up = %", "spread = %", "\"soon\""),
        ("hold.up = %", "spread = %", "60"), ("hold.up = %", "spread = %", "1.5"),
        ("hold.up = %", "spread = %", "2026-11-29"), ("hold.up = %", "spread = %", "\"2d\""),
        ("connectivity.interval = %", "lease = %", "\"1s\""),
        ("history.directory = %", "ca = %", "\"some.pem\""), ("history.directory = %", "ca = %", "\"\""),
        ("history.directory = %", "ca = %", "false"), ("history.directory = %", "ca = %", "\"/a\\u0000b\""),
        ("internet.anchors = %", "servers = %", "\"a\""), ("internet.anchors = %", "servers = %", "[]"),
        ("internet.anchors = [%]", "servers = [%]", "7"), ("log_level = %", "urls = %", "\"full"),
        ("log_level = %\nhold.up = 1", "urls = %\nspread = 1", "\"\\z\""),
    ])
    func `a mistake is told as the daemon tells it`(_ daemons: String, _ agents: String, _ value: String) throws {
        // Without what is expected, which has each key's own bounds, and without the keys themselves.
        func problem(_ complaint: String, _ line: String) -> String {
            let key = String(line.prefix { $0 != " " })
            let problem = String(complaint.split(separator: "; expected", maxSplits: 1)[0])
            return problem.replacing(key, with: "KEY")
        }
        let daemon = problem(
            try complaint(of: "reachd", [], about: daemons.replacing("%", with: value)), daemons)
        let agent = problem(try agent(about: agents.replacing("%", with: value)), agents)
        #expect(agent == daemon)
    }

    @Test func `an unknown key, a pair that is alone and a lease that is too short are named with their lines`() throws
    {
        #expect(try agent(about: "\nleese = \"30s\"") == "2: leese: unknown key; did you mean 'lease'?")
        #expect(try agent(about: "key = \"/k\"").hasPrefix("1: key: it is alone; expected both certificate and key"))
        #expect(
            try agent(about: "lease = \"60s\"\nmetered_lease = \"30s\"")
                .hasPrefix("2: metered_lease: it is shorter than lease"))
        let labels = (1...17).map { "l\($0) = \"x\"" }.joined(separator: "\n")
        #expect(try agent(about: "[labels]\n\(labels)").hasPrefix("1: labels: it has 17 texts; expected at most 16"))
        #expect(try agent(about: "[labels]\nsite = \"\"").hasPrefix("2: labels.site: it has 0 bytes"))
        #expect(
            try agent(about: "servers = [\"nats://192.0.2.1\"]").contains(
                "a connection without TLS must stay on this machine"))
    }

    @Test func `each value that the example shows can be set`() throws {
        let lines = ProjectFile.text("contrib/reach-fleet.toml").split(separator: "\n")
        let keys = lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.map { $0.dropFirst() }
        #expect(keys.count == 18)
        // Only a service has systemd's credentials.
        let own = keys.filter { !$0.hasPrefix("credentials") }
        let path = try directory.file("example.toml", own.joined(separator: "\n"))
        let result = try BuiltProgram(named: "reach-fleet").run(["agent", "--check-config", "--config", path])
        #expect(result.status == 0, "\(result.standardError)")
    }
}
