internal import CReachLinux
internal import Glibc

/// The identity of this boot of the machine. `BootTime` values of different boots cannot be compared.
package enum BootIdentity {
    /// The kernel's boot identifier (random(4)); empty without /proc.
    package static let current = SmallFile.words("/proc/sys/kernel/random/boot_id").first.map(String.init) ?? ""
}

/// The machine's identity, which spreads the probes of different machines over time.
package enum MachineIdentity {
    /// machine-id(5), or the host name without one, as in many containers.
    package static let current =
        SmallFile.words("/etc/machine-id").first.map(String.init) ?? MachineName.current
}

/// The network namespace of the calling thread.
package enum NetworkNamespace {
    /// The inode number that identifies it on this machine (namespaces(7)); `nil` without /proc.
    package static var inode: UInt64? {
        var information = stat()
        guard stat("/proc/thread-self/ns/net", &information) == 0 else { return nil }
        return UInt64(information.st_ino)
    }
}

/// The program of this process.
package enum ThisProgram {
    /// The directory that it is in; `.` without /proc.
    package static var directory: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.unicodeScalars.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}

/// The name that the machine goes by.
package enum MachineName {
    /// Empty if there is none.
    package static var current: String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The part of the heap that nothing uses.
package enum FreeMemory {
    /// Gives it back to the kernel (malloc_trim(3)), after work that used much and is not repeated soon.
    package static func release() { reach_release_free_memory() }
}
