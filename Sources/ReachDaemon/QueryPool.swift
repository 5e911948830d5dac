package import ReachLoop
package import ReachKernel
internal import Synchronization

/// Looks at links and explains targets for those who ask, on threads of its own: a dump of many links takes milliseconds,
/// a name that does not resolve seconds, and the engine waits for neither.
package final class QueryPool: Sendable {
    private struct Question: Sendable {
        let user: UInt32
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Question] = []
        var threads = 0
        /// Questions that are looked at now, by user.
        var running: [UInt32: Int] = [:]

        /// The first that may be looked at now.
        var nextIndex: Int? {
            waiting.firstIndex { running[$0.user, default: 0] < QueryPool.limitPerUser }
        }
    }

    /// So many questions at a time, and so many of one user; the rest wait, no more than one for each connection. Whoever
    /// asks for names that do not resolve holds up nobody else.
    private static let threadLimit = 8
    private static let limitPerUser = 2

    private let mailbox: Mailbox
    private let state = Mutex(State())

    /// - Parameter loop: Where answers are given.
    package init(on loop: EventLoop) { mailbox = loop.mailbox }

    /// Runs `look` on another thread, and `reply` with what came of it on the loop's.
    package func examine<Answer: Sendable>(
        for user: UInt32, _ look: @escaping @Sendable () throws(NetlinkError) -> Answer,
        reply: @escaping (Result<Answer, NetlinkError>) -> Void
    ) {
        let door = ReplyReference(reply)
        let question = Question(user: user) { [mailbox] in
            let result: Result<Answer, NetlinkError>
            do throws(NetlinkError) { result = .success(try look()) } catch { result = .failure(error) }
            mailbox.post { _ in door.reply(result) }
        }
        let startsThread = state.withLock { state in
            state.waiting.append(question)
            guard state.threads < Self.threadLimit, state.nextIndex != nil else { return false }
            state.threads += 1
            return true
        }
        if startsThread { BackgroundThread.start(named: "reach-examine") { self.work() } }
    }

    private func work() {
        var last: Question?
        while let question = next(after: last) {
            question.work()
            last = question
        }
    }

    private func next(after last: Question?) -> Question? {
        state.withLock { state in
            if let last, let count = state.running[last.user] {
                state.running[last.user] = count > 1 ? count - 1 : nil
            }
            guard let index = state.nextIndex else {
                state.threads -= 1
                return nil
            }
            let question = state.waiting.remove(at: index)
            state.running[question.user, default: 0] += 1
            return question
        }
    }
}

/// Carries an answer's way back through other threads, which never take it: only its own loop does.
private struct ReplyReference<Answer>: @unchecked Sendable {
    let reply: (Result<Answer, NetlinkError>) -> Void

    init(_ reply: @escaping (Result<Answer, NetlinkError>) -> Void) { self.reply = reply }
}
