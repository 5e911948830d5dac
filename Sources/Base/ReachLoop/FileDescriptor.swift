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
