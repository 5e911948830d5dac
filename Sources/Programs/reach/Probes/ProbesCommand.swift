internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct ProbesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probes",
        abstract: "Print the probes in the daemon's configuration, and their results.",
        discussion: """
            On a terminal, a chart below each probe shows its latest results. A higher block is a slower attempt, ! a \
            failed one, ? an inconclusive one, and a bar is a pause.

            Exit status: 0 printed, 1 at least one is down, 2 usage, 3 none is down and at least one is unknown or \
            paused, 4 no daemon answers.

            Example: reach probes --group printers
            """)

    @Flag(help: "Print a JSON object for each probe, one per line.")
    var json = false

    @Option(
        help: ArgumentHelp("Only probes of this group.", valueName: "name"), completion: ValueCompletion.probeGroup)
    var group: String?

    @Option(help: ArgumentHelp("Ask the daemon that listens on this socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Argument(help: "Names of probes; every probe by default.", completion: ValueCompletion.probe)
    var names: [String] = []

    func run() throws {
        let all: [ProbeReport]
        do throws(ControlError) {
            var client = try ControlClient(path: socket ?? SocketPath.forThisProcess)
            all = try client.probes()
        } catch {
            throw CommandError(status: .cannotObserve, message: DisplayText.sanitized(error.advice))
        }
        let missing = names.filter { name in !all.contains { $0.name == name } }
        guard missing.isEmpty else {
            let list = missing.map { "'\(DisplayText.sanitized($0))'" }.joined(separator: ", ")
            let hint =
                missing.lazy.map { NearestWord.hint(for: $0, among: all.map(\.name)) }.first { !$0.isEmpty } ?? ""
            throw CommandError(status: .usage, message: "no probe is named \(list)\(hint)")
        }
        if let group, !all.contains(where: { $0.group == group }) {
            let hint = NearestWord.hint(for: group, among: Array(Set(all.compactMap(\.group))).sorted())
            throw CommandError(
                status: .usage, message: "no probe is in the group '\(DisplayText.sanitized(group))'\(hint)")
        }
        let reports = all.filter { report in
            (names.isEmpty || names.contains(report.name)) && (group == nil || report.group == group)
        }
        show(reports)
        if reports.contains(where: { $0.state == .down }) { throw CommandError(status: .notReachable) }
        if reports.contains(where: { $0.state == .unknown || $0.pause != nil }) { throw CommandError(status: .unknown) }
    }

    private func show(_ reports: [ProbeReport]) {
        let now = SystemClock.now
        guard json else {
            let text = ProbesText(
                style: .current, width: StandardOutput.width, isUnicode: TerminalStyle.isUnicode, now: now.wall)
            return StandardOutput.write(lines: text.describe(reports))
        }
        StandardOutput.writeJSON(reports) { $0.probeReport($1, at: now, hasBeats: true) }
    }
}
