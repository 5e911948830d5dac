// The compiler takes `timespec` for a type of the module that it reads first of those that have it.
internal import CAres
internal import Glibc
internal import ReachLoop

/// The files that name the machine's name servers, its hosts, and the services that look names up.
///
/// As the C library does, each use compares their status, and reads them again only after a change: a network that
/// comes up names its servers a moment before it is used.
struct ResolverFiles: Sendable {
    var resolv: String
    var hosts: String
    var services: String

    /// What tells one content of the files from the next; `nil` where they were changed so shortly before they were
    /// read that a further change may not show in their times.
    struct Stamps: Hashable, Sendable {
        fileprivate var files: [Stamp?]
    }

    fileprivate struct Stamp: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var changedNanoseconds: Int64
    }

    /// File systems keep times in steps of the kernel's tick, at most 10 ms.
    private static let timeStepNanoseconds: Int64 = 100_000_000

    /// The settings and their stamps; `nil` where the files are as they were. Blocks.
    func read(unlike known: Stamps?) -> (value: ResolverConfiguration, stamps: Stamps?)? {
        let stamps = Stamps(files: [resolv, hosts, services].map(Self.stamp))
        if let known, stamps == known { return nil }
        let value = ResolverConfiguration(
            resolv: SmallFile.text(resolv) ?? "", hosts: SmallFile.text(hosts) ?? "",
            services: SmallFile.text(services) ?? "", hostName: MachineName.current)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let settled = Self.nanoseconds(now) - Self.timeStepNanoseconds
        return (value, stamps.files.allSatisfy { ($0?.changedNanoseconds ?? 0) < settled } ? stamps : nil)
    }

    private static func stamp(_ path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        // The time of the last change of content or status cannot be set back by who writes the file.
        return Stamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            changedNanoseconds: nanoseconds(status.st_ctim))
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ Int64(time.tv_nsec)
    }
}
