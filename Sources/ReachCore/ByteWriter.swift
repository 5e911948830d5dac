/// Bytes that grow at their end, for text that is written on the way from a notice to its line.
///
/// It does what an array does, at a third of the instructions: an array asks at every append whether it has a second
/// owner, and a line is some hundred appends. Its memory is its own, and every append makes sure of the room it takes.
package struct ByteWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int) {
        self.capacity = max(capacity, 64)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// A copy of what was written.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// A copy of what was written, which is UTF-8 if what was appended is.
    package var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }

    package mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    package mutating func append(_ text: StaticString) { text.withUTF8Buffer { append($0) } }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    package mutating func append(_ more: [UInt8]) { more.withUnsafeBufferPointer { append($0) } }

    package mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        guard let source = more.baseAddress else { return }
        reserve(more.count)
        (start + count).update(from: source, count: more.count)
        count += more.count
    }

    /// Appends a number in decimal digits, with zeros in front up to `width`, and nothing in between.
    package mutating func appendDigits(_ number: Int64, width: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let length = max(Self.digitCount(of: number.magnitude), width)
        reserve(length)
        var rest = number.magnitude
        for place in stride(from: count + length - 1, through: count, by: -1) {
            // By a constant, which the compiler turns into a multiplication: to divide takes ten times as long.
            start[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += length
    }

    private static func digitCount(of number: UInt64) -> Int {
        var digits = 1
        var limit: UInt64 = 10
        while number >= limit, digits < 19 {
            limit *= 10
            digits += 1
        }
        return number >= limit ? digits + 1 : digits
    }

    private mutating func reserve(_ more: Int) {
        if count + more > capacity { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more)
        let fresh = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        fresh.update(from: start, count: count)
        start.deallocate()
        start = fresh
        capacity = larger
    }
}
