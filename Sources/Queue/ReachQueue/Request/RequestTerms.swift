package import ReachCore

/// When, how often and under which conditions a request is sent, and what becomes of its answer.
package struct RequestTerms: Hashable, Sendable {
    /// What the network must be like.
    package var condition: NetworkCondition = .any
    package var priority: RequestPriority = .normal
    /// From its storing on; `nil` is ``QueuePolicy/timeToLive``.
    package var timeToLive: Duration?
    package var idempotency: Idempotency = .byMethod
    /// The queue sends requests of one user with the same order key one at a time, in the order of their storing.
    package var orderKey: String?
    /// It dies when the request before it, by the order key, died or was cancelled.
    package var dependsOnPrevious = false
    package var uniqueness: RequestUniqueness = .none
    /// How many failures of the destination it survives; `nil`: any number. Failures of the network do not count.
    package var maximumAttempts: Int?
    /// The queue ends a running attempt when the class of its path no longer satisfies, although the path still works.
    package var isStrict = false
    /// Which statuses are success; AFNetworking's serializers accept 200 to 299.
    package var acceptedStatuses: [ClosedRange<Int>] = [200...299]
    /// The file for the body of the response, instead of the queue's own.
    package var outputPath: String?
    /// The name of the interceptor that adapts each attempt and judges answers. The request waits until the program has
    /// registered one of this name.
    package var interceptor: String?
    /// The time limits of its attempts, instead of the queue's own.
    package var timeouts: AttemptTimeouts?
    /// The program's own name or description of the request.
    package var tag: String?
    /// Whether its program ends it instead of letting it wait for a path. The queue only keeps this.
    package var failsOffline = false
    /// How the server is asked to resume the upload of the body; `nil` sends it whole in each attempt.
    package var uploadProtocol: UploadProtocol?
    /// Whether an attempt follows redirects. Credentials are sent to their own origin only.
    package var followsRedirects = false
    /// Whether the server may compress the answer, which is unpacked as it arrives.
    package var isCompressed = false
    /// Whether budgets for metered links do not hold it back. Its bytes count all the same.
    package var isOverBudget = false
    /// What it has in common with those that it may be joined with; `nil` if it is not joined.
    package var joinGroup: String?

    /// The terms of most requests.
    package static let usual = Shared(RequestTerms())

    package init() {}

    /// The bytes of the texts, which count for each request: in the queue's file each has a row of its own.
    var textBytes: Int {
        func count(_ text: String?) -> Int { text?.utf8.count ?? 0 }
        return (condition == .any ? 0 : condition.description.utf8.count) + count(idempotency.key) + count(orderKey)
            + count(uniqueness.key) + count(outputPath) + count(interceptor) + count(tag)
    }
}

extension RequestTerm {
    /// All terms. A new one is a property above and a line at the end here, with the version of the queue's file that
    /// has its column. From the line follow its parameter of `io.reach.Queue.Add`, the parameter's limit, the column
    /// with the rule for its values, and what the change log has of it. Its option is in `QueueConditionOptions`, and
    /// io.reach.Queue.varlink and reach(1) describe it.
    package static let all: [RequestTerm] = [
        RequestTerm("when", .text(NetworkCondition.longestText)) { terms, text throws(RequestValidationError) in
            terms.condition = try RequestSpecification.condition(text.text)
        } write: {
            $0.condition == .any ? nil : .text($0.condition.description)
        },
        RequestTerm("priority", .word) { terms, text throws(RequestValidationError) in
            terms.priority = try RequestPriority(text.text)
        } write: {
            $0.priority == .normal ? nil : .text("\($0.priority)")
        },
        RequestTerm("expires_ms", .number(0 ... .max)) { terms, number in
            terms.timeToLive = .milliseconds(number.number)
        } write: { terms in
            terms.timeToLive.map { .number($0.nanoseconds / 1_000_000) }
        },
        RequestTerm("idempotency_key", .text(QueueLimits.longestKey), column: Column("idempotency_key")) {
            terms, text in
            terms.idempotency = Idempotency(stored: text.text)
        } write: {
            $0.idempotency.stored.map { .text($0) }
        },
        .text("order", \.orderKey, column: Column("order_key", isForScheduling: true)),
        .flag("depends", \.dependsOnPrevious, column: Column("depends", isForScheduling: true, isRequired: true)),
        RequestTerm("key", .text(QueueLimits.longestKey), column: Column("unique_name", isForScheduling: true)) {
            terms, text in
            terms.uniqueness = .unique(name: text.text, mode: .keep)
        } write: {
            $0.uniqueness.key.map { .text($0) }
        },
        RequestTerm("mode", .word, column: Column("unique_mode", isForScheduling: true)) {
            terms, text throws(RequestValidationError) in
            terms.uniqueness = try RequestUniqueness(key: terms.uniqueness.key, mode: text.text)
        } write: {
            $0.uniqueness.mode.map { .text($0) }
        },
        RequestTerm(
            "max_attempts", .number(0 ... .max), column: Column("maximum_attempts", isForScheduling: true)
        ) { terms, number in
            terms.maximumAttempts = Int(number.number)
        } write: { terms in
            terms.maximumAttempts.map { .number(Int64($0)) }
        },
        .flag("strict", \.isStrict, column: Column("strict", isForScheduling: true, isRequired: true)),
        .flag("location", \.followsRedirects, column: Column("location")),
        .flag("compressed", \.isCompressed, column: Column("compressed")),
        .flag("over_budget", \.isOverBudget, column: Column("over_budget", since: 9, isForScheduling: true)),
        .word(
            "upload_protocol", \.uploadProtocol, UploadProtocol.init,
            column: Column("upload_protocol", isForScheduling: true)),
        RequestTerm("accept", .ranges) { terms, ranges in
            if !ranges.ranges.isEmpty { terms.acceptedStatuses = ranges.ranges }
        } write: {
            $0.acceptedStatuses == [200...299] ? nil : .ranges($0.acceptedStatuses)
        },

        // What only sessions ask for has no parameter.
        RequestTerm(nil, .text(.max), column: Column("accepted", isRequired: true)) { terms, text in
            terms.acceptedStatuses = StatusRanges.ranges(text.text)
        } write: {
            .text(StatusRanges.text(of: $0.acceptedStatuses))
        },
        .text(nil, \.outputPath, column: Column("output_path"), upTo: .max),
        .text(nil, \.interceptor, column: Column("interceptor", isForScheduling: true)),
        RequestTerm(nil, .text(256), column: Column("timeouts")) { terms, text in
            terms.timeouts = AttemptTimeouts(text: text.text)
        } write: { terms in
            terms.timeouts.map { .text($0.text) }
        },
        .text(nil, \.tag, column: Column("tag"), upTo: .max),
        .text(nil, \.joinGroup, column: Column("join_group", since: 10, isForScheduling: true)),
        .flag(nil, \.failsOffline, column: Column("fails_offline", isRequired: true)),
    ]

    /// Those that rows of the queue's file have.
    package static let stored = all.filter { $0.column != nil }
}
