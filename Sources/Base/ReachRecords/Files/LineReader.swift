internal import Glibc
package import ReachCore
package import ReachLoop

/// Reads the lines of a file in their order. Memory is bounded: of what is longer than any line only the last bytes are
/// read as a line, which no checksum fits.
package struct LineReader: ~Copyable {
    private let file: FileDescriptor
    private let longestLine: Int
    /// Where reading ends: at the file's length when it was opened, or before that.
    package let end: Int64
    /// When the file was last written or touched.
    package let modified: Timestamp
    /// The offset of the bytes to read next.
    private var position: Int64
    private var buffer: [UInt8] = []
    /// The offset in the buffer of the next line.
    private var place = 0

    package static let piece = 64 << 10

    /// - Parameters:
    ///   - start: The offset to begin at.
    ///   - end: The offset to end at, unless the file ends before; `nil` for the whole file.
    package init(
        _ path: String, from start: Int64 = 0, to end: Int64? = nil, longestLine: Int
    ) throws(SystemError) {
        let (file, status) = try LineFile.open(path, O_RDONLY)
        self.file = FileDescriptor(owning: file)
        self.longestLine = longestLine
        self.end = min(end ?? .max, Int64(status.st_size))
        modified = Timestamp(secondsSince1970: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        position = start
    }

    /// The offset of the next line.
    package var offset: Int64 { position - Int64(buffer.count - place) }

    /// What follows the last newline, after all lines.
    package var rest: ArraySlice<UInt8> { buffer[place...] }

    /// The next line without its newline; `nil` at the end, and where a line does not end.
    package mutating func next() throws(SystemError) -> ArraySlice<UInt8>? {
        var searched = 0
        while true {
            if let newline = buffer[(place + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { place = newline + 1 }
                return buffer[place..<newline]
            }
            buffer.removeFirst(place)
            place = 0
            if buffer.count > longestLine { buffer.removeFirst(buffer.count - 1) }
            let more = try bytes(at: position, Self.piece)
            guard !more.isEmpty else { return nil }
            searched = buffer.count
            buffer += more
            position += Int64(more.count)
        }
    }

    /// Calls `body` with each line that is not empty, including a last one without a newline.
    package mutating func readAll(_ body: (ArraySlice<UInt8>) -> Void) throws(SystemError) {
        while let line = try next() { if !line.isEmpty { body(line) } }
        if !rest.isEmpty { body(rest) }
    }

    /// Continues with the line at an offset.
    package mutating func move(to offset: Int64) {
        (buffer, place, position) = ([], 0, offset)
    }

    package func bytes(at offset: Int64, _ count: Int) throws(SystemError) -> [UInt8] {
        let wanted = Int(min(Int64(count), end - offset))
        guard wanted > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: wanted)
        while true {
            let got = pread(file.rawValue, &bytes, wanted, off_t(offset))
            if got >= 0 { return got == wanted ? bytes : Array(bytes.prefix(got)) }
            if errno != EINTR { throw SystemError(call: "pread") }
        }
    }
}
