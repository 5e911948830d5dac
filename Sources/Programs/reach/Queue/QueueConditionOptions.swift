internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachQueue

/// When a request may be sent, and how it relates to others.
struct QueueConditionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send only when this holds: a condition of \"reach wait\" other than not-reachable, such as wifi, \"not "
                + "wwan\", unmetered or validated, or several with commas between them.",
            valueName: "condition"),
        completion: ValueCompletion.condition)
    var when: String?

    @Option(
        help: ArgumentHelp("The priority: urgent, high, normal, low, or 0 to 3.", valueName: "priority"),
        completion: .list(["urgent", "high", "normal", "low"]))
    var priority: String?

    @Option(
        help: ArgumentHelp("Give the request up if it is not finished after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var expires: Duration?

    @Option(help: ArgumentHelp("A name for the work that the request does; see --mode.", valueName: "name"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "What to do if unfinished requests have the same key: keep, replace, append, append-or-replace or "
                + "coalesce.",
            valueName: "mode"),
        completion: .list(["keep", "replace", "append", "append-or-replace", "coalesce"]))
    var mode: String?

    @Option(
        help: ArgumentHelp(
            "Send the bodies of waiting requests with the same --key in one request: as lines, or as an array of json.",
            valueName: "form"),
        completion: .list(JoinForm.allCases.map(\.rawValue)))
    var join: String?

    @Option(help: ArgumentHelp("Send requests with the same name one after the other.", valueName: "name"))
    var order: String?

    @Flag(help: "With --order: give the request up if the previous one died or was cancelled.")
    var depends = false

    @Option(help: ArgumentHelp("The value of the header Idempotency-Key.", valueName: "text"))
    var idempotencyKey: String?

    @Option(
        help: ArgumentHelp(
            "Give the request up after this many failures; failures of the network do not count.", valueName: "number"))
    var maxAttempts: Int?

    @Flag(help: "End an attempt when --when no longer holds, even if its path still works.")
    var strict = false

    @Flag(help: "Send over metered links even if a budget for them is used up.")
    var overBudget = false

    @Option(
        help: ArgumentHelp(
            "Resume the upload if the server has a part of the body already. The only protocol is tus; the URL creates "
                + "uploads, or with -X PATCH is an upload.",
            valueName: "protocol"),
        completion: .list(UploadProtocol.allCases.map(\.rawValue)))
    var uploadProtocol: String?

    @Option(
        help: ArgumentHelp(
            "A status that counts as success, or a range such as 200-204. May be given several times.",
            valueName: "status"),
        transform: { try QueueArgument.statuses($0) })
    var accept: [ClosedRange<Int>] = []

    /// The mode that `--join` stands for.
    private var joinMode: String? {
        get throws(RequestValidationError) {
            guard let join else { return nil }
            guard JoinForm(rawValue: join) != nil else {
                let words = JoinForm.allCases.map(\.rawValue)
                throw RequestValidationError(
                    "join",
                    "'\(DisplayText.excerpt(join))' is no form: \(words.joined(separator: ", "))"
                        + NearestWord.hint(for: join, among: words))
            }
            guard mode == nil else { throw RequestValidationError("join", "--join and --mode exclude each other") }
            guard key != nil else { throw RequestValidationError("join", "requests are joined by their --key") }
            return "join-" + join
        }
    }

    /// - Throws: ``CommandError``, which names the word that is wrong.
    func apply(to request: inout RequestSpecification) throws(CommandError) {
        do throws(RequestValidationError) {
            if let when { request.condition = try RequestSpecification.condition(when) }
            if let priority { request.priority = try RequestPriority(priority) }
            request.uniqueness = try RequestUniqueness(key: key, mode: try joinMode ?? mode)
            if let uploadProtocol { request.uploadProtocol = try UploadProtocol(uploadProtocol) }
        } catch {
            throw CommandError(error)
        }
        request.timeToLive = expires
        request.orderKey = order
        request.dependsOnPrevious = depends
        if let idempotencyKey { request.idempotency = .key(idempotencyKey) }
        request.maximumAttempts = maxAttempts
        request.isStrict = strict
        request.isOverBudget = overBudget
        if !accept.isEmpty { request.acceptedStatuses = accept }
    }
}

extension CommandError {
    /// The same error as from the daemon.
    init(_ error: RequestValidationError) { self.init(queue: QueueServiceError(error)) }
}
