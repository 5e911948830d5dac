internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachPage
internal import ReachTerminal

struct PageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "Write the fleet as one HTML file, for any web server or a browser.",
        discussion: """
            The file needs nothing besides itself. It is replaced as a whole. With --interval it is written again and \
            again, also while no server answers: then it says so, and shows the last state.

            Exit status: 0 written.

            Example: reach fleet page --output /var/www/fleet
            """)

    @Option(help: ArgumentHelp("The file.", valueName: "file"))
    var output: String

    @Option(help: "What the page is called.")
    var title = "Fleet"

    @OptionGroup var repetition: RepetitionOptions
    @OptionGroup var arguments: OutageArguments
    @OptionGroup var engine: EngineOptions

    func run() throws {
        let systems = try arguments.table()
        try repetition.run(engine, arguments, writing: output) { reading in
            let page = reading.page(arguments, systems, title: title, interval: repetition.interval)
            var generator = SystemRandomNumberGenerator()
            return page.html(nonce: HTMLPage.nonce(&generator))
        }
    }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the fleet's figures for node_exporter's textfile collector.",
        discussion: """
            Hosts by word, class of link and label, outages, and the engine, in Prometheus's text format. The file's \
            name has to end in .prom.

            Exit status: 0 written.

            Example: reach fleet export /var/lib/prometheus/node-exporter/fleet.prom
            """)

    @Option(
        help: ArgumentHelp(
            "The most values of a label, such as sites, that have figures of their own.", valueName: "number"))
    var values = FleetMetrics.valueLimit

    @Argument(help: ArgumentHelp("The file.", valueName: "file"))
    var output: String

    @OptionGroup var repetition: RepetitionOptions
    @OptionGroup var arguments: OutageArguments
    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard (1...100_000).contains(values) else { throw ValidationError("--values is 1 to 100000") }
    }

    func run() throws {
        let systems = try arguments.table()
        try repetition.run(engine, arguments, timelines: false, writing: output) { reading in
            FleetMetrics.text(reading.page(arguments, systems), values: values)
        }
    }
}

/// Writing a file once, or at an interval.
struct RepetitionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write it again this often, until a signal comes.", valueName: "duration"),
        transform: { try FleetArgument.interval($0) })
    var interval: Duration?

    /// What an attempt to read the engine gave.
    struct Reading {
        /// The newest that was read; `nil` if nothing was yet.
        var record: FleetRecord?
        /// The present by the engine's clock.
        var now: Timestamp
        var trouble: String?

        /// What it says, and what troubles the engine; an empty page if nothing was read yet.
        func page(_ arguments: OutageArguments, _ systems: ASNTable) -> FleetPage {
            var page = record?.page(arguments, systems) ?? FleetPage(asOf: now, written: now)
            page.engineTrouble = trouble
            return page
        }

        /// The page as people read it.
        func page(_ arguments: OutageArguments, _ systems: ASNTable, title: String, interval: Duration?) -> FleetPage {
            var page = page(arguments, systems)
            page.title = title
            page.written = now
            page.interval = interval
            return page
        }
    }

    /// Without an interval, an engine that does not answer is an error. With one, the file says it.
    func run(
        _ engine: EngineOptions, _ arguments: OutageArguments, timelines: Bool = true, writing path: String,
        _ text: (Reading) -> [UInt8]
    ) throws {
        guard let interval else {
            let record = try FleetRecord(
                try engine.connect(), window: arguments.window, arguments.depth, timelines: timelines)
            return try Self.write(path, text(Reading(record: record, now: record.view.engine.now)))
        }
        try Self.repeated(engine, arguments, timelines: timelines, every: interval) { reading in
            try Self.write(path, text(reading))
        }
    }

    /// Reads again and again, and hands over what was read, also while no server answers.
    static func repeated(
        _ engine: EngineOptions, _ arguments: OutageArguments, timelines: Bool = true, every interval: Duration,
        _ handle: (Reading) throws -> Void
    ) throws -> Never {
        _ = try engine.settings()
        var link: NATSLink?
        var reading = Reading(now: SystemClock.now.wall)
        while true {
            let begun = SystemClock.boot
            do {
                let open = try link ?? engine.connect()
                link = open
                if reading.record == nil {
                    reading.record = try FleetRecord(
                        open, window: arguments.window, arguments.depth, timelines: timelines)
                } else {
                    try reading.record?.update(open)
                }
                reading.trouble = nil
            } catch {
                link = nil
                reading.trouble = (error as? FleetFailure)?.message ?? "\(error)"
            }
            reading.now = reading.record?.view.present ?? SystemClock.now.wall
            try handle(reading)
            Self.sleep(until: begun + interval)
        }
    }

    private static func write(_ path: String, _ text: [UInt8]) throws {
        do throws(SystemError) {
            try AtomicFile.replace(path, with: text, mode: 0o644, isSynced: false)
        } catch {
            throw FleetFailure(.cannotCreate, DisplayText.sanitized(error.description))
        }
    }

    private static func sleep(until time: BootTime) {
        while SystemClock.boot < time {
            let rest = min((time - SystemClock.boot).nanoseconds, 1_000_000_000)
            var wait = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
            nanosleep(&wait, nil)
        }
    }
}
