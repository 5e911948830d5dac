internal import Glibc
internal import ReachCore
package import ReachLoop

/// Reads the lines of a file of the journal, in their order.
package struct JournalLines: ~Copyable {
    private let file: FileDescriptor
    private let end: Int64
    /// The offset of the next line.
    package private(set) var offset: Int64
    private var buffer: [UInt8] = []
    /// The offset in the buffer of the next line.
    private var place = 0

    private static let piece = 64 << 10
    private static let longestLine = JournalLine.longestEvent + 1024

    /// - Parameter number: Only events with larger numbers are read.
    package init(_ path: String, _ segment: JournalSegment, after number: Int64) throws(SystemError) {
        file = try JournalSegment.open(path)
        end = segment.size
        offset = segment.start
        if number >= segment.first { offset = search(after: number, from: segment.start) }
    }

    /// The next line without its newline; `nil` at the end, and where a line does not end.
    package mutating func next() throws(SystemError) -> ArraySlice<UInt8>? {
        while true {
            if let newline = buffer[place...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[place..<newline]
                offset += Int64(line.count) + 1
                place = newline + 1
                return line
            }
            buffer.removeFirst(place)
            place = 0
            guard buffer.count < Self.longestLine else { return nil }
            let more = try read(at: offset + Int64(buffer.count), Self.piece)
            guard !more.isEmpty else { return nil }
            buffer += more
        }
    }

    private func read(at offset: Int64, _ count: Int) throws(SystemError) -> [UInt8] {
        let wanted = Int(min(Int64(count), end - offset))
        guard wanted > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: wanted)
        while true {
            let got = pread(file.rawValue, &bytes, wanted, off_t(offset))
            if got >= 0 { return Array(bytes.prefix(got)) }
            if errno != EINTR { throw SystemError(call: "pread") }
        }
    }

    /// Finds by bisection the offset of a line from which all lines that are wanted follow, with few before them.
    private func search(after number: Int64, from start: Int64) -> Int64 {
        var (low, high) = (start, end)
        while high - low > Int64(Self.piece) {
            let middle = low + (high - low) / 2
            guard let (line, found) = numberedLine(behind: middle, before: high) else {
                high = middle
                continue
            }
            if found <= number { low = line } else { high = middle }
        }
        return low
    }

    /// The first line behind an offset that shows a number.
    private func numberedLine(behind offset: Int64, before end: Int64) -> (offset: Int64, number: Int64)? {
        guard let bytes = try? read(at: offset, Self.longestLine) else { return nil }
        var place = bytes.startIndex
        while let newline = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            place = newline + 1
            let line = offset + Int64(place)
            guard line < end else { return nil }
            if let head = JournalLine.head(of: bytes[place...]) { return (line, head.number) }
        }
        return nil
    }
}
