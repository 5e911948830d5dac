internal import Dispatch
package import ReachCore
internal import Synchronization

/// The requests of a connection that wait for their replies. One subscription receives all of them.
///
/// libnats' own requests block, and one that the server refuses would wait until its time is over: the refusal comes as an
/// error of the connection, which names the subject.
final class NATSRequests: Sendable {
    typealias Handler = @Sendable (Result<NATSMessage, NATSError>) -> Void

    private struct Waiting: Sendable {
        let subject: String
        let handler: Handler
    }

    private struct State: Sendable {
        var last: UInt64 = 0
        var waiting: [UInt64: Waiting] = [:]
        var subscription: NATSSubscription?
        /// Subscriptions to free, each with the number of the last request before its end.
        var ended: [(subscription: EndedSubscription, request: UInt64)] = []
    }

    private let state = Mutex(State())
    private let token = SubjectToken.random()

    func start(on link: NATSLink) throws(NATSError) {
        let subscription = try NATSSubscription("\(link.settings.inbox).\(token).*", on: link, keepsLink: false) {
            [weak self] message in self?.receive(message)
        }
        state.withLock { $0.subscription = subscription }
    }

    /// - Returns: The request's number and the subject for its reply.
    func add(_ subject: String, inbox: String, _ handler: @escaping Handler) -> (number: UInt64, reply: String) {
        let number = state.withLock { state in
            state.last += 1
            state.waiting[state.last] = Waiting(subject: subject, handler: handler)
            return state.last
        }
        return (number, "\(inbox).\(token).\(number)")
    }

    /// - Returns: Whether it still waited.
    @discardableResult
    func remove(_ number: UInt64) -> Bool { state.withLock { $0.waiting.removeValue(forKey: number) != nil } }

    /// Frees the subscription when the reply to a later request has come.
    func freeLater(_ subscription: EndedSubscription) {
        state.withLock { $0.ended.append((subscription, $0.last)) }
    }

    /// Frees subscriptions that have ended. The connection has ended too.
    func freeAll() {
        let ended = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for (subscription, _) in ended { subscription.free() }
    }

    private func receive(_ message: NATSMessage) {
        guard let number = message.subject.split(scalar: ".").last.flatMap({ UInt64($0) }) else { return }
        let found = state.withLock { state -> (waiting: Waiting, unused: [EndedSubscription])? in
            guard let waiting = state.waiting.removeValue(forKey: number) else { return nil }
            // They are in order.
            let count = state.ended.prefix { $0.request < number }.count
            defer { state.ended.removeFirst(count) }
            return (waiting, state.ended.prefix(count).map(\.subscription))
        }
        guard let (waiting, unused) = found else { return }
        for subscription in unused { subscription.free() }
        waiting.handler(
            message.isNoResponders
                ? .failure(NATSError(.noResponders, "nothing answers on '\(waiting.subject)'")) : .success(message))
    }

    func failAll(_ error: NATSError) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.handler)
        }
        for handler in waiting { handler(.failure(error)) }
    }

    /// The server's words are `Permissions Violation for Publish to "SUBJECT"`.
    func failRefused(_ error: NATSError) {
        guard error.kind == .notPermitted else { return }
        let refused = state.withLock { state in
            let found = state.waiting.filter { error.description.containsUTF8("\"\($0.value.subject)\"") }
            for number in found.keys { state.waiting[number] = nil }
            return found.values.map(\.handler)
        }
        for handler in refused { handler(.failure(error)) }
    }
}

/// A request under way. It is no longer waited for when it is cancelled.
package struct NATSRequest: Sendable {
    let number: UInt64
    let requests: NATSRequests

    /// Drops the reply, such as when its time is over.
    ///
    /// - Returns: Whether the handler had not been called; it is not called any more.
    @discardableResult
    package func cancel() -> Bool { requests.remove(number) }
}

extension NATSLink {
    /// Sends a message and calls `handler` once, with the reply or an error, on a thread of libnats; not before it returns.
    /// There is no limit of time: cancel the request when it is over.
    package func request(
        _ subject: String, headers: [HeaderField] = [], _ payload: [UInt8],
        _ handler: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void
    ) throws(NATSError) -> NATSRequest {
        let (number, reply) = requests.add(subject, inbox: settings.inbox, handler)
        do throws(NATSError) {
            try publish(subject, reply: reply, headers: headers, payload)
        } catch {
            requests.remove(number)
            throw error
        }
        return NATSRequest(number: number, requests: requests)
    }

    /// Sends a message and waits for the reply. Blocks; not for a thread of libnats.
    package func request(
        _ subject: String, headers: [HeaderField] = [], _ payload: [UInt8], within limit: Duration
    ) throws(NATSError) -> NATSMessage {
        let arrived = DispatchSemaphore(value: 0)
        let reply = ReplySlot()
        let request = try request(subject, headers: headers, payload) { result in
            reply.value.withLock { $0 = result }
            arrived.signal()
        }
        if arrived.wait(timeout: .now() + .nanoseconds(Int(limit.nanoseconds))) == .timedOut, request.cancel() {
            throw NATSError(.timedOut, "no reply from '\(subject)' within \(DurationText.describe(limit))")
        }
        // A reply that came between the two lines above is on its way.
        if reply.value.withLock({ $0 == nil }) { arrived.wait() }
        guard let result = reply.value.withLock({ $0 }) else { throw NATSError(.failed, "no reply") }
        return try result.get()
    }
}

/// Where a reply waits for the thread that asked.
private final class ReplySlot: Sendable {
    let value = Mutex<Result<NATSMessage, NATSError>?>(nil)
}
