internal import ReachCore

/// A JSON object on a line of its own that ends with a checksum of the object, by which a reader detects torn or
/// damaged lines.
enum ChecksummedLine {
    /// `,"crc":"01234567"}`
    private static let tailCount = 18
    private static let tailStart = Array(",\"crc\":\"".utf8)
    private static let hex = Array("0123456789abcdef".utf8)

    /// - Parameter document: A JSON object with at least one member.
    /// - Returns: The line, including its newline.
    static func encode(_ document: [UInt8]) -> [UInt8] {
        let sum = CyclicRedundancy.checksum(document)
        var line = document
        line.reserveCapacity(document.count + tailCount + 1)
        line.removeLast()
        line += tailStart
        for digit in 0..<8 { line.append(hex[Int(sum >> UInt32(28 - digit * 4)) & 15]) }
        line += "\"}\n".utf8
        return line
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
