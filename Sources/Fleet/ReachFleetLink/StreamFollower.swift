internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Reads a stream and what is appended to it, across reconnections and restarts of the engine, on a thread of its own.
///
/// The handler runs on that thread, so a slow handler delays the reading and nothing else. Link to the server with
/// ``NATSSettings/Reconnection/always(wait:jitter:)``.
package final class StreamFollower: Sendable {
    package enum Event: Sendable {
        case message(StoredMessage)
        /// Everything that the stream held at the start was handed over. Comes once after each begin.
        case caughtUp
        /// The stream was made again or holds less than was read: it is read from its first message again.
        case restarted
        /// It cannot be read now; it tries again.
        case interrupted(NATSError)
    }

    /// A pull request that a restart of the engine swallowed is repeated after this.
    private static let patience: Duration = .seconds(5)

    private let isStopped = Atomic(false)
    private let link: NATSLink
    private let stream: String
    private let filter: String
    private let begin: StreamStart

    /// - Parameter begin: Where to begin. After an interruption it continues with the next message. If the stream was
    ///   made again, it begins with the first. Of `lastOfEachSubject` it reads the last messages again each time: that
    ///   is cheap, and leases in memory may have begun again and already be as many as before.
    package init(_ link: NATSLink, stream: String, filter: String, from begin: StreamStart) {
        self.link = link
        self.stream = stream
        self.filter = filter
        self.begin = begin
    }

    package func start(_ handler: @escaping @Sendable (Event) -> Void) {
        BackgroundThread.start(named: "reach-follow") { self.run(handler) }
    }

    /// The handler is called at most once after this.
    package func stop() { isStopped.store(true, ordering: .relaxed) }

    private var runs: Bool { !isStopped.load(ordering: .relaxed) }

    private func run(_ handler: (Event) -> Void) {
        var next: StreamStart?
        var wait = Backoff(first: .milliseconds(200), longest: .seconds(5))
        while runs {
            do throws(NATSError) {
                var start = try place(next)
                if start == nil {
                    handler(.restarted)
                    start = begin == .new ? .first : begin
                }
                let reader = try StreamReader(link, stream: stream, filter: filter, from: start ?? begin)
                wait.reset()
                try follow(reader, &next, start ?? begin, handler)
            } catch {
                guard runs else { return }
                handler(.interrupted(error))
                pause(wait.wait())
            }
        }
    }

    /// Where to begin.
    ///
    /// - Returns: `nil` if the stream has less than was read.
    private func place(_ next: StreamStart?) throws(NATSError) -> StreamStart? {
        guard begin != .lastOfEachSubject, next != nil || begin == .new else { return begin }
        guard let info = try JetStream(link).stream(stream) else {
            throw NATSError(.notFound, "there is no stream \(stream)")
        }
        let last = info["state"]?["last_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
        guard case .sequence(let wanted)? = next else { return .sequence(last + 1) }
        return wanted <= last + 1 ? next : nil
    }

    private func follow(
        _ reader: StreamReader, _ next: inout StreamStart?, _ start: StreamStart, _ handler: (Event) -> Void
    ) throws(NATSError) {
        // What is read next if nothing comes before the connection ends.
        if case .sequence = start { next = start }
        var isBehind = true
        if reader.pending == 0 {
            isBehind = false
            handler(.caughtUp)
        }
        while runs {
            guard let message = try reader.next(within: Self.patience) else { continue }
            // A server may send any number.
            next = .sequence(max(message.sequence, message.sequence &+ 1))
            handler(.message(message))
            if isBehind, reader.pending == 0 {
                isBehind = false
                handler(.caughtUp)
            }
        }
    }

    private func pause(_ duration: Duration) {
        let end = SystemClock.boot + duration
        while runs, SystemClock.boot < end { usleep(50_000) }
    }
}
