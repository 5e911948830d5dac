import Glibc
import ReachTesting

/// `Examples/server.py`, as the README starts it.
final class ExampleServer {
    let url: String
    private let program: RunningProgram

    /// - Parameters:
    ///   - address: The address and port to listen at; by default a free port of 127.0.0.1.
    ///   - namespace: The namespace to run it in; `nil` for the test's own.
    init(at address: String = "0", in namespace: TestNamespace? = nil) throws {
        let script = ProjectFile.path("Examples/server.py")
        program = try BuiltProgram(named: "python3").start([script, address], in: namespace?.name)
        url = String(try program.nextLine(within: .seconds(20)).dropFirst("listening on ".count))
    }

    /// Ends the server.
    ///
    /// - Returns: The lines that it printed about requests.
    func end() throws -> [String] {
        program.send(SIGTERM)
        return try program.finish().lines
    }
}

/// What `Examples/README.md` says a command prints.
enum Readme {
    /// The commands of the README, and the lines below each, with what differs between two runs replaced.
    ///
    /// - Parameter program: The name of the program in the command.
    static func runs(of program: String) -> [[String]] {
        var runs: [[String]] = []
        var isOfProgram = false
        for line in ProjectFile.text("Examples/README.md").split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("    ") else {
                isOfProgram = false
                continue
            }
            let text = line.dropFirst(4)
            if text.hasPrefix("$ ") {
                isOfProgram = text.hasPrefix("$ swift run \(program) ") || text == "$ swift run \(program)"
                if isOfProgram { runs.append([]) }
            } else if isOfProgram {
                runs[runs.count - 1].append(plain(String(text)))
            }
        }
        return runs
    }

    /// A line without the numbers of seconds that it names.
    static func plain(_ line: String) -> String { line.replacing(/\d+ s old/, with: "N s old") }
}
