package import ReachLoop
package import ReachKernel
internal import Synchronization

/// Runs clients' kernel queries on background threads. Dumping many links takes milliseconds and a name that does not
/// resolve takes seconds; the engine's thread waits for neither.
package final class QueryPool: Sendable {
    private struct Query: Sendable {
        let user: UInt32
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Query] = []
        var threads = 0
        /// The number of running queries of each user.
        var running: [UInt32: Int] = [:]

        /// The first query whose user is below the limit.
        var nextIndex: Int? {
            waiting.firstIndex { running[$0.user, default: 0] < QueryPool.limitPerUser }
        }
    }

    /// Queries that run at the same time, of all users and of one. The rest wait, at most one for each connection. A
    /// user whose names do not resolve delays no one else.
    private static let threadLimit = 8
    private static let limitPerUser = 2

    private let mailbox: Mailbox
    private let state = Mutex(State())

    /// - Parameter loop: The loop that replies are delivered on.
    package init(on loop: EventLoop) { mailbox = loop.mailbox }

    /// Runs `body` on another thread, and `reply` with its result on the loop's thread.
    package func run<Answer: Sendable>(
        for user: UInt32, _ body: @escaping @Sendable () throws(NetlinkError) -> Answer,
        reply: @escaping (Result<Answer, NetlinkError>) -> Void
    ) {
        let reference = ReplyReference(reply)
        let query = Query(user: user) { [mailbox] in
            let result: Result<Answer, NetlinkError>
            do throws(NetlinkError) { result = .success(try body()) } catch { result = .failure(error) }
            mailbox.post { _ in reference.reply(result) }
        }
        let startsThread = state.withLock { state in
            state.waiting.append(query)
            guard state.threads < Self.threadLimit, state.nextIndex != nil else { return false }
            state.threads += 1
            return true
        }
        if startsThread { BackgroundThread.start(named: "reach-query") { self.work() } }
    }

    private func work() {
        var last: Query?
        while let query = next(after: last) {
            query.work()
            last = query
        }
    }

    private func next(after last: Query?) -> Query? {
        state.withLock { state in
            if let last, let count = state.running[last.user] {
                state.running[last.user] = count > 1 ? count - 1 : nil
            }
            guard let index = state.nextIndex else {
                state.threads -= 1
                return nil
            }
            let query = state.waiting.remove(at: index)
            state.running[query.user, default: 0] += 1
            return query
        }
    }
}

/// Carries a reply closure through other threads. Only the loop's thread calls it.
private struct ReplyReference<Answer>: @unchecked Sendable {
    let reply: (Result<Answer, NetlinkError>) -> Void

    init(_ reply: @escaping (Result<Answer, NetlinkError>) -> Void) { self.reply = reply }
}
