/// A growing buffer of bytes, for text that is written for each change.
///
/// It does what an array does with a third of the instructions. An array checks at every append whether it is uniquely
/// referenced, and one line of events is about a hundred appends. This buffer owns its memory and every append reserves
/// the space it needs.
package struct ByteWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int) {
        self.capacity = max(capacity, 64)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// A copy of the bytes.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// A copy of the bytes as text; invalid UTF-8 becomes U+FFFD.
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

    /// Appends a byte, text and two more bytes with one reservation: a quoted JSON key and its colon.
    package mutating func append(_ before: UInt8, _ text: StaticString, _ after: UInt8, _ next: UInt8) {
        let length = text.utf8CodeUnitCount
        reserve(length + 3)
        let place = start + count
        place[0] = before
        (place + 1).update(from: text.utf8Start, count: length)
        place[length + 1] = after
        place[length + 2] = next
        count += length + 3
    }

    package mutating func append(_ more: [UInt8]) { more.withUnsafeBufferPointer { append($0) } }

    package mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        guard let source = more.baseAddress else { return }
        reserve(more.count)
        (start + count).update(from: source, count: more.count)
        count += more.count
    }

    /// Appends as many bytes as `write` sets, all of them, with one reservation.
    package mutating func append(count more: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) {
        reserve(more)
        write(start + count)
        count += more
    }

    /// Appends bytes as base64.
    package mutating func append(base64 bytes: [UInt8]) {
        reserve(Base64.length(of: bytes.count))
        let space = UnsafeMutableBufferPointer(start: start + count, count: capacity - count)
        count += bytes.withUnsafeBufferPointer { Base64.encode($0, into: space) }
    }

    /// Appends a number in decimal.
    package mutating func appendDigits(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        // Writes the digits backwards from the end of a reserved area, then moves them to where they belong.
        let longest = 20
        reserve(2 * longest)
        let end = start + count + 2 * longest
        var first = end
        var rest = number.magnitude
        repeat {
            // The compiler turns division by a constant into a multiplication, ten times as fast as a division.
            first -= 1
            first.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        let length = end - first
        (start + count).update(from: first, count: length)
        count += length
    }

    private mutating func reserve(_ more: Int) {
        if count + more > capacity { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more)
        let replacement = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        replacement.update(from: start, count: count)
        start.deallocate()
        start = replacement
        capacity = larger
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Writes a number that is not negative with exactly `width` digits, the last ones of a longer number.
    @inline(__always)
    func place(_ number: Int64, width: Int) {
        var rest = UInt64(bitPattern: number)
        for index in stride(from: width - 1, through: 0, by: -1) {
            self[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
