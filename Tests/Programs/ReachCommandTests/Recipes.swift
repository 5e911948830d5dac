internal import ReachTesting

/// What reach-recipes(7) has a reader do, in its order, with names of the tests' Internet in place of its own.
enum Recipes {
    enum Step: Equatable {
        /// The lines of a file that `reachd` reads.
        case file([String])
        /// The lines of the hook's settings.
        case settings([String])
        /// The lines of a program.
        case script([String])
        case reload
        case restart
        case command(String)
    }

    static let steps: [(section: String, step: Step)] = {
        var (steps, section, lines): ([(String, Step)], String, [String]?) = ([], "", nil)
        for line in ProjectFile.text("man/reach-recipes.7").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix(".Sh ") { section = String(line.dropFirst(4)) }
            if line.hasPrefix(".Ql systemctl re") {
                steps.append((section, line.contains("restart") ? .restart : .reload))
            }
            if line == ".Ed" {
                steps += Self.steps(of: lines ?? []).map { (section, $0) }
                lines = nil
            } else if line.hasPrefix(".Bd -literal") {
                lines = []
            } else {
                lines?.append(
                    String(line).replacing("signs.example.org/", with: "check.example.org/204")
                        .replacing("example.org", with: "example.net").replacing("eth0", with: "up0")
                        .replacing("wwan0", with: "lte0"))
            }
        }
        return steps.filter { $0.0 != "DESCRIPTION" }
    }()

    private static func steps(of block: [String]) -> [Step] {
        let unit = "ExecStartPre=/usr/bin/"
        if let line = block.first(where: { $0.hasPrefix(unit) }) {
            return [.command(String(line.dropFirst(unit.count)))]
        }
        if block.first?.hasPrefix("MAIL_TO") == true { return [.settings(block)] }
        if block.first == "#!/bin/sh" { return [.script(block)] }
        // What systemd reads.
        if block.first == "[Service]" || block.first == "[Unit]" { return [] }
        if block.first?.hasPrefix("[") == true { return [.file(block)] }
        return block.filter { $0.hasPrefix("$ ") }.map { .command(String($0.dropFirst(2))) }
    }

    /// The steps of a recipe.
    static func steps(of section: String) -> [Step] { steps.filter { $0.section == section }.map(\.step) }
}
