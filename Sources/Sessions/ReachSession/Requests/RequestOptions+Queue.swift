internal import ReachQueue

extension RequestTerms {
    /// The options as the queue takes them.
    ///
    /// - Parameter keepsOnDisk: The session has a directory.
    init(_ options: RequestOptions, keepsOnDisk: Bool) {
        self.init()
        condition = options.constraint.value
        priority = options.priority.queued
        timeToLive = options.expiresAfter
        orderKey = options.orderKey
        dependsOnPrevious = options.dependsOnPrevious
        uniqueness = options.uniqueness.queued
        isStrict = options.isStrict
        acceptedStatuses = options.acceptedStatuses
        switch options.retries ?? (keepsOnDisk ? .untilExpiry : .never) {
        case .never: maximumAttempts = 1
        case .attempts(let count): maximumAttempts = count
        case .untilExpiry: maximumAttempts = nil
        }
        if let idempotencyKey = options.idempotencyKey { idempotency = .key(idempotencyKey) }
        if options.idempotency == .never { idempotency = .never }
        interceptor = options.interceptor
        timeouts = options.timeouts.map { AttemptTimeouts(connect: $0.connect, idle: $0.idle, total: $0.total) }
        tag = options.tag
        failsOffline = options.waitsForConnectivity == false
        uploadProtocol = options.uploadProtocol.map { _ in .tus }
    }
}

extension RequestOptions {
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
        idempotency = request.idempotency == .never ? .never : .byKey
        interceptor = request.interceptor
        timeouts = request.timeouts.map {
            var timeouts = RequestSessionOptions.Timeouts()
            (timeouts.connect, timeouts.idle, timeouts.total) = ($0.connect, $0.idle, $0.total)
            return timeouts
        }
        tag = request.tag
        waitsForConnectivity = request.failsOffline ? false : nil
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
        // No session joins requests.
        case .none, .joined: self = .none
        case .coalesce(let name): self = .coalesce(name)
        case .unique(let name, .keep): self = .keep(name)
        case .unique(let name, .replace): self = .replace(name)
        case .unique(let name, .append): self = .append(name)
        case .unique(let name, .appendOrReplace): self = .appendOrReplace(name)
        }
    }
}
