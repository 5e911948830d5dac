internal import Glibc

/// Which start of the machine this is: boot times of one start cannot be compared with those of another.
package enum BootIdentity {
    /// The kernel's identifier; empty where /proc is not to be had.
    package static let current: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = max(0, read(file, &bytes, bytes.count))
        return String(decoding: bytes.prefix(count).prefix { $0 > 0x20 }, as: UTF8.self)
    }()
}
