internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachPage
internal import ReachRecords
internal import ReachTerminal

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Print a report of outages, for those who have to mend them.",
        discussion: """
            Availability, each outage with its length and what failed, a map of hours, and from the journal the \
            latency and loss of probes and what the queue did; from their archives what probes found in years. Reads \
            the daemon's files, so the daemon need not run.

            Exit status: 0 printed, 1 there is no history, 2 usage, 4 it cannot be read.

            Example: reach report --since 30d --html > report.html
            """)

    enum Form: EnumerableFlag {
        case html, csv, json

        static func help(for value: Form) -> ArgumentHelp? {
            switch value {
            case .html: "Print one HTML file with pictures, for a browser or a printer."
            case .csv: "Print a table for spreadsheets, with a row for each figure."
            case .json: "Print a JSON object."
            }
        }
    }

    @Option(
        help: ArgumentHelp(
            "Begin then: a duration ago or a date; by default with the first record.", valueName: "time"),
        transform: { try CommandLineValue.time($0, isEnd: false) })
    var since: Timestamp?

    @Option(
        help: ArgumentHelp(
            "End then: a duration ago or a date, with that day; by default now.", valueName: "time"),
        transform: { try CommandLineValue.time($0, isEnd: true) })
    var until: Timestamp?

    @Flag var form: Form?

    @Option(help: ArgumentHelp("What the report is called.", valueName: "text"))
    var title: String?

    @Option(help: ArgumentHelp("The customer number by which the provider knows the line.", valueName: "text"))
    var customer: String?

    @Option(
        help: ArgumentHelp("The line's public address.", valueName: "address"),
        transform: { text in
            guard let address = IPAddress(text) else {
                throw ValidationError("'\(DisplayText.excerpt(text))' is not an address")
            }
            return address
        })
    var publicAddress: IPAddress?

    @Option(
        help: ArgumentHelp("The directory of the history.", valueName: "directory"), completion: .directory)
    var state: String?

    @Argument(help: "The targets; every target by default.", completion: ValueCompletion.recordedTarget)
    var targets: [String] = []

    func validate() throws {
        if let since, let until, since >= until { throw ValidationError("--since is not before --until") }
        if let since, since > SystemClock.now.wall { throw ValidationError("--since is in the future") }
    }

    func run() throws {
        let directory = state ?? HistoryReading.directory
        let log = try HistoryReading.log(in: directory, naming: targets)
        let (now, boot) = (SystemClock.now, BootIdentity.current)
        let journal = ReportJournal.read(
            in: directory, isNamed: state != nil, clock: HistoryClock(log.entries, now: now, boot: boot))
        var report = Report(
            of: log, journal, MeteredTrafficFile(directory: directory).read(), wanted: targets, since: since,
            until: until, now: now, boot: boot,
            isRunning: HistoryReading.isCurrent(log, boot: boot), host: MachineName.current, zone: .system,
            labels: ReportLabels(title: title, customer: customer, publicAddress: publicAddress),
            isClockSynchronized: ClockFacts.isSynchronizedNow)
        report.archives = ArchiveSeries.read(in: directory, from: report.from, to: report.to, now: now.wall)
        if getuid() != 0, report.queue.value != nil { report.notes.append("Requests of other users are not counted.") }
        switch form {
        case .html:
            var generator = SystemRandomNumberGenerator()
            StandardOutput.write(ReportPage(report).html(nonce: HTMLPage.nonce(&generator)))
        case .csv: StandardOutput.write(ReportTable(report).text)
        case .json: StandardOutput.writeJSON { $0.report(report, at: now) }
        case nil:
            let text = ReportText(
                report: report, style: .current, width: StandardOutput.width, isUnicode: TerminalStyle.isUnicode)
            StandardOutput.write(lines: text.text)
        }
    }
}

/// Reads the journal for a report.
enum ReportJournal {
    /// Reads what the daemon shows, or without one its files.
    ///
    /// - Parameter isNamed: Whether the user named the directory, so that only its files count.
    static func read(
        in directory: String, isNamed: Bool, clock: HistoryClock
    ) -> Report.Record<JournalFigures> {
        let feed = JournalFeed(types: JournalFigures.types)
        var figures = JournalFigures(clock)
        do throws(ControlError) {
            if !isNamed, try feed.readDaemon({ figures.add($0) }) { return .recorded(figures) }
        } catch {
            return .absent("the daemon does not show its journal: \(error)")
        }
        do throws(SystemError) {
            try feed.readFiles(in: directory) { figures.add($0) }
            return .recorded(figures)
        } catch {
            switch error.number {
            case ENOENT: return .absent("the journal is off; [journal] events in reach.toml turns it on")
            case EACCES: return .absent("only root and the daemon's user may read the journal's files")
            default: return .absent("the journal cannot be read: \(error)")
            }
        }
    }
}
