internal import Glibc
internal import ReachCore

/// An open file of a body, closed when the value goes away.
struct BodyFile: ~Copyable {
    private let descriptor: CInt
    private let path: String

    /// Opens a file for reading. Does not block on a pipe that has replaced the file.
    init(opening path: String) throws(BodyFileError) {
        try self.init(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }

    /// Creates or truncates a file for writing.
    init(creating path: String) throws(BodyFileError) {
        try self.init(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)
    }

    private init(_ path: String, _ flags: CInt) throws(BodyFileError) {
        let opened = open(path, flags, 0o600)
        guard opened >= 0 else { throw BodyFileError(.system(call: "open", number: errno), path: path) }
        descriptor = opened
        self.path = path
    }

    deinit { close(descriptor) }

    /// Reads the next bytes.
    ///
    /// - Returns: Bytes read; 0 at end of file.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyFileError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw BodyFileError(.system(call: "read", number: errno), path: path) }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(BodyFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw BodyFileError(.system(call: "write", number: errno), path: path)
            }
        }
    }

    /// The length of a readable regular file.
    static func length(of path: String) throws(BodyFileError) -> Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw BodyFileError(.system(call: "stat", number: errno), path: path) }
        // A pipe or a device has no length in advance.
        guard status.st_mode & S_IFMT == S_IFREG else { throw BodyFileError(.notAFile, path: path) }
        guard access(path, R_OK) == 0 else { throw BodyFileError(.system(call: "access", number: errno), path: path) }
        return Int64(status.st_size)
    }
}

/// A body's file cannot be sent: build the request again, with a file that can.
public struct BodyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Fault: Hashable, Sendable {
        /// Not a regular file: a directory, a pipe, a device.
        case notAFile
        /// The file ended before the length that was sent to the server.
        case shrank(length: Int64, found: Int64)
        /// A system call failed, with this `errno`.
        case system(call: String, number: CInt)
    }

    /// The fault.
    public let fault: Fault
    /// The path of the file; empty for a stream.
    public let path: String

    init(_ fault: Fault, path: String) {
        self.fault = fault
        self.path = path
    }

    /// A sentence, safe to display.
    public var description: String {
        let name = path.isEmpty ? "the stream" : DisplayText.sanitized(path)
        switch fault {
        case .notAFile: return "\(name): not a regular file"
        case .shrank(let length, let found): return "\(name): ended after \(found) of \(length) bytes"
        case .system(let call, let number): return "\(name): \(call): \(ErrorNumber.text(number))"
        }
    }
}
