internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTerminal

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print what the daemon has recorded: outages and flaps.",
        discussion: """
            Prints a summary and a timeline of each target, then the changes. Reads the daemon's files, so the daemon \
            need not run. With --events it prints the events of the journal, also those of your requests.

            Exit status: 0 printed, 1 there is no history, 2 usage, 4 it cannot be read.

            Example: reach history --since yesterday
            """)

    @Option(
        help: ArgumentHelp(
            "Begin then: a duration ago or a date; by default with the first record.", valueName: "time"),
        transform: { try CommandLineValue.time($0, isEnd: false) })
    var since: Timestamp?

    @Flag(help: "Print a JSON object for each record, one per line.")
    var json = false

    @Flag(help: "Print the events of the journal, one per line.")
    var events = false

    @Option(
        help: ArgumentHelp(
            "With --events: only those of this type; may be repeated.", valueName: "type"),
        completion: .list(JournalPrinter.types), transform: { try Self.type($0) })
    var type: [String] = []

    @Option(
        help: ArgumentHelp("The directory of the history.", valueName: "directory"), completion: .directory)
    var state: String?

    @Argument(help: "The target; every target by default.", completion: ValueCompletion.recordedTarget)
    var target: String?

    private static func type(_ word: String) throws -> String {
        guard JournalPrinter.types.contains(word) else {
            let choices = JournalPrinter.types.joined(separator: ", ")
            let hint = NearestWord.hint(for: word, among: JournalPrinter.types)
            throw ValidationError("'\(DisplayText.sanitized(word))' is not a type of events: \(choices)\(hint)")
        }
        return word
    }

    func validate() throws {
        if !type.isEmpty, !events { throw ValidationError("--type needs --events") }
        if events, target != nil { throw ValidationError("--events takes no target; --type chooses events") }
    }

    func run() throws {
        let directory = state ?? HistoryReading.directory
        if events {
            let printer = JournalPrinter(types: type, earliest: since, isJSON: json)
            if state == nil, try printer.printFromDaemon() { return }
            return try printer.printFiles(in: directory)
        }
        let log = try HistoryReading.log(in: directory, naming: target.map { [$0] } ?? [])
        show(log)
    }

    private func show(_ log: HistoryLog) {
        let (now, boot) = (SystemClock.now, BootIdentity.current)
        guard !json else {
            for entry in log.entries
            where since.map({ entry.moment.wall >= $0 }) ?? true && (target == nil || entry.target == target) {
                StandardOutput.write(HistoryLine.json(entry) + [UInt8(ascii: "\n")])
            }
            return
        }
        let isRunning = HistoryReading.isCurrent(log, boot: boot)
        let since = since.map { Duration.nanoseconds(now.wall.nanosecondsSince1970 - $0.nanosecondsSince1970) }
        let timelines = log.targets.filter { target == nil || $0 == target }.map {
            HistoryTimeline(of: $0, in: log, since: since, now: now, boot: boot, isRunning: isRunning)
        }
        let rows = HistoryRow.rows(
            of: log, matching: HistoryQuery(since: since, target: target), now: now, boot: boot)
        let text = HistoryText(
            style: .current, width: StandardOutput.width, isUnicode: TerminalStyle.isUnicode, stamp: LocalTimeText.full
        )
        let targets = timelines.map { (timeline: $0, summary: HistorySummary($0)) }
        StandardOutput.write(lines: text.overview(targets) + text.outages(targets.map(\.summary)) + text.changes(rows))
    }
}

/// Reads the history for the commands that show it.
enum HistoryReading {
    /// The history's directory, unless the user names another.
    static var directory: String {
        HistoryFiles.directoryForReader(isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
    }

    /// - Parameter targets: The targets that it must have.
    static func log(in directory: String, naming targets: [String]) throws(CommandError) -> HistoryLog {
        let log: HistoryLog
        do throws(SystemError) {
            log = try HistoryFiles(directory: directory).read()
        } catch {
            let place = DisplayText.sanitized(directory)
            guard error.number == ENOENT else {
                throw CommandError(status: .cannotObserve, message: "no history can be read in \(place): \(error)")
            }
            throw CommandError(
                status: .notReachable,
                message: "no history yet in \(place); reachd records it: systemctl start reachd, or reachd &")
        }
        if let target = targets.first(where: { !log.targets.contains($0) }) {
            let choices = log.targets.map(DisplayText.sanitized).joined(separator: ", ")
            throw CommandError(
                status: .notReachable,
                message: "no history for '\(DisplayText.sanitized(target))'; recorded: \(choices)"
                    + NearestWord.hint(for: target, among: log.targets))
        }
        return log
    }

    /// Whether the last records still hold: a daemon runs, and they are of this boot, not those of a copy from
    /// elsewhere.
    static func isCurrent(_ log: HistoryLog, boot: String) -> Bool {
        guard log.entries.last?.boot == boot else { return false }
        let path = SocketPath.forThisProcess
        return (try? ControlClient(path: path, patience: .seconds(1))) != nil
    }
}
