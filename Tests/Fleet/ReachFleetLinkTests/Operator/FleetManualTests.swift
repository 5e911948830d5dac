import ReachFleet
import ReachTesting
import Testing

/// Compares the manual of reach-fleet with the program.
@Suite struct FleetManualTests {
    private static let page = ManualPage("reach-fleet.1")
    private static let offline = ["key", "config"]
    private static let connecting = [
        "setup", "doctor", "status", "host", "watch", "events", "outages", "report", "hold", "release",
        "retire", "label", "quiet", "acknowledge", "audit",
    ]
    /// Connecting, too, but what they write is no JSON.
    private static let writing = ["page", "export", "enroll", "revoke"]
    /// With all their options in the manual's paragraph about them.
    private static let alone = ["sign", "join"]

    private static func options(of command: String) throws -> Set<String> {
        let help = try TestFleet.program.run([command, "--help"]).lines
        // The names stand at the begin of a line, and their explanations may mention other options.
        return Set(
            help.filter { $0.hasPrefix("  -") }.flatMap { $0.split(whereSeparator: \.isWhitespace).prefix(2) }
                .map { String($0.prefix { $0 != "," }) }.filter { $0.hasPrefix("--") })
    }

    @Test(arguments: connecting + writing + offline)
    func `every option of a command is in the manual, and no other`(_ command: String) throws {
        var shared: Set<String> =
            Self.offline.contains(command) ? ["--json"] : Self.page.options(of: "OPTIONS OF COMMANDS THAT CONNECT")
        if Self.writing.contains(command) { shared.remove("--json") }
        let offered = try Self.options(of: command).subtracting(["--help", "--version"])
        #expect(offered == Self.page.options(of: "COMMANDS", command).union(shared))
    }

    @Test(arguments: ["agent", "self"] + alone)
    func `every option of the host's own commands is in the manual, and no other`(_ command: String) throws {
        let offered = try Self.options(of: command).subtracting(["--help", "--version"])
        #expect(offered == Self.page.options(of: "COMMANDS", command))
    }

    @Test func `every word of an agent is in the manual`() {
        #expect(Set(FleetWord.allCases.map(\.rawValue)).subtracting(Self.page.arguments(of: "Cm")).isEmpty)
    }

    @Test func `every word of a host is in the manual`() {
        #expect(Set(HostWord.allCases.map(\.rawValue)).subtracting(Self.page.arguments(of: "Cm")).isEmpty)
    }
}
