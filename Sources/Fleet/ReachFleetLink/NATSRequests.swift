internal import Dispatch
package import ReachCore
internal import ReachLoop
internal import Synchronization

/// The requests of a connection that wait for their replies. One subscription receives all of them.
///
/// libnats' own requests block, and one that the server refuses would wait until its time is over: the refusal comes as
/// an error of the connection, which names the subject.
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
    /// Sends a message and calls `handler` once, with the reply or an error, on a thread of libnats; not before it
    /// returns. There is no limit of time: cancel the request when it is over.
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

extension NATSLink {
    /// The wait for the first answer to a question, before it is asked again.
    private static let firstWait: Duration = .milliseconds(200)
    private static let longestWait: Duration = .seconds(2)
    /// The wait after an answer that says that nobody can answer now.
    private static let pause: Duration = .milliseconds(250)

    /// Asks what may be asked again, since it changes nothing the second time, and takes the first answer to any of the
    /// attempts.
    ///
    /// A cluster answers nothing for some seconds after a server died, and what was asked meanwhile is lost. Later,
    /// too, it may give a question to the dead server, and the next to another. Each attempt waits for twice as long as
    /// the one before, up to 2 s: a busy server takes seconds, and its answer to the first attempt counts as well.
    /// Blocks.
    ///
    /// - Parameters:
    ///   - what: What it is about, for people: "stream X".
    ///   - patience: How long it asks.
    ///   - question: A subject and a payload, for each attempt.
    ///   - read: Reads an answer. After an error that may pass the question is asked again.
    package func ask<Answer>(
        about what: String, within patience: Duration, _ question: () -> (subject: String, payload: [UInt8]),
        _ read: (NATSMessage) throws(NATSError) -> Answer
    ) throws(NATSError) -> Answer {
        let replies = ReplyQueue()
        var open: [NATSRequest] = []
        defer { for request in open { request.cancel() } }
        let end = SystemClock.boot + patience
        var (wait, next) = (Self.firstWait, SystemClock.boot)
        var failure = NATSError(
            .timedOut,
            "\(what): no server answered within \(DurationText.describe(patience)); of a cluster's servers more than half must run"
        )
        while true {
            if SystemClock.boot >= next {
                let (subject, payload) = question()
                open.append(try request(subject, payload) { replies.add($0) })
                next = SystemClock.boot + wait
                wait = min(wait * 2, Self.longestWait)
            }
            if let result = replies.next(before: min(next, end)) {
                do throws(NATSError) {
                    return try read(try result.get())
                } catch {
                    guard error.mayPass else { throw error }
                    failure = error
                    next = min(next, SystemClock.boot + Self.pause)
                }
            }
            guard SystemClock.boot < end else { throw failure }
        }
    }
}

/// Replies that wait for the thread that asked more than once.
private final class ReplyQueue: Sendable {
    private let replies = Mutex<[Result<NATSMessage, NATSError>]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func add(_ reply: Result<NATSMessage, NATSError>) {
        replies.withLock { $0.append(reply) }
        arrived.signal()
    }

    /// - Returns: `nil` if none came in time.
    func next(before end: BootTime) -> Result<NATSMessage, NATSError>? {
        let limit = max(0, end.nanoseconds - SystemClock.boot.nanoseconds)
        guard arrived.wait(timeout: .now() + .nanoseconds(Int(limit))) == .success else { return nil }
        return replies.withLock { $0.removeFirst() }
    }
}
