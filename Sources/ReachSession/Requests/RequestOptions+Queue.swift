internal import ReachQueue

extension RequestOptions {
    /// Puts the options into a specification.
    ///
    /// - Parameter keepsOnDisk: The session has a directory.
    func apply(to request: inout RequestSpecification, keepsOnDisk: Bool) {
        request.condition = constraint.value
        request.priority = priority.queued
        request.timeToLive = expiresAfter
        request.orderKey = orderKey
        request.dependsOnPrevious = dependsOnPrevious
        request.uniqueness = uniqueness.queued
        request.isStrict = isStrict
        request.acceptedStatuses = acceptedStatuses
        switch retries ?? (keepsOnDisk ? .untilExpiry : .never) {
        case .never: request.maximumAttempts = 1
        case .attempts(let count): request.maximumAttempts = count
        case .untilExpiry: request.maximumAttempts = nil
        }
        if let idempotencyKey { request.idempotency = .key(idempotencyKey) }
        request.interceptor = interceptor
        request.timeouts = timeouts.map { AttemptTimeouts(connect: $0.connect, idle: $0.idle, total: $0.total) }
        request.tag = tag
        request.failsOffline = !waitsForConnectivity
        request.uploadProtocol = uploadProtocol.map { _ in .tus }
    }

    /// Of a request that an earlier run queued.
    init(_ request: RequestSpecification) {
        constraint = RequestConstraint(value: request.condition)
        priority = Priority(request.priority)
        expiresAfter = request.timeToLive
        orderKey = request.orderKey
        dependsOnPrevious = request.dependsOnPrevious
        uniqueness = Uniqueness(request.uniqueness)
        isStrict = request.isStrict
        acceptedStatuses = request.acceptedStatuses
        retries = request.maximumAttempts.map { $0 == 1 ? .never : .attempts($0) } ?? .untilExpiry
        idempotencyKey = request.idempotency.key
        interceptor = request.interceptor
        timeouts = request.timeouts.map {
            var timeouts = RequestSessionOptions.Timeouts()
            (timeouts.connect, timeouts.idle, timeouts.total) = ($0.connect, $0.idle, $0.total)
            return timeouts
        }
        tag = request.tag
        waitsForConnectivity = !request.failsOffline
        uploadProtocol = request.uploadProtocol.map { _ in .tus }
    }
}

extension RequestOptions.Priority {
    fileprivate var queued: RequestPriority {
        switch self {
        case .urgent: .urgent
        case .high: .high
        case .normal: .normal
        case .low: .low
        }
    }

    fileprivate init(_ priority: RequestPriority) {
        switch priority {
        case .urgent: self = .urgent
        case .high: self = .high
        case .normal: self = .normal
        case .low: self = .low
        }
    }
}

extension RequestOptions.Uniqueness {
    fileprivate var queued: RequestUniqueness {
        switch self {
        case .none: .none
        case .keep(let name): .unique(name: name, mode: .keep)
        case .replace(let name): .unique(name: name, mode: .replace)
        case .append(let name): .unique(name: name, mode: .append)
        case .appendOrReplace(let name): .unique(name: name, mode: .appendOrReplace)
        case .coalesce(let name): .coalesce(key: name)
        }
    }

    fileprivate init(_ uniqueness: RequestUniqueness) {
        switch uniqueness {
        case .none: self = .none
        case .coalesce(let name): self = .coalesce(name)
        case .unique(let name, .keep): self = .keep(name)
        case .unique(let name, .replace): self = .replace(name)
        case .unique(let name, .append): self = .append(name)
        case .unique(let name, .appendOrReplace): self = .appendOrReplace(name)
        }
    }
}
