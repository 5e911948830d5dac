internal import ReachCore
internal import ReachLoop

/// The subjects that clients subscribe to: targets, and requests of the queue.
final class Topics {
    private let service: any ControlService
    private let queue: (any QueueService)?
    private let limits: ControlLimits
    /// Users without a limit of their own on targets, since they are needed to repair things.
    private let exempt: Set<UInt32>
    private var topics: [Topic.Subject: Topic] = [:]
    private var queueWatches: [UInt32: Int] = [:]
    /// The connections whose clients wait for a path.
    private var seekers: Set<CInt> = []
    /// Ends the search for a path; `nil` while no one waits.
    private var endSeeking: (() -> Void)?
    private let budget: BacklogBudget
    private let encoder: ChangeEncoder
    private var queueEncoder = QueueEncoder()

    init(
        service: any ControlService, queue: (any QueueService)?, encoder: ChangeEncoder, limits: ControlLimits,
        exempt: Set<UInt32> = []
    ) {
        self.service = service
        self.queue = queue
        self.encoder = encoder
        self.limits = limits
        self.exempt = exempt
        budget = BacklogBudget(limit: max(limits.backlogBytesOfAll, limits.backlogBytes))
    }

    var backlogBytes: Int { budget.byteCount }
    var targetCount: Int { topics.count - queueWatches.values.reduce(0, +) }
    var subscriberCount: Int { topics.values.reduce(0) { $0 + $1.subscribers.count } }

    func unsubscribe(_ connection: Connection, from topic: Topic) {
        topic.remove(connection)
        if seekers.remove(connection.descriptor) != nil, seekers.isEmpty {
            endSeeking?()
            endSeeking = nil
        }
        guard topic.subscribers.isEmpty else { return }
        topics[topic.subject] = nil
        if case .queue(let user, _) = topic.subject {
            queueWatches[user] = queueWatches[user].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
        topic.end()
    }

    // MARK: - Targets

    /// - Parameters:
    ///   - withRequests: Whether the stream includes the events of the caller's requests.
    ///   - seeksPath: Whether the client waits for a path. However many wait, there is one search for all.
    func subscribe(
        _ connection: Connection, to target: Target, withRequests: Bool, seeksPath: Bool
    ) throws(MonitorError) {
        let user = withRequests && queue != nil && connection.caller.isKnown ? connection.caller.user : nil
        let watched = target.watched
        let topic = try topic(for: watched, requestsOf: user, connection.caller)
        if seeksPath {
            seekers.insert(connection.descriptor)
            if endSeeking == nil { endSeeking = service.seekPath() }
        }
        connection.stream(topic.add(connection, as: watched == target ? nil : QuotedTarget(target)))
    }

    /// The number of different targets that a user's connections subscribe to.
    private func targetCount(of user: UInt32) -> Int {
        topics.count { subject, topic in
            guard case .target = subject else { return false }
            return topic.subscribers.values.contains { $0.caller.user == user }
        }
    }

    private func topic(
        for target: Target, requestsOf user: UInt32?, _ caller: Caller
    ) throws(MonitorError) -> Topic {
        let subject = Topic.Subject.target(target, requestsOf: user)
        if let topic = topics[subject] { return topic }
        try limits.checkTarget(
            watched: targetCount, byUser: targetCount(of: caller.user), isExempt: exempt.contains(caller.user))
        let topic = Topic(subject, backlogBytes: limits.backlogBytes, of: budget)
        let watch = try service.watch(target, for: caller) { [weak topic, weak self] event in
            guard let topic, let self else { return }
            let isChange = if case .change = event { true } else { false }
            publish(encoder.encode(event, of: &topic.quotedTarget), to: topic, isChange: isChange)
        }
        let requests = user == nil ? nil : watchRequests(of: caller, publishingTo: topic)
        topic.begin(Topic.Source(watch, requests))
        topics[subject] = topic
        return topic
    }

    /// - Returns: `nil` if there is no queue, and so no event of one.
    private func watchRequests(of caller: Caller, publishingTo topic: Topic) -> QueueWatch? {
        try? queue?.watch(nil, for: caller) { [weak topic, weak self] notice in
            topic.map { self?.publish(notice, to: $0) }
        }
    }

    private func publish(_ notice: QueueNotice, to topic: Topic) { publish(queueEncoder.encode(notice), to: topic) }

    private func publish(_ event: EncodedEvent, to topic: Topic, isChange: Bool = false) {
        topic.publish(event, isChange: isChange)
        guard budget.isExceeded else { return }
        var shares = BacklogShares(Array(topics.values))
        shares.shorten(budget)
    }

    // MARK: - The queue

    func subscribe(_ connection: Connection, toRequest id: Int64?) throws(VarlinkError) {
        connection.stream(try topic(forRequest: id, connection.caller).add(connection))
    }

    private func topic(forRequest id: Int64?, _ caller: Caller) throws(VarlinkError) -> Topic {
        let subject = Topic.Subject.queue(user: caller.user, request: id)
        if let topic = topics[subject] { return topic }
        guard let queue else { throw QueueServiceError.notAvailable(reason: "this daemon keeps no queue").varlink }
        let count = queueWatches[caller.user] ?? 0
        guard count < limits.queueWatchesPerUser else {
            throw QueueServiceError.tooManyWatches(limit: limits.queueWatchesPerUser)
        }
        let topic = Topic(subject, backlogBytes: limits.backlogBytes, of: budget)
        do throws(QueueServiceError) {
            let watch = try queue.watch(id, for: caller) { [weak topic, weak self] notice in
                topic.map { self?.publish(notice, to: $0) }
            }
            topic.begin(Topic.Source(watch))
        } catch {
            throw error.varlink
        }
        topics[subject] = topic
        queueWatches[caller.user] = count + 1
        return topic
    }
}

extension Topic.Source {
    fileprivate init(_ watch: ControlWatch, _ requests: QueueWatch?) {
        self.init(
            snapshot: { isInitial in
                guard let state = watch.state() else { return nil }
                let cause: Cause = isInitial ? .start : .resync
                return .snapshot(state, source: .daemon, isInitial: isInitial, cause: cause, at: SystemClock.now)
            },
            isStale: { watch.state()?.isStale ?? false },
            cancel: {
                watch.cancel()
                requests?.cancel()
            })
    }

    /// The source of a queue watch. Its snapshot holds no state: clients query that by a call of its own, which may be
    /// slow.
    fileprivate init(_ watch: QueueWatch) {
        self.init(
            snapshot: { _ in .queueWatching(at: SystemClock.now) }, isStale: { false }, cancel: watch.cancel)
    }
}
