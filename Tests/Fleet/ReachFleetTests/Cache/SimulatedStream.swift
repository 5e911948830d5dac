import ReachCore
import ReachFleet

/// A stream as a server holds it.
struct SimulatedStream<Message: CachedMessage>: CopiedStream {
    let isBucket: Bool
    private var messages: [(number: UInt64, time: Timestamp, message: Message)] = []
    private var made = 1
    private var last: UInt64 = 0
    private var deleted: UInt64 = 0

    init(isBucket: Bool = false) { self.isBucket = isBucket }

    mutating func append(_ message: Message, at time: Timestamp) {
        last += 1
        // A bucket keeps the newest entry of each key.
        if isBucket { messages.removeAll { $0.message.key == message.key } }
        messages.append((last, time, message))
    }

    /// Old messages are over.
    mutating func expire(before time: Timestamp) { messages.removeAll { $0.time < time } }

    /// Somebody deletes one from the middle.
    mutating func delete(_ place: Int) {
        guard place < messages.count - 1, place > 0 || isBucket else { return }
        messages.remove(at: place)
        deleted += 1
    }

    mutating func makeAgain() {
        (messages, last, deleted) = ([], 0, 0)
        made += 1
    }

    var count: Int { messages.count }

    var mark: StreamMark {
        StreamMark(
            created: "\(made)", first: messages.first?.number ?? last + 1, last: last, messages: UInt64(messages.count),
            deleted: deleted)
    }

    func read(from start: CopyStart, _ body: (UInt64, Timestamp, Message) -> Void) throws(Never) {
        let begin: Int?
        switch start {
        case .first: begin = 0
        case .sequence(let number): begin = messages.firstIndex { $0.number >= number }
        case .time(let time): begin = messages.firstIndex { $0.time >= time }
        }
        for (number, time, message) in messages[(begin ?? messages.count)...] { body(number, time, message) }
    }
}
