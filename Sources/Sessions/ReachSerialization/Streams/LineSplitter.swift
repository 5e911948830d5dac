/// Splits bytes that arrive in pieces into lines. A line ends with LF, CR or CR LF, whichever pieces these are in.
public struct LineSplitter: Sendable {
    /// The ends of lines.
    public enum Ends: Hashable, Sendable {
        /// LF, and CR LF; a CR by itself is a part of the line.
        case lineFeed
        /// LF, CR, and CR LF, as in an event stream.
        case any
    }

    private let ends: Ends
    private let limit: Int
    private var line: [UInt8] = []
    /// Whether the last byte was a CR that ended a line: an LF after it belongs to it.
    private var skipsLineFeed = false

    /// - Parameters:
    ///   - ends: What ends a line.
    ///   - limit: The longest line, in bytes.
    public init(ends: Ends = .lineFeed, limit: Int = 1 << 20) {
        self.ends = ends
        self.limit = limit
    }

    /// Adds the next bytes.
    ///
    /// - Returns: The lines that are complete, without their ends.
    /// - Throws: An error if a line exceeds the limit.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws(LineTooLong) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"):
                if skipsLineFeed { skipsLineFeed = false } else { lines.append(endLine()) }
            case UInt8(ascii: "\r") where ends == .any:
                lines.append(endLine())
                skipsLineFeed = true
            default:
                skipsLineFeed = false
                guard line.count < limit else { throw LineTooLong(limit: limit) }
                line.append(byte)
            }
        }
        return lines
    }

    /// The last line, where the bytes do not end with the end of one; `nil` if it is empty.
    public mutating func finish() -> [UInt8]? { line.isEmpty ? nil : endLine() }

    private mutating func endLine() -> [UInt8] {
        defer { line = [] }
        if ends == .lineFeed, line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }
}

/// A line is longer than a reader holds.
public struct LineTooLong: Error, Hashable, Sendable, CustomStringConvertible {
    /// The longest line, in bytes.
    public let limit: Int

    /// Creates the error.
    public init(limit: Int) { self.limit = limit }

    /// A sentence.
    public var description: String { "a line has more than \(limit) bytes" }
}
