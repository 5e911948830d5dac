internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

struct QueueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Hand HTTP requests to the daemon, which sends them when the network allows.",
        discussion: """
            When the number of a request is printed, the request is safe on disk and survives restarts of programs and \
            of the machine. Each user sees only their own requests; root sees all.

            Exit status: 0 done, 1 there is no such request or its state does not fit, 2 usage, 4 no daemon answers, \
            69 the daemon keeps no queue, 75 the queue is full, 77 not permitted.
            """,
        subcommands: [
            QueueAddCommand.self, QueueImportCommand.self, QueueListCommand.self, QueueShowCommand.self,
            QueueExplainCommand.self, QueueStatusCommand.self,
            QueueHoldCommand.self, QueueReleaseCommand.self, QueueCancelCommand.self, QueueRetryCommand.self,
            QueueWaitCommand.self, QueueResultCommand.self, QueueTopCommand.self,
        ])
}

struct QueueListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the requests that are on their way.",
        discussion: """
            With --all also those that are over and still kept, the newest first. JSON has all that --state and \
            --limit admit.

            Exit status: 0 printed, 2 usage, 4 no daemon answers, 69 the daemon keeps no queue.

            Example: reach queue list --state waiting
            """)

    @Option(
        name: .customLong("state"),
        help: ArgumentHelp("Only requests in this state. May be given several times.", valueName: "state"),
        completion: ValueCompletion.words(QueuedRequestState.self))
    var states: [String] = []

    @Flag(name: [.customShort("a"), .customLong("all")], help: "Also list the requests that are over.")
    var all = false

    @Option(help: ArgumentHelp("List at most so many.", valueName: "number"))
    var limit: Int?

    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is a number from 1 on") }
        if all, !states.isEmpty { throw ValidationError("--all and --state exclude each other") }
    }

    func run() throws {
        let asked = try states.map { state throws(CommandError) in
            do throws(QueueServiceError) { return try QueueFilter.state(state) } catch {
                throw CommandError(queue: error)
            }
        }
        let living = QueuedRequestState.allCases.filter { !Self.over.contains($0) }
        let isWhole = queue.json || all
        var pages = QueuePages(states: Set(asked.isEmpty && !isWhole ? living : asked))
        // JSON is printed as it arrives, since there may be 100,000 requests.
        let isSorted = !queue.json
        let most = isSorted && (all || !asked.isEmpty) ? .max : limit ?? .max
        var items: [RequestReport] = []
        var holds: [QueueHold] = []
        try queue.ask { client throws(ControlError) in
            try pages.read(&client, most: most) { page in
                if isSorted { return items += page }
                let now = SystemClock.now
                StandardOutput.writeJSON(page) { $0.queueItem($1, at: now) }
            }
            // An earlier daemon does not have this method.
            if isSorted { holds = (try? client.queueHolds()) ?? [] }
        }
        guard isSorted else { return }
        let text = QueueText.current
        let shown = Array(Self.livingFirst(items).prefix(limit ?? .max))
        let hint = asked.isEmpty && !all ? "; --all lists those that are over, too" : ""
        let summary = text.style.paint("(\(text.count(pages.count))\(hint))", .grey) + "\n"
        StandardOutput.write(
            lines: (shown.isEmpty ? "" : text.table(shown, at: SystemClock.now.wall)) + summary + text.describe(holds))
    }

    private static let over: Set<QueuedRequestState> = [.done, .dead, .cancelled]

    /// Those on their way by their numbers, then those that are over, the newest first.
    static func livingFirst(_ items: [RequestReport]) -> [RequestReport] {
        items.filter { !over.contains($0.state) } + items.filter { over.contains($0.state) }.reversed()
    }
}

/// Reads a list of requests page by page, on one connection.
private struct QueuePages {
    private var filter = QueueFilter()
    /// The requests that are not over.
    private(set) var count = 0

    init(states: Set<QueuedRequestState>) { filter.states = states }

    mutating func read(
        _ client: inout ControlClient, most: Int, _ handle: ([RequestReport]) -> Void
    ) throws(ControlError) {
        var left = most
        while left > 0 {
            filter.limit = min(1000, left)
            let page = try client.requests(filter)
            count = page.count
            handle(page.items)
            left -= page.items.count
            guard let next = page.next else { return }
            filter.after = next
        }
    }
}

struct QueueShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the state of a request.",
        discussion: queueExitStatus + "\n\nExample: reach queue show 12")

    @OptionGroup var queue: QueueOptions

    @Argument(
        help: "The number of a request.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var id: Int64

    func run() throws {
        let item = try queue.ask { client throws(ControlError) in try client.request(id) }
        if queue.json {
            StandardOutput.writeJSON { $0.queueItem(item, at: SystemClock.now) }
        } else {
            StandardOutput.write(lines: QueueText.current.describe(item))
        }
    }
}

struct QueueExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain why a request is not running, and what would start it.",
        discussion: queueExitStatus + "\n\nExample: reach queue explain 12")

    @OptionGroup var queue: QueueOptions

    @Argument(
        help: "The number of a request.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var id: Int64

    func run() throws {
        let explanation = try queue.ask { client throws(ControlError) in try client.explanation(ofRequest: id) }
        let now = SystemClock.now
        if queue.json {
            StandardOutput.writeJSON { $0.queueExplanation(explanation, at: now) }
        } else {
            StandardOutput.write(lines: QueueText.current.explain(explanation, at: now))
        }
    }
}

struct QueueStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print how many requests are on their way, what holds the queue, and what is left of budgets.",
        discussion: """
            Budgets are those for metered links in reach.toml(5).

            Exit status: 0 printed, 2 usage, 4 no daemon answers, 69 the daemon keeps no queue.

            Example: reach queue status
            """)

    @OptionGroup var queue: QueueOptions

    func run() throws {
        let status = try queue.ask { client throws(ControlError) in try client.queueStatus() }
        guard !queue.json else { return StandardOutput.writeJSON { $0.queueStatus(status, at: SystemClock.now) } }
        let text = QueueText.current
        StandardOutput.write(
            lines: text.count(status.count) + "\n" + text.describe(status.holds) + text.describe(status.budgets))
    }
}
