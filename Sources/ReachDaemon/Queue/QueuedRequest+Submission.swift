internal import ReachControl
internal import ReachCore
internal import ReachQueue

extension QueuedRequest {
    /// What a client handed in, read and completed, but for its body.
    ///
    /// - Throws: ``QueueServiceError/invalid(field:reason:)``, which names the text at fault.
    init(_ submission: QueueSubmission, owner: UInt32) throws(QueueServiceError) {
        do throws(RequestValidationError) {
            let hasBody = submission.body != .none
            try self.init(
                method: submission.method ?? (hasBody ? "POST" : "GET"), url: submission.url,
                headers: submission.headers.map { Header(name: $0.name, value: $0.value) },
                constraint: try Constraint(submission.when ?? "any"), owner: owner)
        } catch {
            throw QueueServiceError(error)
        }
        if constraint == .any, destination.isOnThisMachine {
            // No link is needed to reach it, and by none could it be reached.
            constraint.isTargetReachable = true
        }
        priority = try Self.priority(submission.priority)
        timeToLive = submission.expires
        if let key = submission.idempotencyKey {
            idempotency = .key(key)
            headers.append(Header(name: "Idempotency-Key", value: key))
        }
        orderKey = submission.order
        dependsOnPrevious = submission.depends
        uniqueness = try Self.uniqueness(submission)
        maximumAttempts = submission.maximumAttempts
        isStrict = submission.isStrict
        if !submission.acceptedStatuses.isEmpty { acceptedStatuses = submission.acceptedStatuses }
    }

    private static func priority(_ text: String?) throws(QueueServiceError) -> RequestPriority {
        guard let text else { return .normal }
        let words: [String: RequestPriority] = ["urgent": .urgent, "high": .high, "normal": .normal, "low": .low]
        if let named = words[text] ?? UInt8(text).flatMap(RequestPriority.init(rawValue:)) { return named }
        throw .invalid(
            field: "priority",
            reason: "'\(shown(text))' is no priority: urgent, high, normal, low, or 0 to 3")
    }

    private static func uniqueness(_ submission: QueueSubmission) throws(QueueServiceError) -> RequestUniqueness {
        guard let key = submission.key else {
            if submission.mode == nil { return .none }
            throw .invalid(field: "mode", reason: "a mode says what becomes of requests with the same key: give a key")
        }
        guard let mode = submission.mode else { return .unique(name: key, mode: .keep) }
        if mode == "coalesce" { return .coalesce(key: key) }
        if let mode = RequestUniqueness.Mode(rawValue: mode) { return .unique(name: key, mode: mode) }
        let words = RequestUniqueness.Mode.allCases.map(\.rawValue) + ["coalesce"]
        throw .invalid(field: "mode", reason: "'\(shown(mode))' is no mode: \(words.joined(separator: ", "))")
    }

    private static func shown(_ text: String) -> String { DisplayText.sanitized(String(text.prefix(64))) }
}

extension Destination {
    /// A loopback address, or the name that means one (RFC 6761, 6.3).
    fileprivate var isOnThisMachine: Bool {
        switch target?.subject {
        case .address(let address, _): address.isLoopback
        case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
        default: false
        }
    }
}

extension QueueServiceError {
    init(_ mistake: RequestValidationError) {
        self = .invalid(field: mistake.field.rawValue, reason: mistake.description)
    }
}
