internal import ReachCore

/// That bytes of a cache are not what this program wrote.
package struct CacheFault: Error, Hashable {}

/// The texts of a cache, each once: hosts, keys and words come again and again.
struct CachedTexts: Sendable {
    private(set) var list: [String] = []
    private var numbers: [String: Int] = [:]

    init(_ list: [String] = []) { self.list = list }

    /// The place of a text, which is added if it is new.
    mutating func number(of text: String) -> Int {
        if numbers.isEmpty, !list.isEmpty {
            numbers = Dictionary(zip(list, list.indices)) { first, _ in first }
        }
        if let number = numbers[text] { return number }
        numbers[text] = list.count
        list.append(text)
        return list.count - 1
    }
}

/// Writes values as bytes, or reads them: one function of a value does both, so that the two agree.
///
/// Small numbers are short; texts are places in a table.
package struct CacheCoder: Sendable {
    /// Whether values are read and not written.
    let reads: Bool
    private(set) var bytes: [UInt8]
    var texts: CachedTexts
    /// Where it reads on.
    var position = 0

    /// For writing.
    init(texts: CachedTexts = CachedTexts()) { (reads, bytes, self.texts) = (false, [], texts) }

    init(reading bytes: [UInt8], texts: CachedTexts = CachedTexts()) {
        (reads, self.bytes, self.texts) = (true, bytes, texts)
    }

    var isAtEnd: Bool { position == bytes.count }

    // MARK: - Parts

    /// Appends what another has written.
    mutating func append(_ other: ArraySlice<UInt8>) { bytes.append(contentsOf: other) }

    /// Reads bytes as they are.
    mutating func take(_ count: Int) throws(CacheFault) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw CacheFault() }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// A record has its length before it, in four bytes, so that a reader can pass it by.
    ///
    /// - Returns: What ``endRecord(_:)`` wants.
    mutating func beginRecord() -> Int {
        bytes.append(contentsOf: [0, 0, 0, 0])
        return bytes.count
    }

    mutating func endRecord(_ begin: Int) {
        let length = bytes.count - begin
        for index in 0..<4 { bytes[begin - 4 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    /// - Returns: Where the record ends at which the reader stands.
    mutating func endOfRecord() throws(CacheFault) -> Int {
        let length = try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytes.count - position else { throw CacheFault() }
        return position + length
    }

    // MARK: - Numbers

    private mutating func write(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func read() throws(CacheFault) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < bytes.count else { throw CacheFault() }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw CacheFault()
    }

    mutating func code(_ number: inout UInt64) throws(CacheFault) {
        if reads { number = try read() } else { write(number) }
    }

    mutating func code(_ number: inout Int64) throws(CacheFault) {
        guard reads else { return write(UInt64(bitPattern: number << 1 ^ number >> 63)) }
        let value = try read()
        number = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A length of something of which each part takes a byte at least.
    mutating func code(count: inout Int) throws(CacheFault) {
        var number = UInt64(count)
        try code(&number)
        guard !reads || number <= UInt64(bytes.count - position) else { throw CacheFault() }
        count = Int(number)
    }

    mutating func code(_ flag: inout Bool) throws(CacheFault) {
        var number: UInt64 = flag ? 1 : 0
        try code(&number)
        guard number < 2 else { throw CacheFault() }
        flag = number == 1
    }

    // MARK: - Times, texts and words

    mutating func code(_ time: inout Timestamp) throws(CacheFault) {
        var nanoseconds = time.nanosecondsSince1970
        try code(&nanoseconds)
        if reads { time = Timestamp(nanosecondsSince1970: nanoseconds) }
    }

    mutating func code(_ duration: inout Duration) throws(CacheFault) {
        var nanoseconds = duration.nanoseconds
        try code(&nanoseconds)
        if reads { duration = .nanoseconds(nanoseconds) }
    }

    mutating func code(_ instant: inout Instant) throws(CacheFault) {
        var (wall, boot) = (instant.wall, instant.boot.nanoseconds)
        try code(&wall)
        try code(&boot)
        if reads { instant = Instant(wall: wall, boot: BootTime(nanoseconds: boot)) }
    }

    mutating func code(_ text: inout String) throws(CacheFault) {
        guard reads else { return write(UInt64(texts.number(of: text))) }
        guard let place = Int(exactly: try read()), place < texts.list.count else { throw CacheFault() }
        text = texts.list[place]
    }

    /// Texts themselves, and not their places in the table.
    mutating func code(whole text: inout String) throws(CacheFault) {
        var count = text.utf8.count
        try code(count: &count)
        guard reads else { return bytes.append(contentsOf: text.utf8) }
        text = String(decoding: bytes[position..<position + count], as: UTF8.self)
        position += count
    }

    mutating func code<Word: RawRepresentable>(_ word: inout Word) throws(CacheFault) where Word.RawValue == String {
        var text = reads ? "" : word.rawValue
        try code(&text)
        guard reads else { return }
        guard let read = Word(rawValue: text) else { throw CacheFault() }
        word = read
    }

    mutating func code(_ address: inout IPAddress) throws(CacheFault) {
        let own = address.bytes
        var count = own.count
        try code(count: &count)
        guard reads else { return bytes.append(contentsOf: own) }
        guard let read = IPAddress(bytes: bytes[position..<position + count]) else { throw CacheFault() }
        (address, position) = (read, position + count)
    }

    // MARK: - Several

    /// - Parameter blank: Any value, which is overwritten.
    mutating func code<Value>(
        _ value: inout Value?, _ blank: @autoclosure () -> Value,
        _ body: (inout CacheCoder, inout Value) throws(CacheFault) -> Void
    ) throws(CacheFault) {
        var isThere = value != nil
        try code(&isThere)
        guard isThere else { return value = nil }
        var found = value ?? blank()
        try body(&self, &found)
        value = found
    }

    mutating func code<Value>(
        _ list: inout [Value], _ blank: @autoclosure () -> Value,
        _ body: (inout CacheCoder, inout Value) throws(CacheFault) -> Void
    ) throws(CacheFault) {
        var count = list.count
        try code(count: &count)
        if reads { list.reserveCapacity(count) }
        for index in 0..<count {
            if reads { list.append(blank()) }
            try body(&self, &list[index])
        }
    }

    mutating func code(_ text: inout String?) throws(CacheFault) {
        try code(&text, "") { coder, text throws(CacheFault) in try coder.code(&text) }
    }

    mutating func code(_ time: inout Timestamp?) throws(CacheFault) {
        try code(&time, Timestamp(nanosecondsSince1970: 0)) { coder, time throws(CacheFault) in try coder.code(&time) }
    }

    mutating func code(_ address: inout IPAddress?) throws(CacheFault) {
        try code(&address, IPAddress(ipv4: 0)) { coder, address throws(CacheFault) in try coder.code(&address) }
    }

    mutating func code<Word: RawRepresentable>(
        _ word: inout Word?, _ blank: Word
    ) throws(CacheFault) where Word.RawValue == String {
        try code(&word, blank) { coder, word throws(CacheFault) in try coder.code(&word) }
    }

    mutating func code(_ texts: inout [String]) throws(CacheFault) {
        try code(&texts, "") { coder, text throws(CacheFault) in try coder.code(&text) }
    }

    mutating func code(_ texts: inout [String: String]) throws(CacheFault) {
        var pairs = texts.map { ($0.key, $0.value) }
        try code(&pairs, ("", "")) { coder, pair throws(CacheFault) in
            try coder.code(&pair.0)
            try coder.code(&pair.1)
        }
        if reads { texts = Dictionary(pairs) { first, _ in first } }
    }
}
