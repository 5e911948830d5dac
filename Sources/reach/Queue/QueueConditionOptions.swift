internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachQueue

/// When a request may go, and what it has to do with others.
struct QueueConditionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send only when this holds: a condition of \"reach wait\" other than not-reachable, such as wifi, \"not wwan\", unmetered or validated, or several with commas between them.",
            valueName: "condition"))
    var when: String?

    @Option(help: ArgumentHelp("urgent, high, normal, low, or 0 to 3.", valueName: "priority"))
    var priority: String?

    @Option(
        help: ArgumentHelp("Give it up if it has not been sent after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var expires: Duration?

    @Option(help: ArgumentHelp("Names the piece of work; see --mode.", valueName: "name"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "What becomes of requests with the same key: keep, replace, append, append-or-replace, coalesce.",
            valueName: "mode"))
    var mode: String?

    @Option(help: ArgumentHelp("Requests with the same name go one after the other.", valueName: "name"))
    var order: String?

    @Flag(help: "With --order: give it up if the one before it is given up.")
    var depends = false

    @Option(help: ArgumentHelp("The value of the header Idempotency-Key.", valueName: "text"))
    var idempotencyKey: String?

    @Option(help: ArgumentHelp("Give it up after so many failures that count.", valueName: "number"))
    var maxAttempts: Int?

    @Flag(help: "End an attempt when --when no longer holds, although its path still works.")
    var strict = false

    @Option(
        help: ArgumentHelp(
            "A status, or two with - between them, that is success. May be given several times.", valueName: "status"),
        transform: { try QueueArgument.statuses($0) })
    var accept: [ClosedRange<Int>] = []

    /// - Throws: ``CommandError``, which names the word that is wrong.
    func apply(to request: inout RequestSpecification) throws(CommandError) {
        do throws(RequestValidationError) {
            if let when { request.condition = try RequestSpecification.condition(when) }
            if let priority { request.priority = try RequestPriority(priority) }
            request.uniqueness = try RequestUniqueness(key: key, mode: mode)
        } catch {
            throw CommandError(error)
        }
        request.timeToLive = expires
        request.orderKey = order
        request.dependsOnPrevious = depends
        if let idempotencyKey { request.idempotency = .key(idempotencyKey) }
        request.maximumAttempts = maxAttempts
        request.isStrict = strict
        if !accept.isEmpty { request.acceptedStatuses = accept }
    }
}

extension CommandError {
    /// As the daemon would refuse it.
    init(_ error: RequestValidationError) { self.init(queue: QueueServiceError(error)) }
}
