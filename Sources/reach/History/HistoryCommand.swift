internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print what the daemon has recorded: outages and flaps.",
        discussion: """
            Prints a summary and a timeline of each target, then the changes. Reads the daemon's files, so the daemon \
            need not run.

            Exit status: 0 printed, 1 there is no history, 2 usage, 4 it cannot be read.
            """)

    @Option(
        help: ArgumentHelp("Begin this long ago; by default with the first record.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var since: Duration?

    @Flag(help: "Print a JSON object for each record, one a line.")
    var json = false

    @Option(help: ArgumentHelp("The directory of the history.", valueName: "directory"))
    var state: String?

    @Argument(help: "The target; every target by default.")
    var target: String?

    func run() throws {
        let environment = SocketPath.processEnvironment
        let directory = state ?? HistoryFiles.directoryForReader(isRoot: getuid() == 0, environment: environment)
        let log: HistoryLog
        do throws(SystemError) {
            log = try HistoryFiles(directory: directory).read()
        } catch {
            throw CommandError(
                status: error.number == ENOENT ? .notReachable : .cannotObserve,
                message: "no history in \(DisplayText.sanitized(directory)): \(error)")
        }
        show(log)
    }

    private func show(_ log: HistoryLog) {
        let (now, boot) = (SystemClock.now, BootIdentity.current)
        guard !json else {
            let earliest = since.map { now.wall.nanosecondsSince1970 - $0.nanoseconds } ?? .min
            for entry in log.entries
            where entry.moment.wall.nanosecondsSince1970 >= earliest && (target == nil || entry.target == target) {
                StandardOutput.write(HistoryLine.json(entry) + [UInt8(ascii: "\n")])
            }
            return
        }
        let path = SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
        let isRunning = (try? ControlClient(path: path, patience: .seconds(1))) != nil
        let timelines = log.targets.filter { target == nil || $0 == target }.map {
            HistoryTimeline(of: $0, in: log, since: since, now: now, boot: boot, isRunning: isRunning)
        }
        let rows = HistoryRow.rows(
            of: log, matching: HistoryQuery(since: since, target: target), now: now, boot: boot)
        let text = HistoryText(
            style: .current, width: StandardOutput.width, isUnicode: TerminalStyle.isUnicode, stamp: EventText.localTime
        )
        StandardOutput.write(text.overview(timelines) + text.changes(rows))
    }
}
