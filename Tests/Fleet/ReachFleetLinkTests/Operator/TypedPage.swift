import Glibc
import ReachCore
import ReachLoop
import ReachTesting

/// A page of the documentation whose commands are typed, word for word, into a shell in an empty folder, with a network
/// and processes of its own: lines after `$` in its literal blocks, with what the page shows as their output.
struct TypedPage {
    /// A line that is typed, and what is printed then.
    struct Step {
        var command: String
        var output: [String] = []
    }

    let steps: [Step]
    /// The literal blocks without commands: files, or commands that only look like some.
    let blocks: [String]

    /// - Parameter end: The heading at which the commands end.
    init(_ file: String, until end: String? = nil) {
        var (steps, blocks, block): ([Step], [String], [String]) = ([], [], [])
        for line in ProjectFile.text(file).split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let end, line.hasPrefix(end) { break }
            guard line.hasPrefix("    ") || line.isEmpty && !block.isEmpty else {
                Self.append(block, &steps, &blocks)
                block = []
                continue
            }
            block.append(String(line.dropFirst(4)))
        }
        Self.append(block, &steps, &blocks)
        (self.steps, self.blocks) = (steps, blocks)
    }

    private static func append(_ block: [String], _ steps: inout [Step], _ blocks: inout [String]) {
        guard block.contains(where: { $0.hasPrefix("$ ") }) else {
            if !block.isEmpty { blocks.append(block.joined(separator: "\n")) }
            return
        }
        var isContinued = false
        for line in block where !line.isEmpty {
            if isContinued {
                steps[steps.count - 1].command += "\n" + line
            } else if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else {
                steps[steps.count - 1].output.append(line)
                continue
            }
            isContinued = line.hasSuffix("\\")
        }
    }

    /// What a step printed, and how it ended.
    struct Result {
        var status = ""
        var output: [String] = []
    }

    /// Types the steps.
    ///
    /// - Parameters:
    ///   - stage: What a shell does first, for what the page takes to be there.
    ///   - typed: What is typed for a step: what stands there, but for places of this machine.
    func type(in directory: TemporaryDirectory, stage: String, _ typed: (String) -> String) throws -> [Result] {
        var script = Self.helpers + stage
        for step in steps { script += "echo '=='\n\(typed(step.command))\necho \"=+ $?\"\n" }
        try directory.file("typed", script)
        let programs = BuiltProgram(named: "reach-fleet").path.split(separator: "/").dropLast().joined(separator: "/")
        let printed = try ChildProcess.run([
            "unshare", "-n", "-p", "-f", "--mount-proc", "--kill-child", "bash", "-c",
            "cd '\(directory.path)' && PATH='/\(programs)':$PATH && exec bash typed 2>errors",
        ])
        var results: [Result] = []
        for line in printed.split(separator: "\n").map(String.init) {
            if line == "==" {
                results.append(Result())
            } else if !results.isEmpty {
                if line.hasPrefix("=+ ") {
                    results[results.count - 1].status = String(line.dropFirst(3))
                } else {
                    results[results.count - 1].output.append(line)
                }
            }
        }
        return results
    }

    static let whyNot: String? = {
        guard getuid() == 0 else { return "a network and processes of its own need root" }
        return TestProgram.path("nats-server") == nil ? "nats-server is not here" : nil
    }()

    /// A path to the Internet that nothing is sent over, and a wait for what another process does.
    private static let helpers = """
        ip link set lo up
        ip link add up0 type veth peer name isp0
        ip address add 192.0.2.2/24 dev up0
        for link in up0 isp0; do ip link set $link up; done
        ip neighbour add 192.0.2.1 lladdr 02:00:5e:00:53:01 dev up0 nud permanent
        ip route add default via 192.0.2.1 dev up0
        wait_for() {
            for i in $(seq 600); do eval "$1" >/dev/null 2>&1 && return; sleep 0.1; done
            echo "not in time: $1"
        }

        """

    /// Waits until the server of the pages listens.
    static let serverListens = "\nwait_for ': </dev/tcp/127.0.0.1/4333'"

    /// A line without what differs each time: keys, times, lengths of time and the width of columns.
    static func comparable(_ line: String) -> String {
        var words: [String] = []
        for word in line.split(whereSeparator: { $0 == " " }).map(String.init) {
            let core = word.filter { $0 != "," && $0 != "[" && $0 != "]" && $0 != ":" && $0 != ";" }
            if core.utf8.count == 56, core.hasPrefix("U") {
                words.append("KEY")
            } else if core.hasSuffix("Z"), core.utf8.dropLast().allSatisfy({ (48...57).contains($0) }) {
                words.append("TIME")
            } else if core.utf8.count == 10, core.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: "-") })
            {
                words.append("DAY")
            } else if ["s", "ms", "min", "h", "d"].contains(core), let last = words.last, Double(last) != nil {
                words[words.count - 1] = "LENGTH"
            } else {
                words.append(word)
            }
        }
        return words.joined(separator: " ")
    }
}
