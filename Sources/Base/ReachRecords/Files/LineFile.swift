internal import Glibc
package import ReachCore
package import ReachLoop

/// A file to which whole lines are appended: one of the history's or of the journal's.
package final class LineFile {
    private var path: String
    private let file: FileDescriptor
    package private(set) var size: Int64
    package let inode: UInt64
    package let modified: Timestamp

    /// - Parameters:
    ///   - flags: For the open(2) of a file that should not be created, or must be new; `nil` if it is created where
    ///     there is none.
    ///   - mode: The mode of a file that is created.
    package init(_ path: String, _ flags: CInt? = nil, mode: UInt32 = 0o644) throws(SystemError) {
        self.path = path
        let (file, status) = try Self.open(path, O_RDWR | O_APPEND | (flags ?? O_CREAT), mode: mode)
        self.file = FileDescriptor(owning: file)
        size = Int64(status.st_size)
        inode = UInt64(status.st_ino)
        modified = Timestamp(secondsSince1970: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Opens only a regular file: a pipe would block the reader, and a link can point anywhere.
    static func open(_ path: String, _ flags: CInt, mode: mode_t = 0) throws(SystemError) -> (CInt, stat) {
        let descriptor = try SystemError.check("open \(path)") {
            Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SystemError(call: "open \(path), which is no regular file", number: EINVAL)
        }
        return (descriptor, status)
    }

    /// Appends complete lines: all of them, or none.
    package func append(_ lines: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try FileDescriptor.write(lines, to: file.rawValue)
        } catch {
            // A partial line would make the next line unreadable, too.
            ftruncate(file.rawValue, off_t(size))
            throw SystemError(call: "write \(path)", number: error.number)
        }
        size += Int64(lines.count)
    }

    package func cut(to size: Int64) throws(SystemError) {
        guard ftruncate(file.rawValue, off_t(size)) == 0 else { throw SystemError(call: "ftruncate \(path)") }
        self.size = size
    }

    /// Gives the file another name, in place of the file that has it.
    package func rename(to path: String) throws(SystemError) {
        guard Glibc.rename(self.path, path) == 0 else { throw SystemError(call: "rename \(path)") }
        self.path = path
    }

    /// Sets the time of the last change to now.
    package func touch() { futimens(file.rawValue, nil) }

    /// Sets the time of the last change.
    package func setModified(_ time: Timestamp) {
        let (seconds, nanoseconds) = time.nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(max(0, nanoseconds)))
        futimens(file.rawValue, [time, time])
    }

    package func sync() throws(SystemError) {
        guard fdatasync(file.rawValue) == 0 else { throw SystemError(call: "fdatasync \(path)") }
    }
}

/// A JSON object on a line of its own that ends with a checksum of the object, by which a reader detects torn or
/// damaged lines.
package enum ChecksummedLine {
    /// `,"crc":"01234567"}`
    private static let tailCount = 18
    private static let tailStart = Array(",\"crc\":\"".utf8)
    private static let hex = Array("0123456789abcdef".utf8)

    /// - Parameter document: A JSON object with at least one member.
    /// - Returns: The line, including its newline.
    package static func encode(_ document: [UInt8]) -> [UInt8] {
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
    package static func decode(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        guard line.count > tailCount, line.suffix(2).elementsEqual("\"}".utf8) else { return nil }
        let tail = line.suffix(tailCount)
        let sum = UInt32(String(decoding: tail.dropFirst(tailStart.count).prefix(8), as: UTF8.self), radix: 16)
        let document = Array(line.dropLast(tailCount)) + [UInt8(ascii: "}")]
        guard tail.starts(with: tailStart), sum == CyclicRedundancy.checksum(document) else { return nil }
        return document
    }
}
