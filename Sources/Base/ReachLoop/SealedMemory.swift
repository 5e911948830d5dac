internal import CReachLinux
internal import Glibc

/// Bytes in a file of memory that nothing can change any more (memfd_create(2), file seals of fcntl(2)).
///
/// Another process may hand them over: reading them never waits for a disk or a file system of that process, and they
/// stay as they were when they were checked.
package final class SealedMemory: Sendable {
    private let file: FileDescriptor
    package let count: Int64

    package var descriptor: CInt { file.rawValue }

    /// - Parameter file: A descriptor of any kind, which this closes.
    /// - Throws: If it is no file of memory, or not sealed.
    package init(_ file: consuming FileDescriptor) throws(SystemError) {
        count = reach_sealed_length(file.rawValue)
        self.file = file
        guard count >= 0 else { throw SystemError(call: "fcntl(F_GET_SEALS)", number: CInt(-count)) }
    }

    /// Copies a part of a regular file.
    ///
    /// - Parameters:
    ///   - offset: Where the part begins, in bytes.
    ///   - most: Bytes at most; there are fewer at the end of the file.
    package convenience init(of file: CInt, from offset: Int64, atMost most: Int) throws(SystemError) {
        let memory = reach_seal_part(file, offset, Int64(most))
        guard memory >= 0 else { throw SystemError(call: "memfd_create", number: -memory) }
        try self.init(FileDescriptor(owning: memory))
    }

    /// Appends them to a file that is open for writing. Holes stay holes.
    package func append(to file: CInt) throws(SystemError) {
        let result = reach_append_sealed(descriptor, count, file)
        guard result == 0 else { throw SystemError(call: "sendfile", number: -result) }
    }
}
