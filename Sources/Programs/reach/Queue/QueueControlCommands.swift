internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// The selected requests: some by their numbers, or all of the caller's.
struct QueueSelectionOptions: ParsableArguments {
    @Flag(help: "All requests: those of the user; for root, those of all users.")
    var all = false

    @Argument(
        help: "The numbers of requests.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var ids: [Int64] = []

    func validate() throws {
        if all && !ids.isEmpty { throw ValidationError("--all and numbers of requests exclude each other") }
        if !all && ids.isEmpty { throw ValidationError("give the numbers of requests, or --all") }
    }

    var selections: [QueueSelection] { all ? [.all] : ids.map { .request($0) } }
}

extension QueueOptions {
    /// Applies a command to each request, even if it fails for others.
    ///
    /// - Throws: The first failure. Further failures are printed as they occur.
    func each(
        _ selections: [QueueSelection], _ action: String,
        _ body: (inout ControlClient, QueueSelection) throws(ControlError) -> Int?
    ) throws(CommandError) {
        var first: CommandError?
        for selection in selections {
            do throws(CommandError) {
                let count = try ask { client throws(ControlError) in try body(&client, selection) }
                report(action, selection, count: count, at: SystemClock.now)
            } catch {
                if first != nil, let message = error.message { StandardError.write("reach: \(message)\n") }
                first = first ?? error
            }
        }
        if let first { throw first }
    }
}

struct QueueHoldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Keep requests from starting until they are released; attempts that can be repeated end.",
        discussion: queueExitStatus + "\n\nExample: reach queue hold --all")

    @OptionGroup var queue: QueueOptions
    @OptionGroup var selection: QueueSelectionOptions

    func run() throws {
        try queue.each(selection.selections, "hold") { client, selection throws(ControlError) in
            try client.hold(selection)
            return nil
        }
    }
}

struct QueueReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Release held requests.",
        discussion: queueExitStatus + "\n\nExample: reach queue release 12 13")

    @OptionGroup var queue: QueueOptions

    @Flag(help: "All requests: those of the user; for root, those of all users.")
    var all = false

    @Flag(help: "Release what the fleet holds, which may hold it again. Only for root and the fleet's agent.")
    var fleet = false

    @Argument(
        help: "The numbers of requests.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var ids: [Int64] = []

    func validate() throws {
        let given = [all, fleet, !ids.isEmpty].count { $0 }
        if given > 1 { throw ValidationError("--all, --fleet and numbers of requests exclude each other") }
        if given == 0 { throw ValidationError("give the numbers of requests, --all or --fleet") }
    }

    func run() throws {
        if fleet {
            try queue.ask { client throws(ControlError) in try client.setFleetHold(false) }
            return queue.report("release", .all, at: SystemClock.now)
        }
        let selections = all ? [QueueSelection.all] : ids.map { .request($0) }
        try queue.each(selections, "release") { client, selection throws(ControlError) in
            try client.release(selection)
            return nil
        }
    }
}

struct QueueCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End requests for good.",
        discussion: queueExitStatus + "\n\nExample: reach queue cancel 12")

    @OptionGroup var queue: QueueOptions

    @Argument(
        help: "The numbers of requests.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var ids: [Int64]

    func run() throws {
        try queue.each(ids.map { .request($0) }, "cancel") { client, selection throws(ControlError) in
            if case .request(let id) = selection { try client.cancel(request: id) }
            return nil
        }
    }
}

struct QueueRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send dead requests again.",
        discussion: queueExitStatus + "\n\nExample: reach queue retry --all")

    @Option(
        help: ArgumentHelp("With --all: only requests that died for this reason.", valueName: "word"),
        completion: ValueCompletion.words(DeathReason.self))
    var reason: String?

    @OptionGroup var queue: QueueOptions
    @OptionGroup var selection: QueueSelectionOptions

    func validate() throws {
        if reason != nil && !selection.all { throw ValidationError("--reason goes with --all") }
    }

    func run() throws {
        try queue.each(selection.selections, "retry") { client, selection throws(ControlError) in
            let count = try client.retry(selection, reason: reason)
            if !queue.json { StandardOutput.write(lines: Self.sentence(selection, count: count)) }
            return count
        }
    }
}

extension QueueRetryCommand {
    private static func sentence(_ selection: QueueSelection, count: Int) -> String {
        if case .request(let id) = selection { return "request \(id) is sent again\n" }
        return count == 1 ? "1 request is sent again\n" : "\(count) requests are sent again\n"
    }
}

/// What the help of the queue's commands says of their exit status.
let queueExitStatus = """
    Exit status: 0 done, 1 there is no such request or its state does not fit, 2 usage, 4 no daemon answers, \
    69 the daemon keeps no queue, 77 not permitted.
    """
