package import ReachCore

/// Where in a stream a reader begins.
package enum CopyStart: Hashable, Sendable {
    case first
    case sequence(UInt64)
    case time(Timestamp)
}

/// A stream of the engine.
package protocol CopiedStream {
    associatedtype Message: CachedMessage
    associatedtype Fault: Error

    /// Hands over the messages from a place on, with their numbers and times.
    func read(from start: CopyStart, _ body: (UInt64, Timestamp, Message) -> Void) throws(Fault)
}

/// What a reader keeps of a stream, so that it next reads only what is new: what it took from each message, in order.
///
/// Reading with a copy hands over the same messages as reading without: nothing is kept that was concluded from several
/// messages, or for a moment. A copy that may differ from what the stream holds is thrown away.
package struct StreamCopy<Message: CachedMessage>: Sendable {
    /// Whether the stream is a bucket, which keeps one message of each key.
    private let isBucket: Bool
    private var created = ""
    private var deleted: UInt64 = 0
    /// The first message that the stream had. One that was restored from a backup may have older ones again.
    private var lowest: UInt64 = 0
    /// It has all messages from this number on, and all that were stored from this time on.
    private var first = UInt64.max
    private var since = Timestamp(nanosecondsSince1970: .max)
    /// The last message that was read.
    private var last: UInt64 = 0
    private var list = MessageList<Message>()
    /// Whether so much is new that the copy is worth writing again.
    package private(set) var isWorthWriting = false

    package init(isBucket: Bool) { self.isBucket = isBucket }

    /// Reads what the stream holds from `start` on.
    ///
    /// - Parameters:
    ///   - mark: What the stream had, as the engine said before this.
    /// - Returns: `false` if the copy is damaged: then not all was handed over.
    package mutating func read<Stream: CopiedStream>(
        _ stream: Stream, from start: CopyStart, _ mark: StreamMark, _ body: (UInt64, Timestamp, Message) -> Void
    ) throws(Stream.Fault) -> Bool where Stream.Message == Message {
        if mayContinue(mark, start), let news = try news(stream, mark) {
            return (try? replay(from: start, mark, news, body)) != nil
        }
        beginAgain(mark, start)
        try stream.read(from: start) { number, time, message in
            note(number, time, start)
            list.append(number, time, message)
            body(number, time, message)
        }
        return true
    }

    // MARK: - From nothing

    private mutating func beginAgain(_ mark: StreamMark, _ start: CopyStart) {
        self = StreamCopy(isBucket: isBucket)
        (created, deleted, lowest, isWorthWriting) = (mark.created, mark.deleted, mark.first, true)
        switch start {
        case .first: (first, since) = (0, Timestamp(nanosecondsSince1970: .min))
        case .sequence(let number): first = number
        case .time(let time): since = time
        }
    }

    private mutating func note(_ number: UInt64, _ time: Timestamp, _ start: CopyStart) {
        if list.count == 0 {
            if case .time = start { first = number }
            // One that was stored before may have the same time.
            if case .sequence = start { since = time + .nanoseconds(1) }
        }
        last = number
    }

    // MARK: - Continuing

    private func mayContinue(_ mark: StreamMark, _ start: CopyStart) -> Bool {
        guard list.count > 0, created == mark.created, mark.first <= last, last <= mark.last else { return false }
        guard isBucket || (deleted == mark.deleted && lowest <= mark.first) else { return false }
        switch start {
        case .first: return first == 0
        case .sequence(let number): return first <= number
        case .time(let time): return since <= time
        }
    }

    /// What was stored behind the copy.
    private struct News {
        var list = MessageList<Message>()
        var keys: Set<String> = []
    }

    /// - Returns: `nil` unless the stream has what the copy has, as far as its counts and the last message tell.
    private mutating func news<Stream: CopiedStream>(
        _ stream: Stream, _ mark: StreamMark
    ) throws(Stream.Fault) -> News? where Stream.Message == Message {
        let (end, tail) = (last, tail(from: mark.first))
        var news = News()
        // What came after the mark does not count for what the stream had then.
        var counted: Set<String> = []
        var (isSame, matched) = (true, 0)
        try stream.read(from: .sequence(tail.keys.min() ?? end)) { number, time, message in
            guard number > end else {
                if tail[number] == time { matched += 1 } else { isSame = false }
                return
            }
            last = number
            news.list.append(number, time, message)
            guard isBucket else { return }
            news.keys.insert(message.key)
            if number <= mark.last { counted.insert(message.key) }
        }
        guard isSame else { return nil }
        // Entries of a bucket may have been replaced.
        guard isBucket else { return matched == tail.count ? news : nil }
        var added = counted.count
        if added > 0 {
            let keys = counted
            guard
                let old = try? list.filtered({ _, reader throws(CacheFault) in
                    keys.contains(try MessageList<Message>.key(&reader))
                }).count
            else { return nil }
            added -= old
        }
        return UInt64(list.count + added) == mark.messages ? news : nil
    }

    /// The last messages, by their numbers: a stream that was restored from a backup has others there.
    private func tail(from first: UInt64) -> [UInt64: Timestamp] {
        var tail: [(UInt64, Timestamp)] = []
        try? list.forEach { _, number, time, _ in
            guard number >= first else { return }
            if tail.count >= 2 * Self.compared { tail.removeFirst(Self.compared) }
            tail.append((number, time))
        }
        return Dictionary(tail.suffix(Self.compared)) { first, _ in first }
    }

    /// So many of the last messages are compared.
    private static var compared: Int { 64 }

    private mutating func replay(
        from start: CopyStart, _ mark: StreamMark, _ news: News, _ body: (UInt64, Timestamp, Message) -> Void
    ) throws(CacheFault) {
        let before = list.count
        if !news.keys.isEmpty {
            list = try list.filtered { _, reader throws(CacheFault) in
                !news.keys.contains(try MessageList<Message>.key(&reader))
            }
        } else if mark.first > first {
            list = try list.filtered { number, _ in number >= mark.first }
        }
        var begins = start == .first
        for part in [list, news.list] {
            try part.forEach { _, number, time, reader throws(CacheFault) in
                switch start {
                case .sequence(let wanted) where number >= wanted: begins = true
                case .time(let wanted) where time >= wanted: begins = true
                default: break
                }
                guard begins else { return }
                var message = Message()
                try message.code(&reader)
                body(number, time, message)
            }
        }
        // A file of 100,000 hosts is large, and not worth writing for a few states.
        isWorthWriting = (news.list.count + before - list.count) * 20 > before
        guard isWorthWriting else { return }
        (first, lowest) = (max(first, mark.first), mark.first)
        try news.list.forEach { _, number, time, reader throws(CacheFault) in
            var message = Message()
            try message.code(&reader)
            list.append(number, time, message)
        }
    }
}

