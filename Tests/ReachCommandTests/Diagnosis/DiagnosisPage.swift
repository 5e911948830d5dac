import Glibc
import ReachCore
import ReachTerminal

@testable import reach

/// The page Documentation/Diagnosis.md, from what the scenes printed. The test writes it where REACH_DIAGNOSIS_PAGE is a path.
enum DiagnosisPage {
    private static let beginning = """
        # What `reach explain --probe` says

        Each of these homes at a provider is broken in one way. The output is that of the test `DiagnosisProgramTests`, which builds the
        homes in network namespaces and writes this page where the variable REACH_DIAGNOSIS_PAGE has its path. The client is
        192.0.2.2 on `up0`, its router 192.0.2.1, the provider 203.0.113.0/24 and the Internet 198.51.100.0/24.

        """

    static func text(_ scenes: [(scene: DiagnosisScene, diagnosis: Diagnosis)]) -> String {
        scenes.reduce(into: beginning) { page, found in
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

extension String {
    func write(toFile path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(file) }
        _ = withCString { Glibc.write(file, $0, strlen($0)) }
    }
}
