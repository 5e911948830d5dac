internal import ReachCore
internal import ReachLoop

/// A target that somebody subscribes to. What happens to it is encoded once and kept once, for all of them.
final class Topic {
    let target: Target
    private(set) var subscribers: [CInt: Connection] = [:]
    private(set) var backlog: Backlog
    private var watch: ControlWatch?
    /// The number after that of the last change.
    private(set) var changeEnd: UInt64 = 0

    init(target: Target, backlogBytes: Int) {
        self.target = target
        backlog = Backlog(limit: backlogBytes)
    }

    func begin(_ watch: ControlWatch) { self.watch = watch }

    func end() { watch?.cancel() }

    func add(_ connection: Connection) -> Subscription {
        subscribers[connection.descriptor] = connection
        return Subscription(to: self, from: backlog.end)
    }

    func remove(_ connection: Connection) {
        subscribers[connection.descriptor] = nil
        forgetRead()
    }

    func publish(_ event: MonitorEvent) {
        forgetRead()
        backlog.append(Self.reply(event.encoded))
        if case .change = event { changeEnd = backlog.end }
        for connection in subscribers.values { connection.proceedSoon() }
    }

    /// Everything that no subscriber has yet to read.
    func forgetRead() {
        let needed = subscribers.values.compactMap { $0.subscription?.position }.min()
        backlog.forget(before: needed ?? backlog.end)
    }

    /// The kernel cannot be observed at the moment.
    var isStale: Bool { watch?.state()?.isStale ?? false }

    /// The state now, for somebody who has no other; `nil` while it is not determined.
    func snapshot(isInitial: Bool) -> EncodedEvent? {
        guard let state = watch?.state() else { return nil }
        let cause: Cause = isInitial ? .start : .resync
        let now = SystemClock.now
        return Self.reply(.snapshot(state, source: .daemon, isInitial: isInitial, cause: cause, at: now))
    }

    static func reply(_ event: EncodedEvent) -> EncodedEvent {
        event.enclosed(in: "{\"parameters\":{\"event\":", "},\"continues\":true}\0")
    }
}

/// All targets that are subscribed to.
final class Topics {
    private let service: any ControlService
    private let limits: ControlLimits
    private var topics: [Target: Topic] = [:]

    init(service: any ControlService, limits: ControlLimits) {
        self.service = service
        self.limits = limits
    }

    var count: Int { topics.count }
    var subscriberCount: Int { topics.values.reduce(0) { $0 + $1.subscribers.count } }

    func subscribe(_ connection: Connection, to target: Target) throws(MonitorError) {
        connection.stream(try topic(for: target, connection.caller).add(connection))
    }

    func unsubscribe(_ connection: Connection, from topic: Topic) {
        topic.remove(connection)
        guard topic.subscribers.isEmpty else { return }
        topics[topic.target] = nil
        topic.end()
    }

    private func topic(for target: Target, _ caller: Caller) throws(MonitorError) -> Topic {
        if let topic = topics[target] { return topic }
        guard topics.count < limits.targets else { throw .tooManyTargets(limit: limits.targets) }
        let topic = Topic(target: target, backlogBytes: limits.backlogBytes)
        topic.begin(try service.watch(target, for: caller) { [weak topic] event in topic?.publish(event) })
        topics[target] = topic
        return topic
    }
}
