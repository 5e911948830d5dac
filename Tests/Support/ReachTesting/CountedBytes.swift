/// Counts the looks at bytes: a test of linear reading that depends on no clock.
package final class LookCounter {
    package var count = 0

    package init() {}
}

/// Bytes that count each look at one of them.
package struct CountedBytes: RandomAccessCollection {
    private let bytes: [UInt8]
    private let counter: LookCounter

    package init(_ bytes: [UInt8], _ counter: LookCounter) {
        self.bytes = bytes
        self.counter = counter
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { bytes.count }

    package subscript(index: Int) -> UInt8 {
        counter.count += 1
        return bytes[index]
    }
}