extension StreamCopy {
    /// Of the bytes. Another version of reach is another format, too.
    private static var format: String { "reach-fleet 2 \(ProjectVersion.number)" }
    /// The most bytes that are read or written.
    package static var sizeLimit: Int { 128 << 20 }

    /// The bytes of its file; `nil` if they are too many.
    ///
    /// - Parameter stream: Its name.
    package func bytes(of stream: String) -> [UInt8]? {
        var file = CacheCoder()
        var head = self
        try? head.codeHead(&file, stream)
        list.write(to: &file)
        guard file.bytes.count < Self.sizeLimit else { return nil }
        return file.bytes + Self.checksum(file.bytes[...])
    }

    /// - Returns: `nil` if the bytes are not what this version wrote of the stream.
    package init?(_ bytes: [UInt8], of stream: String, isBucket: Bool) {
        self.init(isBucket: isBucket)
        guard bytes.count > 4, Self.checksum(bytes.dropLast(4)) == Array(bytes.suffix(4)) else { return nil }
        var file = CacheCoder(reading: bytes)
        do throws(CacheFault) {
            try codeHead(&file, stream)
            list = try MessageList(&file)
        } catch {
            return nil
        }
        guard file.position == bytes.count - 4 else { return nil }
    }

    private mutating func codeHead(_ file: inout CacheCoder, _ stream: String) throws(CacheFault) {
        var (format, name) = (Self.format, stream)
        try file.code(whole: &format)
        try file.code(whole: &name)
        guard format == Self.format, name == stream else { throw CacheFault() }
        try file.code(whole: &created)
        try file.code(&deleted)
        try file.code(&lowest)
        try file.code(&first)
        try file.code(&since)
        try file.code(&last)
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var sum = CyclicRedundancy()
        bytes.withUnsafeBytes { sum.add($0) }
        return (0..<4).map { UInt8(truncatingIfNeeded: sum.value >> (8 * UInt32($0))) }
    }
}
