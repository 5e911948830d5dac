internal import CReachLinux
internal import Glibc

/// How many descriptors a process may have open (RLIMIT_NOFILE).
///
/// The soft limit is 1024 for the sake of programs that use select(2), which overruns its set beyond that, and the hard
/// limit is there for those that do not: they raise the one to the other themselves, and put it back for the programs
/// they start (systemd's NEWS of version 240).
package enum DescriptorLimit {
    /// The soft limit that this process was started with.
    private static let inherited = current.rlim_cur

    /// Raises the soft limit to the hard one. To be called at the start, before anything depends on the limit.
    ///
    /// - Returns: The limit now.
    @discardableResult
    package static func raise() -> UInt {
        var limits = current
        // Kept before it is changed.
        limits.rlim_cur = max(inherited, limits.rlim_max)
        setrlimit(resource, &limits)
        return current.rlim_cur
    }

    /// Gives a child the soft limit that this process was started with.
    package static func restore(in child: Int32) { reach_limit_descriptors(child, inherited) }

    private static var current: rlimit {
        var limits = rlimit()
        getrlimit(resource, &limits)
        return limits
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
