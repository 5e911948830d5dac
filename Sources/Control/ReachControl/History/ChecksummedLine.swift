internal import ReachCore

/// A JSON object on a line of its own that ends with a checksum of the object, by which a reader detects torn or damaged
/// lines.
enum ChecksummedLine {
    /// `,"crc":"01234567"}`
    private static let tailCount = 18
    private static let tailStart = Array(",\"crc\":\"".utf8)
    /// The end of a line, with zeros in place of the sum.
    private static let emptyTail = Array(",\"crc\":\"00000000\"}\n".utf8)
    private static let hex = Array("0123456789abcdef".utf8)

    /// - Parameter document: A JSON object with at least one member.
    /// - Returns: The line, including its newline.
    static func encode(_ document: [UInt8]) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(document.count + tailCount + 1)
        encode(document, to: &line)
        return line
    }

    /// Appends the line of a JSON object with at least one member.
    static func encode(_ document: [UInt8], to lines: inout [UInt8]) {
        lines += document
        close(&lines, CyclicRedundancy.checksum(document))
    }

    /// Makes the JSON object at the end a line.
    ///
    /// - Parameter sum: The checksum of the object, which has at least one member.
    static func close(_ lines: inout [UInt8], _ sum: UInt32) {
        lines.removeLast()
        lines += emptyTail
        let first = lines.count - emptyTail.count + tailStart.count
        lines.withUnsafeMutableBufferPointer { lines in
            for digit in 0..<8 { lines[first + digit] = hex[Int(sum >> UInt32(28 - digit * 4)) & 15] }
        }
    }

    /// - Parameter line: The line without its newline.
    /// - Returns: The object without its checksum; `nil` if the line is torn or damaged.
    static func decode(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        guard line.count > tailCount, line.suffix(2).elementsEqual("\"}".utf8) else { return nil }
        let tail = line.suffix(tailCount)
        let sum = UInt32(String(decoding: tail.dropFirst(tailStart.count).prefix(8), as: UTF8.self), radix: 16)
        let document = Array(line.dropLast(tailCount)) + [UInt8(ascii: "}")]
        guard tail.starts(with: tailStart), sum == CyclicRedundancy.checksum(document) else { return nil }
        return document
    }
}
