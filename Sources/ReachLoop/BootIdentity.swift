internal import Glibc

/// The identity of this boot of the machine. ``BootTime`` values of different boots cannot be compared.
package enum BootIdentity {
    /// The kernel's boot identifier (random(4)); empty without /proc.
    package static let current: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = max(0, read(file, &bytes, bytes.count))
        return String(decoding: bytes.prefix(count).prefix { $0 > 0x20 }, as: UTF8.self)
    }()
}
