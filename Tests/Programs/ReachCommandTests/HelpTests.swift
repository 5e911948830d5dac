internal import ArgumentParser
internal import ReachTesting
internal import Testing

@testable internal import reach

/// The help of every command: it fits a terminal, and names the exit statuses that scripts hold on to.
@Suite struct HelpTests {
    private static let commands =
        ["status", "watch", "wait", "run", "units", "links", "explain", "history", "report", "top", "probe", "probes"]
        .map { [$0] } + [["hooks", "test"]]
        + ["add", "import", "list", "show", "explain", "hold", "release", "cancel", "retry", "wait", "result", "top"]
        .map { ["queue", $0] }

    @Test(arguments: commands) func `a command's help fits 80 columns and has its exit statuses`(command: [String])
        throws
    {
        let help = try BuiltProgram.reach.run(command + ["--help"])
        #expect(help.status == 0 && help.standardOutput.contains("Exit status: "), "\(help)")
        for line in help.lines { #expect(line.utf8.count <= 80, "\(line)") }
    }

    @Test(arguments: commands) func `a command's help has an example that it understands`(command: [String]) throws {
        let help = try BuiltProgram.reach.run(command + ["--help"]).lines
        let mark = "Example: reach "
        let example = try #require(help.first { $0.hasPrefix(mark) }).dropFirst(mark.count)
        let words = example.split(separator: " ").map(String.init).prefix { $0 != ">" && $0 != "|" }
        #expect(Array(words.prefix(command.count)) == command)
        #expect(throws: Never.self) { try Reach.parseAsRoot(QueueCurlOptions.separated(Array(words))) }
    }

    @Test func `the commands are in the groups of the README's doors`() throws {
        let doors = ProjectFile.text("README.md").split(separator: "\n").filter { $0.hasPrefix("- **") }
            .compactMap { $0.dropFirst(4).split(separator: "*").first.map(String.init) }
        let groups = try BuiltProgram.reach.run(["--help"]).lines.filter { $0.hasSuffix(" SUBCOMMANDS:") }
        #expect(groups == doors.prefix(5).map { $0.uppercased() + " SUBCOMMANDS:" })
    }

    @Test func `each door has an example that is understood`() throws {
        let help = try BuiltProgram.reach.run(["--help"]).lines
        let examples = help.filter { $0.contains(": ") && $0.contains(" reach ") && !$0.hasPrefix("USAGE") }
        #expect(examples.count == 5, "\(help)")
        for example in examples {
            let words = example.split(separator: " ").map(String.init).drop { $0 != "reach" }.dropFirst()
            #expect(throws: Never.self) { try Reach.parseAsRoot(QueueCurlOptions.separated(Array(words))) }
        }
    }

    @Test func `a shell offers the commands of reach-fleet as they are`() throws {
        let help = try BuiltProgram(named: "reach-fleet").run(["--help"]).lines
        let listed = help.drop { $0 != "SUBCOMMANDS:" }.dropFirst()
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(listed == FleetSubcommand.commands)
    }

    @Test(arguments: FleetSubcommand.commands) func `each command of the fleet has an example`(command: String) throws {
        let help = try BuiltProgram(named: "reach-fleet").run([command, "--help"])
        #expect(help.standardOutput.contains("\nExample: reach fleet \(command) "), "\(help)")
    }

    @Test(arguments: ["reachd", "reach-fleet", "reach-desktop"]) func `so does the help of the other programs`(
        name: String
    ) throws {
        let help = try BuiltProgram(named: name).run(["--help"])
        #expect(help.status == 0 && help.lines.contains { $0.hasPrefix("USAGE: \(name)") }, "\(help)")
        #expect(name == "reach-fleet" || help.lines.contains { $0.hasPrefix("Example: \(name) ") }, "\(help)")
        for line in help.lines { #expect(line.utf8.count <= 80, "\(line)") }
    }
}
