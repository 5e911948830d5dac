internal import ReachCore

/// Messages of a stream in their order, as bytes: their numbers and times, and what a reader took from them.
struct MessageList<Message: CachedMessage>: Sendable {
    private(set) var count = 0
    private var coder = CacheCoder()

    mutating func append(_ number: UInt64, _ time: Timestamp, _ message: Message) {
        var (number, time, message) = (number, time, message)
        let begin = coder.beginRecord()
        // Writing has no faults.
        try? coder.code(&number)
        try? coder.code(&time)
        try? message.code(&coder)
        coder.endRecord(begin)
        count += 1
    }

    /// Hands over each message: its place among the bytes, its number and time, and what reads it.
    func forEach(
        _ body: (Range<Int>, UInt64, Timestamp, inout CacheCoder) throws(CacheFault) -> Void
    ) throws(CacheFault) {
        var reader = CacheCoder(reading: coder.bytes, texts: coder.texts)
        while !reader.isAtEnd {
            let begin = reader.position
            let end = try reader.endOfRecord()
            var (number, time) = (UInt64(0), Timestamp(nanosecondsSince1970: 0))
            try reader.code(&number)
            try reader.code(&time)
            try body(begin..<end, number, time, &reader)
            reader.position = end
        }
    }

    /// Those that fulfil a condition.
    func filtered(
        _ isKept: (UInt64, inout CacheCoder) throws(CacheFault) -> Bool
    ) throws(CacheFault) -> MessageList {
        var list = MessageList()
        list.coder.texts = coder.texts
        try forEach { place, number, _, reader throws(CacheFault) in
            guard try isKept(number, &reader) else { return }
            list.coder.append(coder.bytes[place])
            list.count += 1
        }
        return list
    }

    /// The key of the message that is read next.
    static func key(_ reader: inout CacheCoder) throws(CacheFault) -> String {
        var key = ""
        try reader.code(&key)
        return key
    }

    // MARK: - Bytes

    func write(to file: inout CacheCoder) {
        var (texts, count, length) = (coder.texts.list, count, coder.bytes.count)
        try? file.code(&texts, "") { file, text throws(CacheFault) in try file.code(whole: &text) }
        try? file.code(count: &count)
        try? file.code(count: &length)
        file.append(coder.bytes[...])
    }

    init() {}

    init(_ file: inout CacheCoder) throws(CacheFault) {
        var (texts, length) = ([String](), 0)
        try file.code(&texts, "") { file, text throws(CacheFault) in try file.code(whole: &text) }
        try file.code(count: &count)
        try file.code(count: &length)
        coder.append(try file.take(length))
        coder.texts = CachedTexts(texts)
    }
}
