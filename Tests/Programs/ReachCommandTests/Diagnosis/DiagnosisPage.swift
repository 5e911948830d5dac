import Glibc
import ReachCore
import ReachRecords
import ReachTerminal

@testable import reach

/// What the scenes printed, as the page Documentation/Diagnosis.md has it of some.
enum DiagnosisPage {
    static func text(_ scenes: [(scene: DiagnosisScene, diagnosis: Diagnosis)]) -> String {
        scenes.reduce(into: "") { page, found in
            let (scene, diagnosis) = found
            let name = scene.name.prefix(1).uppercased() + scene.name.dropFirst()
            let variables = scene.environment.map { $0 + " " }.joined()
            let output = DiagnosisText(style: .plain, width: 100).describe(diagnosis)
            let lines =
                ["$ \(variables)reach explain --probe \(scene.target)"] + output.split(separator: "\n").map(String.init)
            page += "\n## \(name)\n\n" + lines.map { "    \($0)\n" }.joined()
        }
    }
}

/// A transcript of the page, without what differs from run to run.
struct DiagnosisTranscript: Equatable {
    let name: String
    /// The command, the verdict, the advice, and each step that is not good, in their order.
    private(set) var lines: [String] = []
    /// What was found good. Some facts are only there if they were known in time.
    private(set) var goodSubjects: Set<String> = []

    /// The transcript as Tests/Programs/Transcripts/diagnosis.txt has it.
    var text: String {
        let good = goodSubjects.isEmpty ? [] : ["ok " + goodSubjects.sorted().joined(separator: " ")]
        return (["## " + name] + lines + good).map { $0 + "\n" }.joined()
    }

    /// The transcripts of a page, in their order.
    static func all(in page: String) -> [DiagnosisTranscript] {
        var all: [DiagnosisTranscript] = []
        for line in page.split(separator: "\n") as [Substring] {
            if line.hasPrefix("## ") {
                all.append(DiagnosisTranscript(name: String(line.dropFirst(3))))
            } else if let last = all.indices.last, line.hasPrefix("    ") {
                all[last].add(line.dropFirst(4))
            }
        }
        return all.map(\.settled)
    }

    private init(name: String) { self.name = name }

    private mutating func add(_ line: Substring) {
        // A line that continues the one before is indented further.
        if line.hasPrefix("        "), let last = lines.popLast() {
            lines.append(last + " " + line.drop { $0 == " " })
        } else {
            lines.append(String(line))
        }
    }

    private var settled: DiagnosisTranscript {
        var settled = self
        let good = lines.filter { $0.hasPrefix("  ok  ") }
        settled.goodSubjects = Set(good.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) })
        // Facts have figures, and some are only there if they were known in time.
        settled.lines = lines.filter { !good.contains($0) && !$0.hasPrefix("      fact ") }.map(Self.withoutTimes)
        return settled
    }

    private static let units: Set<Substring> = ["ms)", "us)", "s)", "d", "h"]

    /// Leaves durations out, such as `(46.9 ms)` and `2335 d 21 h`.
    private static func withoutTimes(_ line: String) -> String {
        line.split(separator: " ").reduce(into: [Substring]()) { words, word in
            let isOfNumber = words.last?.allSatisfy { $0.isNumber || $0 == "." || $0 == "(" } ?? false
            if isOfNumber, units.contains(word) { words.removeLast() } else { words.append(word) }
        }.joined(separator: " ")
    }
}

extension String {
    func write(toFile path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(file) }
        _ = withCString { Glibc.write(file, $0, strlen($0)) }
    }
}
