internal import ReachCore

/// Something that somebody subscribes to. What happens to it is encoded once and kept once, for all of them.
final class Topic {
    enum Subject: Hashable {
        /// With what happens to a user's requests in between, or without.
        case target(Target, requestsOf: UInt32?)
        /// One request, or all that the user may see.
        case queue(user: UInt32, request: Int64?)
    }

    /// What a topic asks of where its events come from.
    struct Source {
        /// What a newcomer is told first, and whoever has missed events; `nil` while there is nothing to tell.
        let snapshot: (_ isInitial: Bool) -> EncodedEvent?
        let isStale: () -> Bool
        /// Nobody subscribes any more.
        let cancel: () -> Void
    }

    let subject: Subject
    private(set) var subscribers: [CInt: Connection] = [:]
    private(set) var backlog: Backlog
    private var source: Source?
    /// The number after that of the last change.
    private(set) var changeEnd: UInt64 = 0

    init(_ subject: Subject, backlogBytes: Int) {
        self.subject = subject
        backlog = Backlog(limit: backlogBytes)
    }

    func begin(_ source: Source) { self.source = source }

    func end() { source?.cancel() }

    func add(_ connection: Connection) -> Subscription {
        subscribers[connection.descriptor] = connection
        return Subscription(to: self, from: backlog.end)
    }

    func remove(_ connection: Connection) {
        subscribers[connection.descriptor] = nil
        forgetRead()
    }

    /// - Parameter isChange: It tells the whole state anew.
    func publish(_ event: EncodedEvent, isChange: Bool = false) {
        forgetRead()
        backlog.append(Self.reply(event))
        if isChange { changeEnd = backlog.end }
        for connection in subscribers.values { connection.proceedSoon() }
    }

    /// Everything that no subscriber has yet to read.
    func forgetRead() {
        let needed = subscribers.values.compactMap { $0.subscription?.position }.min()
        backlog.forget(before: needed ?? backlog.end)
    }

    /// What it is about cannot be observed at the moment.
    var isStale: Bool { source?.isStale() ?? false }

    /// The state now, for somebody who has no other; `nil` while it is not determined.
    func snapshot(isInitial: Bool) -> EncodedEvent? { source?.snapshot(isInitial).map(Self.reply) }

    static func reply(_ event: EncodedEvent) -> EncodedEvent {
        event.enclosed(in: "{\"parameters\":{\"event\":", "},\"continues\":true}\0")
    }
}
