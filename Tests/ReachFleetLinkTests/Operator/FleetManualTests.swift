import ReachFleet
import ReachTesting
import Testing

/// Compares the manual of reach-fleet with the program.
@Suite struct FleetManualTests {
    private static let page = ManualPage("reach-fleet.1")
    private static let offline = ["key", "config"]
    private static let connecting = ["setup", "doctor", "status", "host", "watch", "events", "hold", "release"]

    private static func options(of command: String) throws -> Set<String> {
        let help = try TestFleet.program.run([command, "--help"]).standardOutput
        let words = help.split { $0.isWhitespace || $0 == "," || $0 == "[" || $0 == "]" || $0 == "/" || $0 == "|" }
        let lists = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        return Set(
            lists.flatMap { $0.split { $0.isWhitespace || $0 == "," || $0 == "/" } }.map(String.init)
                .filter { $0.hasPrefix("--") && words.contains(Substring($0)) })
    }

    @Test(arguments: connecting + offline)
    func `every option of a command is in the manual, and no other`(_ command: String) throws {
        let shared: Set<String> =
            Self.offline.contains(command) ? ["--json"] : Self.page.options(of: "OPTIONS OF COMMANDS THAT CONNECT")
        let offered = try Self.options(of: command).subtracting(["--help", "--version"])
        #expect(offered == Self.page.options(of: "COMMANDS", command).union(shared))
    }

    @Test(arguments: ["agent", "self"])
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
