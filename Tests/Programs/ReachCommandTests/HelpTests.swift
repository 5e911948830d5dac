internal import ReachTesting
internal import Testing

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

    @Test(arguments: ["reachd", "reach-fleet", "reach-desktop"]) func `so does the help of the other programs`(
        name: String
    ) throws {
        let help = try BuiltProgram(named: name).run(["--help"])
        #expect(help.status == 0 && help.lines.contains { $0.hasPrefix("USAGE: \(name)") }, "\(help)")
        for line in help.lines { #expect(line.utf8.count <= 80, "\(line)") }
    }
}
