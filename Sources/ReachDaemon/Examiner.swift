package import ReachLoop
package import ReachNetlink
internal import Synchronization

/// Looks at links and explains targets for those who ask, on threads of its own: a dump of many links takes milliseconds,
/// a name that does not resolve seconds, and the engine waits for neither.
package final class Examiner: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var waiting: [Work] = []
        var threads = 0
    }

    /// So many at a time; the rest wait, no more than one for each connection.
    private static let threadLimit = 4

    private let mailbox: Mailbox
    private let state = Mutex(State())

    /// - Parameter loop: Where answers are given.
    package init(on loop: EventLoop) { mailbox = loop.mailbox }

    /// Runs `look` on another thread, and `reply` with what came of it on the loop's.
    package func examine<Answer: Sendable>(
        _ look: @escaping @Sendable () throws(NetlinkError) -> Answer,
        reply: @escaping (Result<Answer, NetlinkError>) -> Void
    ) {
        let door = ReplyDoor(reply)
        let startsThread = state.withLock { state in
            state.waiting.append { [mailbox] in
                let result: Result<Answer, NetlinkError>
                do throws(NetlinkError) { result = .success(try look()) } catch { result = .failure(error) }
                mailbox.post { _ in door.reply(result) }
            }
            guard state.threads < Self.threadLimit else { return false }
            state.threads += 1
            return true
        }
        if startsThread { BackgroundThread.start(named: "reach-examine") { self.work() } }
    }

    private func work() {
        while let work = next() { work() }
    }

    private func next() -> Work? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// Carries an answer's way back through other threads, which never take it: only its own loop does.
private struct ReplyDoor<Answer>: @unchecked Sendable {
    let reply: (Result<Answer, NetlinkError>) -> Void

    init(_ reply: @escaping (Result<Answer, NetlinkError>) -> Void) { self.reply = reply }
}
