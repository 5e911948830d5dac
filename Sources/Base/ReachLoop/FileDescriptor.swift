internal import CReachLinux
internal import Glibc

/// An open file descriptor, closed when the value goes away.
package struct FileDescriptor: ~Copyable, Sendable {
    package let rawValue: CInt

    package init(owning rawValue: CInt) { self.rawValue = rawValue }

    deinit { close(rawValue) }

    /// Writes all bytes to a descriptor that blocks.
    package static func write(_ bytes: [UInt8], to descriptor: CInt) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SystemError(call: "write")
            }
        }
    }
}

/// The limit of open descriptors (RLIMIT_NOFILE).
///
/// The soft limit is 1024 for programs that use select(2), whose sets end there. A program that does not use select
/// raises its soft limit to the hard one, and restores it for the programs that it starts (systemd's NEWS, version
/// 240).
package enum DescriptorLimit {
    /// The soft limit at the start of this process.
    private static let inherited = current.rlim_cur

    /// Raises the soft limit to the hard one. Call this at the start, before anything depends on the limit.
    ///
    /// - Returns: The limit in force afterwards.
    @discardableResult
    package static func raise() -> UInt {
        var limits = current
        // Reads the inherited limit before changing it.
        limits.rlim_cur = max(inherited, limits.rlim_max)
        setrlimit(resource, &limits)
        return current.rlim_cur
    }

    /// Restores the inherited soft limit in a child.
    package static func restore(in child: Int32) { reach_limit_descriptors(child, inherited) }

    private static var current: rlimit {
        var limits = rlimit()
        getrlimit(resource, &limits)
        return limits
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}

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
