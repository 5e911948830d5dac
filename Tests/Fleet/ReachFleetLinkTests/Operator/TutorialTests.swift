import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

/// Types the tutorial, word for word, into a shell in an empty folder and a network of its own.
@Suite struct TutorialTests {
    /// What the tutorial shows: a line that is typed, and what is printed then.
    private struct Step {
        var command: String
        var output: [String]
    }

    private static func steps(of text: String) -> [Step] {
        var steps: [Step] = []
        var isContinued = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("## A ") { break }
            let isCode = line.hasPrefix("    ")
            let words = String(line.dropFirst(4))
            if isContinued {
                steps[steps.count - 1].command += "\n" + words
                isContinued = words.hasSuffix("\\")
            } else if isCode, words.hasPrefix("$ ") {
                steps.append(Step(command: String(words.dropFirst(2)), output: []))
                isContinued = words.hasSuffix("\\")
            } else if isCode, !steps.isEmpty, !words.contains(" = "), !words.hasPrefix("[") {
                steps[steps.count - 1].output.append(words)
            }
        }
        return steps
    }

    /// Keys differ each time.
    private static func withoutKeys(_ line: String) -> String {
        line.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.utf8.count == 56 && word.hasPrefix("U") ? "KEY" : String(word)
        }.joined(separator: " ")
    }

    /// What `doctor` warns of depends on the server's version: where another one is installed than the tutorial shows, the warnings and
    /// their remedies are left to the tests of the findings.
    private static func comparable(_ lines: [String], _ isShownVersion: Bool) -> [String] {
        var isWarning = false
        return lines.filter { line in
            if isShownVersion { return true }
            isWarning = line.hasPrefix("warning: ") || (isWarning && line.hasPrefix("  "))
            return !isWarning
        }
    }

    private static let mayMakeNetworks = getuid() == 0

    @Test(.enabled(if: mayMakeNetworks, "a network of its own needs root"))
    func `the tutorial works as it is written, and prints what it shows`() throws {
        let text = try #require(SmallFile.text(ProjectFile.path("Documentation/fleet/Tutorial.md")))
        // What needs a daemon or a host is typed in other tests.
        let steps = Self.steps(of: text).filter { step in
            !step.command.hasPrefix("sudo") && !step.command.contains(" host till-1")
                && !step.command.contains(" events ")
        }
        #expect(steps.count >= 14)
        let directory = try TemporaryDirectory()
        var script = "ip link set lo up\n"
        for (index, step) in steps.enumerated() {
            script += "echo '== \(index)'\n\(step.command)\n"
            // A person takes a moment before typing on.
            if step.command.hasSuffix("&") {
                script += "for i in $(seq 100); do (: </dev/tcp/127.0.0.1/4333) 2>/dev/null && break; sleep 0.1; done\n"
            }
        }
        script += "kill %1\n"
        let file = try directory.file("typed", script)
        let program = BuiltProgram(named: "reach-fleet").path.split(separator: "/").dropLast().joined(separator: "/")
        let printed = try ChildProcess.run([
            "unshare", "-n", "bash", "-c",
            "cd '\(directory.path)' && PATH='/\(program)':$PATH && bash -m typed 2>nats.log",
        ])
        var outputs: [[String]] = []
        for line in printed.split(separator: "\n").map(String.init) {
            if line.hasPrefix("== ") { outputs.append([]) } else { outputs[outputs.count - 1].append(line) }
        }
        #expect(outputs.count == steps.count)
        let version =
            try ChildProcess.run(["nats-server", "--version"]).split(separator: "v").last.map(String.init) ?? ""
        let isShown = text.contains("nats-server \(version.filter { !$0.isNewline }) has known faults")
        for (step, output) in zip(steps, outputs) {
            let shown = step.output.filter { !$0.isEmpty }
            #expect(
                Self.comparable(output, isShown).map(Self.withoutKeys)
                    == Self.comparable(shown, isShown).map(Self.withoutKeys), "\(step.command)")
        }
        withExtendedLifetime(file) {}
    }
}
