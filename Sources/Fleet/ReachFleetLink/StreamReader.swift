internal import Glibc
package import ReachCore

/// Where in a stream a reader begins.
package enum StreamStart: Hashable, Sendable {
    case first
    /// The last message of each subject, then what follows.
    case lastOfEachSubject
    /// What is stored from now on.
    case new
    case sequence(UInt64)
    case time(Timestamp)
}

/// Reads a stream in order, in batches that it asks for: a reader that is slow delays only itself.
///
/// Blocks; one thread uses it. The server keeps a consumer for it in memory, and removes it when no one asks for a
/// minute.
package final class StreamReader {
    /// Messages of a batch: 256 of the largest events are 32 MiB, of states 4 MiB at most.
    private static let batch = 256

    private let link: NATSLink
    private let stream: String
    private let consumer: String
    private let waits: Bool
    private let replies: NATSQueue
    /// Messages that were asked for and have not come yet.
    private var outstanding = 0
    /// Messages that may still be asked for.
    private var allowance: Int
    /// Messages that the stream held for this reader after the one that was read last.
    package private(set) var pending: UInt64

    /// - Parameters:
    ///   - filter: The subjects to read; wildcards are allowed. `nil` for all: a server compares each message with a
    ///     filter that fits all of them, too.
    ///   - waits: Whether ``next(within:)`` waits for messages that are not stored yet.
    ///   - most: The most messages to read.
    /// - Throws: ``NATSError`` of kind `notFound` if there is no such stream.
    package init(
        _ link: NATSLink, stream: String, filter: String?, from start: StreamStart, waits: Bool = true,
        most: Int = .max, limit: Duration = .seconds(10)
    ) throws(NATSError) {
        self.link = link
        self.stream = stream
        self.waits = waits
        allowance = most
        replies = try NATSQueue("\(link.settings.inbox).\(SubjectToken.random())", on: link)
        // A cluster may give a consumer to a server that has died, and never say so: each attempt makes another.
        var names: [String] = []
        let made: (name: String, pending: UInt64) = try link.ask(
            about: "stream \(stream)", within: limit * 3
        ) {
            let name = "reach-\(SubjectToken.random())"
            names.append(name)
            return (
                "$JS.API.CONSUMER.CREATE.\(stream).\(name)" + (filter.map { ".\($0)" } ?? ""),
                ConsumerRequest(stream: stream, consumer: name, filter: filter, start: start).json
            )
        } _: { reply throws(NATSError) in
            let info = try JetStreamReply.object(reply)
            guard let name = info["name"]?.string else {
                throw NATSError(.failed, "a reply of JetStream without the consumer's name")
            }
            return (name, info["num_pending"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0)
        }
        (consumer, pending) = made
        for name in names where name != consumer { Self.delete(name, of: stream, link) }
    }

    deinit { Self.delete(consumer, of: stream, link) }

    /// Without waiting: the server removes a forgotten consumer by itself.
    private static func delete(_ consumer: String, of stream: String, _ link: NATSLink) {
        try? link.publish("$JS.API.CONSUMER.DELETE.\(stream).\(consumer)", [])
    }

    /// Waits for the next message.
    ///
    /// - Returns: `nil` if none came in time, or as many were read as this reader may.
    /// - Throws: ``NATSError`` when the consumer is gone or the connection ended: make another reader that begins after
    ///   the last message.
    package func next(within limit: Duration) throws(NATSError) -> StoredMessage? {
        if outstanding <= 0 { try ask(Self.batch, within: limit) }
        guard outstanding > 0 else { return nil }
        while let delivery = try replies.next(within: limit) {
            switch delivery {
            case .stored(let message, let pending):
                (self.pending, outstanding) = (pending, outstanding - 1)
                try askAhead(within: limit)
                return message
            case .status(let status, let message):
                outstanding = 0
                guard try goesOn(after: status, message, within: limit) else { return nil }
            case .noResponders:
                try skip()
                guard pending > 0, outstanding > 0 else { return nil }
            case .strange: throw NATSError(.failed, "stream \(stream): a message without its place")
            }
        }
        // The server answers 408 when the time is over. It may be late, but not by a second.
        switch try replies.next(within: .seconds(1)) {
        case .stored(let message, let pending)?:
            (self.pending, outstanding) = (pending, outstanding - 1)
            return message
        case .status?:
            outstanding = 0
            return nil
        case .noResponders?, .strange?, nil: throw NATSError(.disconnected, "stream \(stream): no answer to the reader")
        }
    }

    /// Counts a stored message that libnats keeps to itself. Where none is awaited, or nothing follows that was
    /// announced, it was the server's word.
    private func skip() throws(NATSError) {
        guard pending > 0 else { throw NATSError(.noResponders, "stream \(stream): the reader's consumer is gone") }
        (pending, outstanding) = (pending - 1, outstanding - 1)
    }

    /// - Returns: `false` if there are no more messages.
    private func goesOn(after status: Int, _ message: NATSMessage, within limit: Duration) throws(NATSError) -> Bool {
        switch status {
        case 404, 408: return false
        case 409 where message.header("Description")?.containsUTF8("Batch") == true:
            try ask(Self.batch, within: limit)
            return true
        case 503: throw NATSError(.noResponders, "stream \(stream): the reader's consumer is gone")
        default:
            let words = message.header("Description") ?? "status \(status)"
            throw NATSError(.disconnected, "stream \(stream): \(words)")
        }
    }

    /// While the stream holds more, the next batch is on its way before the last one is read: server and reader work at
    /// the same time.
    private func askAhead(within limit: Duration) throws(NATSError) {
        let beyond = Int(clamping: pending) - outstanding
        guard outstanding <= Self.batch / 2, beyond > 0 else { return }
        try ask(min(beyond, Self.batch), within: limit)
    }

    private func ask(_ count: Int, within limit: Duration) throws(NATSError) {
        let count = min(count, allowance)
        guard count > 0 else { return }
        allowance -= count
        var writer = JSONWriter()
        writer.object {
            $0.field("batch", Int64(count))
            // Without waiting the server answers 404 as soon as it has no more.
            if waits { $0.field("expires", max(1_000_000, limit.nanoseconds)) } else { $0.field("no_wait", true) }
        }
        try link.publish("$JS.API.CONSUMER.MSG.NEXT.\(stream).\(consumer)", reply: replies.subject, writer.bytes)
        outstanding = max(outstanding, 0) + count
    }
}

extension JetStream {
    /// Reads what a stream holds now, in order, to its end.
    ///
    /// - Throws: What `body` throws, or ``NATSError`` when the stream cannot be read; of kind `timedOut` when a message
    ///   that the stream announced does not come.
    package func read(
        _ stream: String, filter: String?, from start: StreamStart,
        _ body: (StoredMessage) throws(NATSError) -> Void
    ) throws(NATSError) {
        var start = start
        var failures: UInt32 = 0
        // A message that is replaced meanwhile may stay announced, and never comes. What replaced it has a higher
        // number. And the server that had the reader's consumer may die.
        while true {
            let begin = start
            var faultOfBody: NATSError?
            let reader = try StreamReader(link, stream: stream, filter: filter, from: start, waits: false, limit: limit)
            do throws(NATSError) {
                while reader.pending > 0, let message = try reader.next(within: Self.patience) {
                    start = .sequence(message.sequence + 1)
                    failures = 0
                    do throws(NATSError) { try body(message) } catch {
                        faultOfBody = error
                        throw error
                    }
                }
                if reader.pending == 0 {
                    // What replaced one of a subject's messages meanwhile may lie behind the end that was announced.
                    guard begin == .lastOfEachSubject || begin == .first, start != begin else { return }
                    continue
                }
                failures += 1
                guard failures < 6 else {
                    throw NATSError(.failed, "stream \(stream): \(reader.pending) messages did not come")
                }
            } catch {
                guard faultOfBody == nil, failures < 6, error.mayPass || error.kind == .disconnected else {
                    throw error
                }
                failures += 1
            }
            usleep(20_000 << failures)
        }
    }

    /// A reader whose server is silent for longer is made again.
    private static let patience: Duration = .seconds(4)
}

/// The request that makes a reader's consumer.
private struct ConsumerRequest {
    let stream: String
    let consumer: String
    let filter: String?
    let start: StreamStart

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("stream_name", stream)
            $0.field(
                "config",
                object: {
                    $0.field("name", consumer)
                    if let filter { $0.field("filter_subject", filter) }
                    $0.field("ack_policy", "none")
                    $0.field("mem_storage", true)
                    $0.field("num_replicas", 1)
                    $0.field("inactive_threshold", 60_000_000_000)
                    switch start {
                    case .first: $0.field("deliver_policy", "all")
                    case .lastOfEachSubject: $0.field("deliver_policy", "last_per_subject")
                    case .new: $0.field("deliver_policy", "new")
                    case .sequence(let number):
                        $0.field("deliver_policy", "by_start_sequence")
                        $0.field("opt_start_seq", Int64(clamping: number))
                    case .time(let time):
                        $0.field("deliver_policy", "by_start_time")
                        $0.field("opt_start_time", time)
                    }
                })
        }
        return writer.bytes
    }
}
