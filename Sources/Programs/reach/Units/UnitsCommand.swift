internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachTerminal

struct UnitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "units",
        abstract: "List the units of systemd that follow conditions.",
        discussion: """
            A unit follows a condition with BindsTo=reach@CONDITION.target and After= the same, or with WantedBy= and \
            Also=reach-condition@CONDITION.service in [Install]; systemd-escape(1) writes a condition for the name.

            Exit status: 0, 2 usage, 69 systemd does not answer.

            Example: reach units
            """)

    @Flag(help: "Ask the user's service manager.")
    var user = false

    func run() throws {
        let manager = user ? ["--user"] : []
        let listed = try systemctl(
            manager + [
                "list-units", "--all", "--plain", "--no-legend", "--full", "reach@*.target",
                "reach-condition@*.service",
            ])
        let names = Set(
            listed.split(scalar: "\n").compactMap {
                $0.split(scalar: " ").first.map { ConditionUnit.target(of: String($0)) }
            })
        guard !names.isEmpty else {
            return StandardOutput.write(lines: "no unit follows a condition; see reach units --help\n")
        }
        let properties = "--property=" + ConditionUnit.properties.joined(separator: ",")
        let units = ConditionUnit.read(try systemctl(manager + ["show", properties, "--"] + names.sorted()))
        let rows = [["CONDITION", "STATE", "STARTS", "BINDS"]] + units.map(Self.row)
        let table = TextTable(style: .current, width: StandardOutput.width)
        StandardOutput.write(lines: table.layOut(rows.map { $0.map { TextTable.Cell(DisplayText.sanitized($0)) } }))
    }

    private static func row(_ unit: ConditionUnit) -> [String] {
        let state = unit.isActive ? "holds" : "waiting"
        return [unit.condition, state, unit.wanted.joined(separator: " "), unit.bound.joined(separator: " ")]
    }

    private func systemctl(_ words: [String]) throws(CommandError) -> String {
        let result = try? ChildOutput.of(["systemctl"] + words)
        guard let result, result.status == 0 else {
            throw CommandError(
                status: .unavailable, message: "systemctl does not answer; is systemd the service manager?")
        }
        return String(decoding: result.output, as: UTF8.self)
    }
}
