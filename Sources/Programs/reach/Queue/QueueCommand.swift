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
            QueueExplainCommand.self,
            QueueHoldCommand.self, QueueReleaseCommand.self, QueueCancelCommand.self, QueueRetryCommand.self,
            QueueWaitCommand.self, QueueResultCommand.self, QueueTopCommand.self,
        ])
}

struct QueueListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List pending and recently finished requests.")

    @Option(
        name: .customLong("state"),
        help: ArgumentHelp("Only requests in this state. May be given several times.", valueName: "state"),
        completion: ValueCompletion.words(QueuedRequestState.self))
    var states: [String] = []

    @OptionGroup var queue: QueueOptions

    func run() throws {
        var filter = QueueFilter()
        for state in states {
            do throws(QueueServiceError) {
                filter.states.insert(try QueueFilter.state(state))
            } catch {
                throw CommandError(queue: error)
            }
        }
        filter.limit = 1000
        var items: [RequestReport] = []
        var count = 0
        var holds: [QueueHold] = []
        // Page by page on one connection. JSON is printed as it arrives, since there may be 100,000 requests.
        try queue.ask { client throws(ControlError) in
            while true {
                let page = try client.requests(filter)
                count = page.count
                if queue.json {
                    let now = SystemClock.now
                    StandardOutput.writeJSON(page.items) { $0.queueItem($1, at: now) }
                } else {
                    items += page.items
                }
                guard let next = page.next else { break }
                filter.after = next
            }
            // An earlier daemon does not have this method.
            if !queue.json { holds = (try? client.queueHolds()) ?? [] }
        }
        guard !queue.json else { return }
        let text = QueueText.current
        let summary = items.isEmpty ? "" : text.style.paint("(\(text.count(count)))", .grey) + "\n"
        StandardOutput.write(text.table(items, at: SystemClock.now.wall) + summary + text.describe(holds))
    }
}

struct QueueShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the state of a request.")

    @OptionGroup var queue: QueueOptions

    @Argument(help: "The number of a request.", completion: ValueCompletion.request)
    var id: Int64

    func run() throws {
        let item = try queue.ask { client throws(ControlError) in try client.request(id) }
        if queue.json {
            StandardOutput.writeJSON { $0.queueItem(item, at: SystemClock.now) }
        } else {
            StandardOutput.write(QueueText.current.describe(item))
        }
    }
}

struct QueueExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain why a request is not running, and what would start it.")

    @OptionGroup var queue: QueueOptions

    @Argument(help: "The number of a request.", completion: ValueCompletion.request)
    var id: Int64

    func run() throws {
        let explanation = try queue.ask { client throws(ControlError) in try client.explanation(ofRequest: id) }
        let now = SystemClock.now
        if queue.json {
            StandardOutput.writeJSON { $0.queueExplanation(explanation, at: now) }
        } else {
            StandardOutput.write(QueueText.current.explain(explanation, at: now))
        }
    }
}
