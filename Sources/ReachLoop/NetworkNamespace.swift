internal import Glibc

/// The network namespace of the calling thread.
package enum NetworkNamespace {
    /// The inode number that identifies it on this machine (namespaces(7)); `nil` without /proc.
    package static var inode: UInt64? {
        var information = stat()
        guard stat("/proc/thread-self/ns/net", &information) == 0 else { return nil }
        return UInt64(information.st_ino)
    }
}
